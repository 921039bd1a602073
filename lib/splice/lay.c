// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Laying functions out: blocks in another order. Only the order of their windows travels; what it
 * takes to let control go on as before is made by the driver (kmod/patch/lay.c, join.c).
 */
#include <errno.h>
#include <stdlib.h>

#include "splice/move.h"
#include "splice/plan.h"
#include "splice/springboard_choice.h"

/* The rank of each block in the order; false: it is none. */
static bool rank_blocks(const struct ki_function *fn, const uint32_t *blocks, uint32_t *rank)
{
	for (uint32_t i = 0; i < fn->nblocks; i++)
		rank[i] = KI_NONE;
	for (uint32_t i = 0; i < fn->nblocks; i++) {
		if (blocks[i] >= fn->nblocks || rank[blocks[i]] != KI_NONE)
			return false;
		rank[blocks[i]] = i;
	}
	return true;
}

/* Windows of one block stay as they are: where each stands. first: of each rank, + 1 after. */
static void place_windows(const struct ki_function *fn, const struct ki_spans *spans,
			  const uint32_t *rank, uint32_t *first, uint16_t *places)
{
	uint16_t at = 0;

	for (size_t i = 0; i < spans->n; i++) {
		const struct ki_block *b = ki_function_block_at(fn, spans->v[i].addr);

		first[rank[b - fn->blocks]]++;
	}
	for (uint32_t r = 0; r < fn->nblocks; r++) {
		uint32_t n = first[r];

		first[r] = at;
		at = (uint16_t)(at + n);
	}
	for (size_t i = 0; i < spans->n; i++) {
		const struct ki_block *b = ki_function_block_at(fn, spans->v[i].addr);

		places[i] = (uint16_t)first[rank[b - fn->blocks]]++;
	}
}

/* Where a function's windows stand: among those of its own first, then among all. */
struct places {
	struct ki_spans spans; /* of them: all, or that of a call */
	struct ki_span call;
	uint16_t *v;
	bool *asides; /* of each */
	size_t nhot;  /* windows of hot blocks, which stand first */
	uint32_t turn;
	bool aside; /* they do */
};

static int find_call(const struct ki_layout *l, struct places *out, struct ki_err *err)
{
	const struct ki_span *s = ki_span_of_call(l->fn, l->spans, l->call);

	if (!s)
		return ki_err_set(
			err, -EINVAL, l->call,
			"layout: %s+0x%llx is no call that can lead elsewhere where it is",
			ki_plan_name_of(l->fn), (unsigned long long)(l->call - l->fn->start));
	out->call = *s;
	out->spans = (struct ki_spans){&out->call, 1};
	return 0;
}

static int order_windows(const struct ki_layout *l, struct places *out, struct ki_err *err)
{
	const struct ki_function *fn = l->fn;
	uint32_t *rank;
	int ret = 0;

	if (l->call)
		return find_call(l, out, err);
	rank = calloc(2 * (size_t)fn->nblocks + 1, sizeof(*rank));
	if (!rank)
		return ki_err_set(err, -ENOMEM, fn->start, "layout: out of memory");
	if (rank_blocks(fn, l->blocks, rank) && l->nhot <= fn->nblocks)
		place_windows(fn, l->spans, rank, rank + fn->nblocks, out->v);
	else
		ret = ki_err_set(err, -EINVAL, fn->start,
				 "layout: not each block once: give all %u in some order",
				 fn->nblocks);
	for (size_t i = 0; !ret && i < l->spans->n; i++)
		out->nhot +=
			rank[ki_function_block_at(fn, l->spans->v[i].addr) - fn->blocks] < l->nhot;
	free(rank);
	return ret;
}

static int by_turn(const void *a, const void *b)
{
	const struct places *x = *(struct places *const *)a, *y = *(struct places *const *)b;

	if (x->turn != y->turn)
		return x->turn < y->turn ? -1 : 1;
	return (x > y) - (x < y);
}

/* ---- windows that stand aside ---- */

#define PAGE 4096

/* A window of function f. */
struct standing {
	struct places *f;
	size_t i;
};

/* Its copy, more or less: the driver sees to where in a page it begins. */
static size_t size_of(const struct standing *s)
{
	const struct ki_span *w = &s->f->spans.v[s->i];

	return w->len + (w->written ? KI_JMP_LEN : 1u);
}

/* Take up to `room` bytes of those that stand aside, or of the others, from *from on. */
static void take(const struct standing *all, size_t n, bool aside, size_t room, size_t *from,
		 uint16_t *next)
{
	for (size_t taken = 0; *from < n && taken < room; ++*from) {
		const struct standing *s = &all[*from];

		if (s->f->asides[s->i] != aside)
			continue;
		s->f->v[s->i] = (*next)++;
		taken += size_of(s);
	}
}

