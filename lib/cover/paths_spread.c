// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where values are added up.
 *
 * To add each edge's value where it is taken would do. But if each vertex v has a number h(v), and
 * the outside 0, steps of value + h(u) - h(v) add up to the same along each path. The numbers are
 * chosen along a spanning tree, so that its edges have the step 0, and need no probe: first those
 * where none can stand, then those that are taken most. Where a path begins or ends there is a
 * probe in any case, which the step costs nothing.
 */
#include <errno.h>
#include <stdlib.h>

#include "cover/paths.h"
#include "cover/sets.h"
#include "cover/tree.h"
#include "kerninst/process.h"

#define HEIGHT_MOST ((__int128)1 << 60)

struct spreader {
	struct ki_path_numbers *p;
	const struct ki_function *fn;
	double *often;	  /* of each block */
	uint32_t *set;	  /* vertices that the tree joins */
	uint32_t *sorted; /* edges */
	bool *in_tree;	  /* of each edge */
	bool *reached;
	__int128 *height; /* h */
};

/* ---- places ---- */

/* Can something stand there? In a process nobody handles a breakpoint but the driver. */
static bool can_stand(const struct ki_function *fn, const struct ki_spans *spans, uint64_t addr)
{
	const struct ki_span *s = ki_spans_at(spans, fn, addr);

	return ki_target_kind(fn->target) != KI_TARGET_PROCESS || !s || s->board != KI_BOARD_TRAP ||
	       ki_process_by_driver(fn->target);
}

static int find_place(struct path_edge *e, const struct ki_function *fn,
		      const struct ki_spans *spans, struct ki_err *err)
{
	const struct ki_point pt = {
		.kind = e->kind == PATH_STOP ? KI_POINT_BLOCK : KI_POINT_EDGE,
		.block = e->from,
		.edge = e->edge,
	};
	struct ki_place *v;
	size_t n;
	int ret = ki_point_places(fn, spans, &pt, &v, &n, err);

	if (ret)
		return ret;
	e->place = *v;
	free(v);
	if (!e->place.reason && !can_stand(fn, spans, e->place.addr))
		e->place.reason = KI_R_NO_TRAP;
	return 0;
}

static int find_places(struct ki_path_numbers *p, const struct ki_function *fn,
		       const struct ki_spans *spans, struct ki_err *err)
{
	int ret = 0;

	for (uint32_t i = 0; !ret && i < p->nedges; i++)
		if (p->edges[i].from != p->nblocks)
			ret = find_place(&p->edges[i], fn, spans, err);
	return ret;
}

/* ---- the tree ---- */

/* 0: no probe can stand there; 1: one need not; 2: there is one. */
static int need(const struct path_edge *e)
{
	if (e->kind != PATH_INNER)
		return 2;
	return !e->place.reason;
}

/* Faults are rare. */
static double often(const struct spreader *s, const struct path_edge *e)
{
	bool fault = e->edge != KI_NONE && s->fn->edges[e->edge].kind == KI_EDGE_FIXUP;

	return fault ? 0 : s->often[e->from];
}

static int in_order(const void *x, const void *y, void *arg)
{
	const struct spreader *s = arg;
	const uint32_t i = *(const uint32_t *)x, k = *(const uint32_t *)y;
	const struct path_edge *a = &s->p->edges[i], *b = &s->p->edges[k];

	if (need(a) != need(b))
		return need(a) - need(b);
	if (need(a) == 1 && often(s, a) != often(s, b))
		return often(s, a) < often(s, b) ? 1 : -1;
	return i < k ? -1 : 1;
}

static void grow(struct spreader *s)
{
	const struct ki_path_numbers *p = s->p;

	for (uint32_t i = 0; i < p->nedges; i++)
		s->sorted[i] = i;
	qsort_r(s->sorted, p->nedges, sizeof(*s->sorted), in_order, s);
	for (uint32_t i = 0; i < p->nedges; i++) {
		const struct path_edge *e = &p->edges[s->sorted[i]];

		s->in_tree[s->sorted[i]] = ki_sets_join(s->set, e->from, e->to);
	}
}

/* ---- the numbers ---- */

/* From one end of a tree's edge to the other. */
static bool climb(struct spreader *s, const struct path_edge *e)
{
	if (s->reached[e->from] == s->reached[e->to])
		return false;
	if (s->reached[e->from])
		s->height[e->to] = s->height[e->from] + e->value;
	else
		s->height[e->from] = s->height[e->to] - e->value;
	s->reached[e->from] = s->reached[e->to] = true;
	return true;
}

/* If they are too large, all are 0, and the steps are the values. */
static void measure_heights(struct spreader *s)
{
	const struct ki_path_numbers *p = s->p;
	bool more = true, small = true;

	s->reached[p->nblocks] = true;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < p->nedges; i++)
			if (s->in_tree[i])
				more |= climb(s, &p->edges[i]);
	}
	for (uint32_t v = 0; v < p->nblocks; v++)
		small &= s->height[v] < HEIGHT_MOST && s->height[v] > -HEIGHT_MOST;
	for (uint32_t v = 0; v < p->nblocks && !small; v++)
		s->height[v] = 0;
}

static int set_steps(struct spreader *s, struct ki_err *err)
{
	struct ki_path_numbers *p = s->p;

	for (uint32_t i = 0; i < p->nedges; i++) {
		struct path_edge *e = &p->edges[i];
		const bool probe = e->kind != PATH_INNER;

		e->step = e->value + (uint64_t)s->height[e->from] - (uint64_t)s->height[e->to];
		if (e->from == p->nblocks || !e->place.reason || (!probe && !e->step))
			continue;
		return ki_err_reason(err, e->place.reason, e->place.addr,
				     "%s: paths cannot be told apart without a probe at block %u's "
				     "end",
				     s->fn->symbol->name, e->from);
	}
	return 0;
}

static int spread(struct spreader *s, struct ki_err *err)
{
	const struct ki_path_numbers *p = s->p;
	const size_t n = (size_t)p->nblocks + 1;
	struct ki_cfg *cfg;
	int ret;

	s->often = calloc(n, sizeof(*s->often));
	s->set = ki_sets_new(p->nblocks + 1);
	s->sorted = calloc(p->nedges + (size_t)1, sizeof(*s->sorted));
	s->in_tree = calloc(p->nedges + (size_t)1, sizeof(*s->in_tree));
	s->reached = calloc(n, sizeof(*s->reached));
	s->height = calloc(n, sizeof(*s->height));
	if (!s->often || !s->set || !s->sorted || !s->in_tree || !s->reached || !s->height)
		return ki_err_set(err, -ENOMEM, 0, "paths: out of memory");
	ret = ki_cfg_new(s->fn, &cfg, err);
	if (ret)
		return ret;
	ki_tree_guess(s->fn, cfg, s->often);
	ki_cfg_free(cfg);
	grow(s);
	measure_heights(s);
	return set_steps(s, err);
}

int ki_paths_spread(struct ki_path_numbers *p, const struct ki_function *fn,
		    const struct ki_spans *spans, struct ki_err *err)
{
	struct spreader s = {.p = p, .fn = fn};
	int ret = find_places(p, fn, spans, err);

	if (!ret)
		ret = spread(&s, err);
	free(s.often);
	free(s.set);
	free(s.sorted);
	free(s.in_tree);
	free(s.reached);
	free(s.height);
	return ret;
}
