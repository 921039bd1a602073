// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Spanning trees (Knuth and Stevenson, "Optimal measurement points for program frequency counts",
 * BIT 1973; Ball and Larus, "Optimally profiling and tracing programs", TOPLAS 1994), for code in
 * which threads may stay.
 *
 * A block is two vertices, where control comes into it and where it goes on, and each edge leads
 * from one of the latter to one of the former. If whoever begins the block comes to its end at
 * once, the block is an arc between its two, and as much flows into each vertex as out of it. Else
 * (a call may sleep or never return, an instruction may fault) nothing is said of its end: the
 * block's arc leads to the outside, and what goes on comes from there. An exception comes from the
 * outside, and so does who calls the function, or jumps to a block of which other code has the
 * address.
 *
 * What flows by an arc that nobody asks for need not be known, so its two vertices become one: the
 * outside and all that control may come to from there; and if only blocks are wanted, the ends of
 * each edge. Then blocks are the only arcs, and those off a spanning tree are as few as there can
 * be, whatever else were counted instead.
 *
 * The tree is grown from what can have no probe, then from what is executed most.
 */
#include "cover/tree.h"

#include <errno.h>
#include <stdlib.h>

#include "code/graph/flow.h"
#include "cover/sets.h"
#include "splice/point.h"

#define IN(b)  (1 + 2 * (b))
#define OUT(b) (2 + 2 * (b))

/* ---- the flows ---- */

/* Control may come to the block by no edge of the function. */
static bool is_entered(const struct ki_function *fn, const struct ki_cfg *cfg, uint32_t b)
{
	return !b || fn->blocks[b].entered || cfg->pred_first[b] == cfg->pred_first[b + 1] ||
	       ki_place_address_taken(fn, fn->blocks[b].start);
}

static void add_blocks(const struct ki_function *fn, const struct ki_cfg *cfg, struct ki_tree *t,
		       uint32_t *set)
{
	for (uint32_t b = 0; b < fn->nblocks; b++) {
		bool through = ki_cover_through(fn, &fn->blocks[b]);
		bool leads = false;

		for (uint32_t i = 0; i < fn->blocks[b].nedges; i++)
			leads |= !ki_cover_is_call(&fn->edges[fn->blocks[b].first_edge + i]);
		t->arcs[t->nflows++] = (struct ki_arc){IN(b), through ? OUT(b) : 0};
		if (!through || !leads)
			ki_sets_join(set, 0, OUT(b));
		if (is_entered(fn, cfg, b))
			ki_sets_join(set, 0, IN(b));
	}
}

static void add_edges(const struct ki_function *fn, bool wanted, struct ki_tree *t, uint32_t *set)
{
	for (uint32_t i = 0; i < fn->nedges; i++) {
		const struct ki_edge *e = &fn->edges[i];
		const struct ki_arc arc = {e->kind == KI_EDGE_FIXUP ? 0 : OUT(e->block),
					   e->to_block == KI_NONE ? 0 : IN(e->to_block)};

		if (ki_cover_is_call(e))
			continue;
		if (wanted)
			t->arcs[t->nflows++] = arc;
		else
			ki_sets_join(set, arc.tail, arc.head);
	}
}

/* Vertices that are one have one number; all numbers are used. */
static int number(struct ki_tree *t, uint32_t *set, uint32_t n)
{
	uint32_t *numbers = malloc(n * sizeof(*numbers));

	if (!numbers)
		return -ENOMEM;
	for (uint32_t v = 0; v < n; v++)
		if (ki_sets_find(set, v) == v)
			numbers[v] = t->nvertices++;
	for (uint32_t f = 0; f < t->nflows; f++) {
		t->arcs[f].tail = numbers[ki_sets_find(set, t->arcs[f].tail)];
		t->arcs[f].head = numbers[ki_sets_find(set, t->arcs[f].head)];
	}
	free(numbers);
	return 0;
}

int ki_tree_new(const struct ki_function *fn, const struct ki_cfg *cfg, bool edges,
		struct ki_tree *out)
{
	const uint32_t n = 2 * fn->nblocks + 1;
	const size_t most = (size_t)fn->nblocks + (edges ? fn->nedges : 0) + 1;
	uint32_t *set = ki_sets_new(n);
	int ret = -ENOMEM;

	*out = (struct ki_tree){
		.arcs = calloc(most, sizeof(*out->arcs)),
		.possible = calloc(most, sizeof(*out->possible)),
		.probe = calloc(most, sizeof(*out->probe)),
	};
	if (set && out->arcs && out->possible && out->probe) {
		add_blocks(fn, cfg, out, set);
		add_edges(fn, edges, out, set);
		ret = number(out, set, n);
	}
	free(set);
	return ret;
}

