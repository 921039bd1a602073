// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Regions: between which places something goes on at a point.
 *
 *	function	from its entry to when its caller gets control back
 *	block		from its beginning to its post-hook, before its jump or return; what the
 *			functions do that it calls is part of it, what its tail jump leads to is not
 *	instruction	from before it to after it, wherever it goes on
 *	call		from before it to its return; a tail jump: until what it leads to returns
 *	calls		each of the function's that comes back
 *
 * What begins must be seen to end, on all ways: a way that is not seen leaves the thread's word as
 * it is, and all that comes later would be inside that one. So an exception that leaves it ends it
 * on its way to the fixup. And a block that ends with a call is refused if something else jumps to
 * where the call comes back (KI_R_RETURN_ENTERED): a call of the same function in between would end
 * there what the outer one has begun.
 *
 * In the middle of __schedule the current thread becomes another, and so do its words: whatever has
 * a call in it there may begin with one thread's and end with the other's.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "metric/measure.h"

static int no_memory(const struct ask *a)
{
	return ki_err_set(a->err, -ENOMEM, a->fn->start, "measurement: out of memory");
}

static int refuse(const struct ask *a, unsigned int reason)
{
	return ki_err_reason(a->err, reason, a->fn->start, "%s", ki_measure_name(a->fn));
}

/* The places of one more point. */
static int add_places(const struct ask *a, const struct ki_point *pt, struct places *out)
{
	struct places more = {0};
	struct ki_place *v;
	int ret = ki_measure_places_of(a, pt, &more);

	if (ret)
		return ret;
	v = realloc(out->v, (out->n + more.n + 1) * sizeof(*v));
	if (v) {
		out->v = v;
		for (size_t i = 0; i < more.n; i++)
			v[out->n++] = more.v[i];
	}
	free(more.v);
	return v ? 0 : no_memory(a);
}

/* Edges of these kinds, by which control leaves instructions [first, end). */
static int add_edges(const struct ask *a, uint32_t first, uint32_t end, uint32_t kinds,
		     struct places *out)
{
	const struct ki_function *fn = a->fn;
	int ret = 0;

	for (uint32_t e = 0; !ret && e < fn->nedges; e++)
		if (fn->edges[e].insn >= first && fn->edges[e].insn < end &&
		    kinds & 1u << fn->edges[e].kind)
			ret = add_places(a, &(struct ki_point){.kind = KI_POINT_EDGE, .edge = e},
					 out);
	return ret;
}

static int end_block(const struct ask *a, struct exits *out)
{
	const struct ki_point end = {.kind = KI_POINT_BLOCK_END, .block = a->pt->block};
	const struct ki_block *b;
	int ret = add_places(a, &end, &out->at);

	if (ret)
		return ret;
	b = &a->fn->blocks[a->pt->block];
	return add_edges(a, b->first, b->first + b->count, 1u << KI_EDGE_FIXUP, &out->at);
}

static int end_insn(const struct ask *a, struct exits *out)
{
	const struct ki_point behind = {.kind = KI_POINT_AFTER, .addr = a->pt->addr};
	const struct ki_insn *in = ki_function_insn_at(a->fn, a->pt->addr);
	int ret = add_places(a, &behind, &out->at);
	uint32_t i;

	if (ret)
		return ret;
	i = (uint32_t)(in - a->fn->insns);
	return add_edges(a, i, i + 1,
			 1u << KI_EDGE_FIXUP | 1u << KI_EDGE_TAKEN | 1u << KI_EDGE_TAIL, &out->at);
}

/* Of the places after all exits, those of one jump. */
static int end_tail(const struct ask *a, uint64_t addr, struct exits *out)
{
	static const struct ki_point after = {.kind = KI_POINT_EXIT_AFTER};
	struct places *at = &out->at;
	size_t n = 0;
	int ret = ki_point_places(a->fn, a->spans, &after, &at->v, &at->n, a->err);

	for (size_t i = 0; !ret && i < at->n; i++)
		if (at->v[i].addr == addr)
			at->v[n++] = at->v[i];
	at->n = n;
	for (size_t i = 0; !ret && i < n; i++)
		if (at->v[i].reason)
			ret = refuse(a, at->v[i].reason);
	return ret;
}

