/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Loops: the nesting that Havlak defines, found the way of Ramalingam, "Identifying Loops in
 * Almost Linear Time" (TOPLAS 1999).
 *
 * Blocks go by their numbers in the walk and are looked at from the last to the first. A block
 * with edges coming back from below it is a header; its loop is what leads to these edges
 * backwards without leaving what is below the header. The loop is then one with its header
 * (`rep`), so that an outer loop sees it as one block.
 *
 * Havlak looks at the edges that come into a loop from outside again and again, once for each
 * loop around. But such an edge is of no use before the walk has come back to where its two ends
 * have parted: the nearest common ancestor in the walk. So each edge waits there. This is also
 * when it tells which loops are entered elsewhere than at their header: those that hold its end
 * and have been found by then, but for one that begins there.
 */
#include "code/graph/graph.h"

#include <errno.h>
#include <string.h>

struct finder {
	const struct ki_cfg *cfg;
	const struct ki_walk *w;
	uint32_t *rep;	   /* towards the header that stands for it */
	uint32_t *up;	   /* towards the nearest ancestor that has not been looked at */
	uint32_t *into;	   /* lists of edges that lead to it, and count already */
	uint32_t *waits;   /* lists of edges that wait for it */
	uint32_t *outer;   /* header of the loop around it, not of its own */
	uint32_t *entered; /* header of the outermost loop that an edge to it enters */
	uint32_t *body;
	uint32_t *member; /* the last header whose body it was put into */
	uint32_t *loop;	  /* number of the loop that it is the header of */
	uint32_t *next;	  /* of edges: in one list or the other */
};

static uint32_t find(uint32_t *towards, uint32_t v)
{
	while (towards[v] != v)
		v = towards[v] = towards[towards[v]];
	return v;
}

static uint32_t from_of(const struct finder *f, uint32_t edge)
{
	return f->w->number[f->cfg->fn->edges[edge].block];
}

static uint32_t to_of(const struct finder *f, uint32_t edge)
{
	return f->w->number[f->cfg->fn->edges[edge].to_block];
}

static void push(struct finder *f, uint32_t *list, uint32_t edge)
{
	f->next[edge] = *list;
	*list = edge;
}

static uint32_t add_member(struct finder *f, uint32_t header, uint32_t v, uint32_t n)
{
	if (v == header || f->member[v] == header)
		return n;
	f->member[v] = header;
	f->body[n] = v;
	return n + 1;
}

/* Edges to v: those from below make it a header. Returns how many members that gives. */
static uint32_t look_at_edges(struct finder *f, uint32_t v)
{
	const struct ki_cfg *cfg = f->cfg;
	uint32_t b = f->w->block[v], n = 0;

	for (uint32_t i = cfg->pred_first[b]; i < cfg->pred_first[b + 1]; i++) {
		uint32_t e = cfg->preds[i], from = from_of(f, e);

		if (from == KI_NONE)
			continue;
		if (ki_walk_below(f->w, from, v)) {
			f->loop[v] = 0;
			n = add_member(f, v, find(f->rep, from), n);
		} else {
			push(f, &f->waits[find(f->up, from)], e);
		}
	}
	return n;
}

static void end_wait(struct finder *f, uint32_t v)
{
	for (uint32_t e = f->waits[v], next; e != KI_NONE; e = next) {
		uint32_t to = to_of(f, e), rep = find(f->rep, to);

		next = f->next[e];
		push(f, &f->into[rep], e);
		f->entered[to] = rep;
	}
}

static void collect(struct finder *f, uint32_t header, uint32_t n)
{
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t e = f->into[f->body[i]]; e != KI_NONE; e = f->next[e])
			n = add_member(f, header, find(f->rep, from_of(f, e)), n);
	for (uint32_t i = 0; i < n; i++) {
		f->outer[f->body[i]] = header;
		f->rep[f->body[i]] = header;
	}
}