/* All windows have places; those that stand aside come page by page between the others. */
static int part_asides(struct places *places, size_t n)
{
	size_t total = 0, other = 0, aside = 0;
	struct standing *all;
	uint16_t next = 0;

	for (size_t k = 0; k < n; k++)
		total += places[k].spans.n;
	all = calloc(total + 1, sizeof(*all));
	if (!all)
		return -ENOMEM;
	for (size_t k = 0; k < n; k++)
		for (size_t i = 0; i < places[k].spans.n; i++)
			all[places[k].v[i]] = (struct standing){&places[k], i};
	while (other < total || aside < total) {
		take(all, total, false, PAGE - KI_ASIDE, &other, &next);
		take(all, total, true, KI_ASIDE, &aside, &next);
	}
	free(all);
	return 0;
}

/* Hot windows of all functions, then the others. */
static int order_functions(struct places *places, size_t n)
{
	struct places **turns = malloc((n + 1) * sizeof(struct places *));
	size_t hot = 0, cold = 0;
	bool any_aside = false;

	if (!turns)
		return -ENOMEM;
	for (size_t k = 0; k < n; k++) {
		turns[k] = &places[k];
		cold += places[k].nhot;
	}
	qsort(turns, n, sizeof(struct places *), by_turn);
	for (size_t k = 0; k < n; k++) {
		struct places *p = turns[k];

		for (size_t i = 0; i < p->spans.n; i++) {
			p->asides[i] = p->aside && p->v[i] < p->nhot;
			p->v[i] = (uint16_t)(p->v[i] + (p->v[i] < p->nhot ? hot : cold - p->nhot));
		}
		any_aside |= p->aside;
		hot += p->nhot;
		cold += p->spans.n - p->nhot;
	}
	free(turns);
	return any_aside ? part_asides(places, n) : 0;
}

/* The chunk that keeps a function in the group: in its first window. */
static int keep(struct ki_plan *p, struct ki_layout *l, const struct places *at, struct ki_err *err)
{
	const struct ki_place place = {.addr = at->spans.v[0].addr, .where = KI_BEFORE};
	struct ki_chunk *c;
	int ret = ki_plan_prepare(p, &(struct ki_insertion){l->fn, l->spans, &place, 0}, &c, err);

	if (ret)
		return ret;
	c->kind = KI_CHUNK_KEEP;
	l->id = ki_plan_count(p);
	return 0;
}

static int may_be_laid_out(const struct ki_layout *v, size_t n, struct ki_err *err)
{
	size_t windows = 0;

	for (size_t k = 0; k < n; k++) {
		const struct ki_function *fn = v[k].fn;

		if (fn->reason)
			return ki_err_reason(err, fn->reason, fn->start, "%s", ki_plan_name_of(fn));
		windows += v[k].spans->n;
		if (!v[k].spans->n || windows > UINT16_MAX)
			return ki_err_reason(err, KI_R_TOO_MANY, fn->start,
					     "%s: windows to be laid out", ki_plan_name_of(fn));
	}
	return 0;
}

static int group(struct ki_plan *p, const struct ki_layout *v, const struct places *places,
		 size_t n, struct ki_err *err)
{
	struct plan_member *members = calloc(n + 1, sizeof(*members));
	int ret;

	if (!members)
		return ki_err_set(err, -ENOMEM, 0, "layout: out of memory");
	for (size_t k = 0; k < n; k++)
		members[k] = (struct plan_member){.fn = v[k].fn,
						  .spans = &places[k].spans,
						  .places = places[k].v,
						  .asides = places[k].asides,
						  .calls = v[k].call};
	ret = ki_plan_group(p, members, n, err);
	free(members);
	return ret;
}

static int lay_out(struct ki_plan *p, struct ki_layout *v, struct places *places, size_t n,
		   struct ki_err *err)
{
	int ret = 0;

	for (size_t k = 0; k < n && !ret; k++) {
		places[k].spans = *v[k].spans;
		places[k].turn = v[k].turn;
		places[k].aside = v[k].aside;
		places[k].v = calloc(v[k].spans->n, sizeof(*places[k].v));
		places[k].asides = calloc(v[k].spans->n, sizeof(*places[k].asides));
		ret = places[k].v && places[k].asides
			      ? order_windows(&v[k], &places[k], err)
			      : ki_err_set(err, -ENOMEM, 0, "layout: out of memory");
	}
	if (!ret && order_functions(places, n))
		ret = ki_err_set(err, -ENOMEM, 0, "layout: out of memory");
	if (ret)
		return ret;
	ret = group(p, v, places, n, err);
	for (size_t k = 0; k < n && !ret; k++)
		if (!v[k].call || n == 1)
			ret = keep(p, &v[k], &places[k], err);
	return ret;
}

int ki_plan_lay_out(struct ki_plan *p, struct ki_layout *v, size_t n, struct ki_err *err)
{
	struct places *places = calloc(n + 1, sizeof(*places));
	int ret = may_be_laid_out(v, n, err);

	if (!ret)
		ret = places ? lay_out(p, v, places, n, err)
			     : ki_err_set(err, -ENOMEM, 0, "layout: out of memory");
	for (size_t k = 0; places && k < n; k++) {
		free(places[k].v);
		free(places[k].asides);
	}
	free(places);
	return ret;
}