static int end_edge(const struct ask *a, struct exits *out)
{
	const struct ki_edge *e = &a->fn->edges[a->pt->edge];
	const struct ki_point behind = {.kind = KI_POINT_AFTER, .addr = a->fn->insns[e->insn].addr};

	switch (e->kind) {
	case KI_EDGE_CALL:
	case KI_EDGE_CALL_INDIRECT:
		return add_places(a, &behind, &out->at);
	case KI_EDGE_TAIL:
	case KI_EDGE_TAIL_INDIRECT:
		return end_tail(a, behind.addr, out);
	default:
		return 0;
	}
}

static int end_calls(const struct ask *a, struct exits *out)
{
	return add_places(a, &(struct ki_point){.kind = KI_POINT_RETURNS}, &out->at);
}

static int (*const ends[KI_POINT_KINDS])(const struct ask *, struct exits *) = {
	[KI_POINT_ENTRY] = ki_exits_find, [KI_POINT_BLOCK] = end_block, [KI_POINT_INSN] = end_insn,
	[KI_POINT_EDGE] = end_edge,	  [KI_POINT_CALLS] = end_calls,
};

int ki_region_ends(const struct ask *a, struct exits *out)
{
	struct places begin = {0};
	int ret;

	if (!ends[a->pt->kind])
		return refuse(a, KI_R_NO_DURATION);
	ret = ki_measure_places(a, KI_POINT_KINDS, &begin); /* is there such a point? */
	free(begin.v);
	if (!ret)
		ret = ends[a->pt->kind](a, out);
	if (!ret && !out->at.n && !out->cold_at.n)
		ret = refuse(a,
			     a->pt->kind == KI_POINT_ENTRY ? KI_R_NEVER_RETURNS : KI_R_NO_DURATION);
	return ret;
}

/* A block whose only instruction, or the only one with a place, is the one that ends it. */
static bool is_moment(const struct ask *a, const struct places *begin, const struct exits *end)
{
	for (size_t i = 0; a->pt->kind == KI_POINT_BLOCK && i < end->at.n; i++)
		if (end->at.v[i].addr == begin->v[0].addr &&
		    end->at.v[i].where == begin->v[0].where)
			return true;
	return false;
}

static bool is_call(const struct ki_insn *in)
{
	return (in->kind == KI_INSN_CALL || in->kind == KI_INSN_CALL_INDIRECT) &&
	       in->reason != KI_R_FTRACE_SITE;
}

/* The instructions of the point. */
static void range_of(const struct ask *a, uint32_t *first, uint32_t *end)
{
	const struct ki_function *fn = a->fn;

	*first = 0;
	*end = fn->ninsns;
	if (a->pt->kind == KI_POINT_BLOCK)
		*first = fn->blocks[a->pt->block].first;
	else if (a->pt->kind == KI_POINT_EDGE)
		*first = fn->edges[a->pt->edge].insn;
	else if (a->pt->kind == KI_POINT_INSN)
		*first = (uint32_t)(ki_function_insn_at(fn, a->pt->addr) - fn->insns);
	if (a->pt->kind == KI_POINT_BLOCK)
		*end = *first + fn->blocks[a->pt->block].count;
	else if (a->pt->kind != KI_POINT_CALLS)
		*end = *first + 1;
}

static bool may_change_thread(const struct ask *a)
{
	uint32_t first, end;

	if (a->pt->kind == KI_POINT_ENTRY || strncmp(ki_measure_name(a->fn), "__schedule", 10) ||
	    strcspn(ki_measure_name(a->fn), ".") != 10)
		return false;
	range_of(a, &first, &end);
	for (uint32_t i = first; i < end; i++)
		if (is_call(&a->fn->insns[i]))
			return true;
	return false;
}

int ki_region_find(const struct ask *a, struct places *begin, struct exits *end)
{
	int ret = ki_region_ends(a, end);

	if (!ret)
		ret = ki_measure_places(a, KI_POINT_KINDS, begin);
	if (!ret && is_moment(a, begin, end))
		ret = refuse(a, KI_R_NO_DURATION);
	if (!ret && may_change_thread(a))
		ret = refuse(a, KI_R_THREAD_CHANGES);
	return ret;
}