static void find_loops(struct finder *f)
{
	for (uint32_t v = 0; v < f->w->n; v++) {
		f->rep[v] = f->up[v] = f->entered[v] = v;
		f->into[v] = f->waits[v] = f->outer[v] = f->member[v] = f->loop[v] = KI_NONE;
	}
	for (uint32_t v = f->w->n; v-- > 0;) {
		uint32_t n = v ? look_at_edges(f, v) : 0;

		end_wait(f, v);
		collect(f, v, n);
		f->up[v] = f->w->parent[v];
	}
}

static int number_loops(struct ki_cfg *cfg, struct finder *f)
{
	for (uint32_t v = 0; v < f->w->n; v++)
		if (f->loop[v] != KI_NONE)
			f->loop[v] = cfg->nloops++;
	cfg->loops = calloc((size_t)cfg->nloops + 1, sizeof(*cfg->loops));
	if (!cfg->loops)
		return -ENOMEM;
	for (uint32_t v = 1; v < f->w->n; v++) {
		uint32_t outer = f->outer[v] == KI_NONE ? KI_NONE : f->loop[f->outer[v]];
		struct ki_loop *l = &cfg->loops[f->loop[v] == KI_NONE ? cfg->nloops : f->loop[v]];

		cfg->loop_of[f->w->block[v]] = f->loop[v] == KI_NONE ? outer : f->loop[v];
		if (f->loop[v] == KI_NONE)
			continue;
		l->header = f->w->block[v];
		l->parent = outer;
		l->depth = outer == KI_NONE ? 1 : cfg->loops[outer].depth + 1;
	}
	return 0;
}

static void count_members(struct ki_cfg *cfg)
{
	for (uint32_t b = 0; b < cfg->fn->nblocks; b++)
		if (cfg->loop_of[b] != KI_NONE)
			cfg->loops[cfg->loop_of[b]].nblocks++;
	for (uint32_t i = cfg->nloops; i-- > 0;)
		if (cfg->loops[i].parent != KI_NONE)
			cfg->loops[cfg->loops[i].parent].nblocks += cfg->loops[i].nblocks;
}

/* least[i]: the least depth to which an edge enters that enters loop i. */
static void mark_irreducible(struct ki_cfg *cfg, const struct finder *f, uint32_t *least)
{
	for (uint32_t i = 0; i < cfg->nloops; i++)
		least[i] = KI_NONE;
	for (uint32_t v = 1; v < f->w->n; v++) {
		uint32_t outer = f->outer[v], depth;

		if (f->entered[v] == v)
			continue;
		depth = cfg->loops[f->loop[f->entered[v]]].depth;
		if (depth < least[f->loop[outer]])
			least[f->loop[outer]] = depth;
	}
	for (uint32_t i = cfg->nloops; i-- > 0;) {
		struct ki_loop *l = &cfg->loops[i];

		l->irreducible = least[i] <= l->depth;
		if (l->parent != KI_NONE && least[i] < least[l->parent])
			least[l->parent] = least[i];
	}
}

int ki_loops_find(struct ki_graph *g, const struct ki_walk *w)
{
	struct ki_cfg *cfg = &g->cfg;
	struct finder f = {.cfg = cfg, .w = w};
	uint32_t **parts[] = {&f.rep,	  &f.up,   &f.into,   &f.waits, &f.outer,
			      &f.entered, &f.body, &f.member, &f.loop};
	uint32_t *space = ki_numbers_new(9 * (size_t)w->n);
	int ret = -ENOMEM;

	cfg->loop_of = ki_numbers_new(cfg->fn->nblocks);
	f.next = ki_numbers_new(cfg->fn->nedges);
	if (!space || !cfg->loop_of || !f.next)
		goto out;
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		*parts[i] = space + i * w->n;
	memset(cfg->loop_of, 0xff, cfg->fn->nblocks * sizeof(*cfg->loop_of));
	find_loops(&f);
	ret = number_loops(cfg, &f);
	if (!ret) {
		count_members(cfg);
		mark_irreducible(cfg, &f, f.body);
	}
out:
	free(space);
	free(f.next);
	return ret;
}
