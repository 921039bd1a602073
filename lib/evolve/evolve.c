// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Layouts of functions: chosen from a profile, gathered in a plan, put in and taken out.
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

	if (!e || ki_plan_new(&e->plan)) {
		free(e);
		return ki_err_set(err, -ENOMEM, 0, "layout: out of memory");
	}
	e->t = t;
	e->o = *o;
	*out = e;
	return 0;
}

void ki_evolve_free(struct ki_evolve *e)
{
	if (!e)
		return;
	ki_plan_free(e->plan);
	ki_vec_free(&e->syms);
	free(e);
}

/* ---- what is expected ---- */

/* Times that control goes on elsewhere than in what stands behind a hot block, of known edges. */
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

/* A function that is laid out. */
struct subject {
	struct ki_function *fn;
	struct ki_spans spans;
	struct ki_lay_graph g;
	struct ki_evolve_forecast *out;
};

static int choose(struct ki_evolve *e, const struct subject *s, struct ki_err *err)
{
	uint64_t hot = e->o.hot ? s->out->calls / e->o.hot : 0;
	uint32_t *order = calloc(s->g.nblocks + 1, sizeof(*order)), nhot, id;
	int ret = order ? e->o.policy(&s->g, hot, order, &nhot) : -ENOMEM;

	if (!ret)
		ret = forecast(s->fn, &s->g, order, nhot, s->out);
	if (!ret && ki_vec_reserve(&e->syms, 1))
		ret = -ENOMEM;
	if (ret)
		ret = ki_err_set(err, ret, s->fn->start, "layout: out of memory");
	else
		ret = ki_plan_lay_out(e->plan, s->fn, &s->spans, order, &id, err);
	if (!ret)
		e->syms.v[e->syms.n++] = s->fn->symbol;
	free(order);
	return ret;
}

static int add(struct ki_evolve *e, const struct ki_coverage *profile, struct subject *s,
	       struct ki_err *err)
{
	int ret = ki_evolve_graph(profile, s->fn, &s->spans, &s->g, &s->out->calls, err);

	if (ret)
		return ret;
	if (s->out->calls)
		ret = choose(e, s, err);
	else
		ret = ki_err_set(err, -ENODATA, s->fn->start,
				 "%s: was not called while it was profiled", s->fn->symbol->name);
	ki_lay_graph_free(&s->g);
	return ret;
}

int ki_evolve_add(struct ki_evolve *e, const struct ki_coverage *profile,
		  const struct ki_symbol *sym, struct ki_evolve_forecast *out, struct ki_err *err)
{
	struct subject s = {.out = out};
	int ret = ki_function_analyze(e->t, sym, &s.fn, err);

	*out = (struct ki_evolve_forecast){0};
	if (!ret)
		ret = ki_spans_find(s.fn, &s.spans, err);
	if (!ret)
		ret = add(e, profile, &s, err);
	ki_spans_free(&s.spans);
	ki_function_free(s.fn);
	return ret;
}

/* All are refused: that is an error. */
static int any_left(const struct ki_evolve *e, struct ki_err *err)
{
	uint32_t n = (uint32_t)ki_plan_chunks(e->plan);

	for (uint32_t id = 0; id < n; id++)
		if (!ki_plan_refusal(e->plan, id))
			return 0;
	if (!n)
		return ki_err_set(err, -EINVAL, 0, "layout: nothing has been added");
	return ki_err_reason(err, ki_plan_refusal(e->plan, 0), e->syms.v[0]->addr, "%s",
			     e->syms.v[0]->name);
}

int ki_evolve_install(struct ki_evolve *e, struct ki_err *err)
{
	int ret = ki_plan_apply(e->plan, e->t, true, err);

	return ret ? ret : any_left(e, err);
}

int ki_evolve_undo(struct ki_evolve *e, struct ki_err *err)
{
	return ki_plan_remove(e->plan, e->t, err);
}

int ki_evolve_check(struct ki_evolve *e, struct ki_err *err)
{
	int ret = ki_plan_check(e->plan, e->t, err);

	return ret ? ret : any_left(e, err);
}

unsigned int ki_evolve_refusal(const struct ki_evolve *e, size_t n, const struct ki_symbol **sym)
{
	*sym = n < e->syms.n ? e->syms.v[n] : NULL;
	return *sym ? ki_plan_refusal(e->plan, (uint32_t)n) : KI_R_OK;
}