void ki_tree_free(struct ki_tree *t)
{
	free(t->arcs);
	free(t->possible);
	free(t->probe);
	*t = (struct ki_tree){0};
}

/* ---- the tree ---- */

#define LOOP 10 /* times that a loop is gone round, as far as anybody knows */

void ki_tree_guess(const struct ki_function *fn, const struct ki_cfg *cfg, double *often)
{
	for (uint32_t b = 0; b < fn->nblocks; b++)
		often[b] = 0;
	for (uint32_t i = 0; i < cfg->nreached; i++) {
		uint32_t b = cfg->rpo[i], loop = cfg->loop_of[b], ways = 0;
		const struct ki_block *at = &fn->blocks[b];

		if (!b || !often[b])
			often[b] += b ? 0.01 : 1;
		if (loop != KI_NONE && cfg->loops[loop].header == b)
			often[b] *= LOOP;
		for (uint32_t e = at->first_edge; e < at->first_edge + at->nedges; e++)
			ways += fn->edges[e].to_block != KI_NONE &&
				!ki_cover_is_call(&fn->edges[e]);
		for (uint32_t e = at->first_edge; e < at->first_edge + at->nedges; e++)
			if (fn->edges[e].to_block != KI_NONE && !ki_cover_is_call(&fn->edges[e]))
				often[fn->edges[e].to_block] += often[b] / ways;
	}
}

struct candidate {
	double often;
	uint32_t flow;
	bool possible;
};

/* First what can have no probe, then what is executed most; blocks after edges: their probes tell
 * more by themselves. */
static int in_order(const void *x, const void *y)
{
	const struct candidate *a = x, *b = y;

	if (a->possible != b->possible)
		return a->possible - b->possible;
	if (a->often != b->often)
		return a->often < b->often ? 1 : -1;
	return a->flow < b->flow ? 1 : -1;
}

static void list_candidates(const struct ki_function *fn, const struct ki_tree *t,
			    const double *often, struct candidate *v)
{
	uint32_t f = 0;

	for (; f < fn->nblocks; f++)
		v[f] = (struct candidate){often[f], f, t->possible[f]};
	for (uint32_t i = 0; f < t->nflows; i++) {
		const struct ki_edge *e = &fn->edges[i];
		uint32_t nedges = fn->blocks[e->block].nedges;

		if (ki_cover_is_call(e))
			continue;
		v[f] = (struct candidate){often[e->block] / nedges, f, t->possible[f]};
		if (e->kind == KI_EDGE_FIXUP)
			v[f].often = 0;
		f++;
	}
}

static void grow(struct ki_tree *t, const struct candidate *v, uint32_t *set)
{
	for (uint32_t i = 0; i < t->nflows; i++) {
		const struct ki_arc *arc = &t->arcs[v[i].flow];

		t->probe[v[i].flow] = !ki_sets_join(set, arc->tail, arc->head) && v[i].possible;
	}
}

int ki_tree_choose(const struct ki_function *fn, const struct ki_cfg *cfg, struct ki_tree *t)
{
	struct candidate *v = malloc((t->nflows + (size_t)1) * sizeof(*v));
	double *often = malloc((fn->nblocks + (size_t)1) * sizeof(*often));
	uint32_t *set = ki_sets_new(t->nvertices);
	int ret = v && often && set ? 0 : -ENOMEM;

	if (!ret) {
		ki_tree_guess(fn, cfg, often);
		list_candidates(fn, t, often, v);
		qsort(v, t->nflows, sizeof(*v), in_order);
		grow(t, v, set);
	}
	free(v);
	free(often);
	free(set);
	return ret;
}

int ki_tree_solve(const struct ki_arc *arcs, uint32_t nflows, uint32_t nvertices, bool *known,
		  uint64_t *values)
{
	struct ki_flow flow;
	int ret = ki_flow_new(&flow, nvertices, nflows);

	if (ret)
		return ret;
	for (uint32_t f = 0; f < nflows; f++)
		ki_flow_connect(&flow, f, arcs[f].tail, arcs[f].head);
	for (uint32_t f = 0; f < nflows; f++)
		if (known[f])
			ki_flow_set(&flow, f, values[f]);
	ret = ki_flow_solve(&flow);
	for (uint32_t f = 0; !ret && f < nflows; f++) {
		known[f] = flow.edges[f].known;
		values[f] = flow.edges[f].value;
	}
	ki_flow_free(&flow);
	return ret;
}
