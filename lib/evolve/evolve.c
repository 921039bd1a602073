// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Layouts of functions: chosen from a profile. (install.c puts them in.)
 */
#include <errno.h>
#include <stdlib.h>

#include "kerninst/evolve.h"
#include "evolve/inside.h"

#define LINE 64 /* bytes of a cache line */

int ki_evolve_new(struct ki_target *t, const struct ki_evolve_options *o, struct ki_evolve **out,
		  struct ki_err *err)
{
	struct ki_evolve *e = calloc(1, sizeof(*e));

	if (!e || ki_plan_new(&e->apart)) {
		free(e);
		return ki_err_set(err, -ENOMEM, 0, "layout: out of memory");
	}
	e->t = t;
	e->o = *o;
	*out = e;
	return 0;
}

static void forget(struct ki_evolved *f)
{
	ki_spans_free(&f->spans);
	ki_function_free(f->fn);
	free(f->order);
}

void ki_evolve_free(struct ki_evolve *e)
{
	if (!e)
		return;
	if (e->plan != e->apart)
		ki_plan_free(e->plan);
	ki_plan_free(e->apart);
	for (size_t i = 0; i < e->v.n; i++)
		forget(&e->v.v[i]);
	ki_evolve_forget_callers(e);
	ki_vec_free(&e->v);
	ki_vec_free(&e->links);
	free(e);
}

/* ---- what is expected ---- */

/* Times that control goes on elsewhere than in what stands after a hot block, of known edges. */
static uint64_t not_fallen(const struct ki_lay_graph *g, const uint32_t *order, uint32_t *rank)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < g->nblocks; i++)
		rank[order[i]] = i;
	for (uint32_t i = 0; i < g->nedges; i++)
		if (rank[g->edges[i].from] + 1 != rank[g->edges[i].to])
			sum += g->edges[i].count;
	return sum;
}

static uint32_t lines_of(const struct ki_function *fn, const uint32_t *hot, uint32_t n)
{
	uint64_t last = UINT64_MAX;
	uint32_t lines = 0;
	bool *is_hot = calloc(fn->nblocks + 1, sizeof(*is_hot));

	for (uint32_t i = 0; is_hot && i < n; i++)
		is_hot[hot[i]] = true;
	for (uint32_t i = 0; is_hot && i < fn->nblocks; i++) {
		uint64_t from = fn->blocks[i].start / LINE, to = (fn->blocks[i].end - 1) / LINE;

		if (!is_hot[i])
			continue;
		lines += (uint32_t)(to - from + (from != last));
		last = to;
	}
	free(is_hot);
	return lines;
}

static int forecast(const struct ki_function *fn, const struct ki_lay_graph *g,
		    const uint32_t *order, uint32_t nhot, struct ki_evolve_forecast *out)
{
	uint32_t *rank = calloc(2 * (size_t)g->nblocks + 1, sizeof(*rank));
	uint32_t *same = rank ? rank + g->nblocks : NULL;

	if (!rank)
		return -ENOMEM;
	for (uint32_t i = 0; i < g->nblocks; i++) {
		same[i] = i;
		out->bytes += g->blocks[i].size;
	}
	for (uint32_t i = 0; i < nhot; i++)
		out->hot_bytes += g->blocks[order[i]].size;
	out->blocks = g->nblocks;
	out->hot = nhot;
	out->lines_before = lines_of(fn, order, nhot);
	out->lines_after = (out->hot_bytes + LINE - 1) / LINE;
	out->taken_after = (double)not_fallen(g, order, rank) / (double)out->calls;
	out->taken_before = (double)not_fallen(g, same, rank) / (double)out->calls;
	free(rank);
	return 0;
}

/* ---- choosing ---- */

static int choose(struct ki_evolve *e, struct ki_evolved *f, const struct ki_lay_graph *g,
		  struct ki_evolve_forecast *out, struct ki_err *err)
{
	uint64_t hot = e->o.hot ? out->calls / e->o.hot : 0;
	int ret;

	f->order = calloc(g->nblocks + 1, sizeof(*f->order));
	ret = f->order ? e->o.policy(g, hot, f->order, &f->l.nhot) : -ENOMEM;
	if (!ret)
		ret = forecast(f->fn, g, f->order, f->l.nhot, out);
	if (ret)
		return ki_err_set(err, ret, f->fn->start, "layout: out of memory");
	f->l.fn = f->fn;
	f->l.spans = &f->spans;
	f->l.blocks = f->order;
	return ki_plan_lay_out(e->apart, &f->l, 1, err);
}

/* What its hot blocks are, and whom it calls. */
static int note_links(struct ki_evolve *e, struct ki_evolved *f, const struct ki_lay_graph *g)
{
	for (uint32_t i = 0; i < f->l.nhot; i++) {
		const struct ki_lay_block *b = &g->blocks[f->order[i]];

		f->size.size += b->size;
		f->size.heat += b->size * b->count;
	}
	for (uint32_t i = 0; i < f->fn->nedges; i++) {
		const struct ki_edge *c = &f->fn->edges[i];
		const struct ki_evolve_link l = {(uint32_t)e->v.n, c->to,
						 g->blocks[c->block].count};

		if ((c->kind == KI_EDGE_CALL || c->kind == KI_EDGE_TAIL) && l.count &&
		    ki_vec_push(&e->links, l))
			return -ENOMEM;
	}
	return 0;
}

static int add(struct ki_evolve *e, const struct ki_coverage *profile, struct ki_evolved *f,
	       struct ki_evolve_forecast *out, struct ki_err *err)
{
	struct ki_lay_graph g = {0};
	int ret = ki_evolve_graph(profile, f->fn, &f->spans, &g, &out->calls, err);

	if (ret)
		return ret;
	if (out->calls)
		ret = choose(e, f, &g, out, err);
	else
		ret = ki_err_set(err, -ENODATA, f->fn->start,
				 "%s: was not called while it was profiled", f->fn->symbol->name);
	if (!ret && note_links(e, f, &g))
		ret = ki_err_set(err, -ENOMEM, f->fn->start, "layout: out of memory");
	ki_lay_graph_free(&g);
	return ret;
}

int ki_evolve_add(struct ki_evolve *e, const struct ki_coverage *profile,
		  const struct ki_symbol *sym, struct ki_evolve_forecast *out, struct ki_err *err)
{
	struct ki_evolved *f;
	int ret;

	*out = (struct ki_evolve_forecast){0};
	if (e->plan)
		return ki_err_set(err, -EBUSY, sym->addr,
				  "layout: to be added before it is put in");
	if (ki_vec_reserve(&e->v, 1))
		return ki_err_set(err, -ENOMEM, sym->addr, "layout: out of memory");
	f = &e->v.v[e->v.n];
	*f = (struct ki_evolved){0};
	ret = ki_function_analyze(e->t, sym, &f->fn, err);
	if (!ret)
		ret = ki_spans_find_laid(f->fn, &f->spans, err);
	if (!ret)
		ret = add(e, profile, f, out, err);
	if (ret)
		forget(f);
	else
		e->v.n++;
	return ret;
}
