/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which edges do the flow equations determine, and to what?
 *
 * First those that a single vertex tells: all but one of its edges are known. This is Tamches'
 * work list, and it finds nearly everything in real code. A value below zero (the counts were
 * taken while the code ran) becomes zero at once, so that it spoils no more than its neighbours.
 *
 * But two parts of the graph, each with a cycle of edges of which none can be told, may be
 * joined by a single edge: what flows over it is what one part has too much. In general, an edge
 * is determined if and only if it is a bridge: on a cycle (whatever way its edges point) some
 * amount can be added to the edges that point one way round, and taken from the others, and all
 * equations still hold. So what is left is searched for bridges with a depth-first walk; the sum
 * over what lies below a bridge in the walk is its value.
 */
#include "code/graph/flow.h"

#include <errno.h>
#include <stdlib.h>

#define NONE UINT32_MAX

int ki_flow_new(struct ki_flow *f, uint32_t nvertices, uint32_t nedges)
{
	*f = (struct ki_flow){.nvertices = nvertices, .nedges = nedges};
	f->edges = calloc((size_t)nedges + 1, sizeof(*f->edges));
	f->vertices = calloc((size_t)nvertices + 1, sizeof(*f->vertices));
	if (f->edges && f->vertices)
		return 0;
	ki_flow_free(f);
	return -ENOMEM;
}

void ki_flow_free(struct ki_flow *f)
{
	free(f->edges);
	free(f->vertices);
	f->edges = NULL;
	f->vertices = NULL;
}

void ki_flow_connect(struct ki_flow *f, uint32_t edge, uint32_t tail, uint32_t head)
{
	f->edges[edge] = (struct ki_flow_edge){.tail = tail, .head = head};
	if (tail == head)
		return;
	f->vertices[tail].out++;
	f->vertices[tail].mix ^= edge;
	f->vertices[head].in++;
	f->vertices[head].mix ^= edge;
}

void ki_flow_set(struct ki_flow *f, uint32_t edge, uint64_t value)
{
	struct ki_flow_edge *e = &f->edges[edge];

	e->known = true;
	e->value = value;
	if (e->tail == e->head)
		return;
	f->vertices[e->tail].left += value;
	f->vertices[e->tail].out--;
	f->vertices[e->tail].mix ^= edge;
	f->vertices[e->head].left -= value;
	f->vertices[e->head].in--;
	f->vertices[e->head].mix ^= edge;
}

static void set_clamped(struct ki_flow *f, uint32_t edge, __int128 value)
{
	if (value < 0 || value >= UINT64_MAX) {
		f->inconsistent = true;
		value = 0;
	}
	ki_flow_set(f, edge, (uint64_t)value);
}

static bool has_one(const struct ki_flow *f, uint32_t v)
{
	return v && f->vertices[v].in + f->vertices[v].out == 1;
}

/* Each vertex comes to have one edge left at most once. */
static int solve_vertices(struct ki_flow *f)
{
	uint32_t *work = malloc(((size_t)f->nvertices + 1) * sizeof(*work)), n = 0;

	if (!work)
		return -ENOMEM;
	for (uint32_t v = f->nvertices; v-- > 0;)
		if (has_one(f, v))
			work[n++] = v;
	while (n) {
		uint32_t v = work[--n], edge = f->vertices[v].mix, far;
		const struct ki_flow_edge *e = &f->edges[edge];

		if (!has_one(f, v))
			continue;
		far = e->head == v ? e->tail : e->head;
		set_clamped(f, edge, e->head == v ? f->vertices[v].left : -f->vertices[v].left);
		if (has_one(f, far))
			work[n++] = far;
	}
	free(work);
	return 0;
}

struct walk {
	struct ki_flow *f;
	uint32_t *first, *ends; /* edges of each vertex that are not known */
	uint32_t *cursor, *number, *low, *by, *stack;
	__int128 *sum;
	uint32_t n;
};

static bool open_edge(const struct ki_flow_edge *e)
{
	return !e->known && e->tail != e->head;
}

static void list_ends(struct walk *w)
{
	const struct ki_flow *f = w->f;
	uint32_t at = 0;

	for (uint32_t v = 0; v < f->nvertices; v++) {
		w->first[v] = w->cursor[v] = at;
		at += f->vertices[v].in + f->vertices[v].out;
	}
	w->first[f->nvertices] = at;
	for (uint32_t i = 0; i < f->nedges; i++) {
		if (!open_edge(&f->edges[i]))
			continue;
		w->ends[w->cursor[f->edges[i].tail]++] = i;
		w->ends[w->cursor[f->edges[i].head]++] = i;
	}
}

static void enter(struct walk *w, uint32_t v, uint32_t by, uint32_t *depth)
{
	w->number[v] = w->low[v] = ++w->n;
	w->by[v] = by;
	w->cursor[v] = w->first[v];
	w->sum[v] = w->f->vertices[v].left;
	w->stack[(*depth)++] = v;
}

/* All below v has been walked. A bridge is noted as such by its low; its value follows later. */
static void leave(struct walk *w, uint32_t v)
{
	const struct ki_flow_edge *e;
	uint32_t parent;

	if (w->by[v] == NONE) {
		if (v && w->sum[v])
			w->f->inconsistent = true;
		return;
	}
	e = &w->f->edges[w->by[v]];
	parent = e->head == v ? e->tail : e->head;
	w->sum[parent] += w->sum[v];
	if (w->low[v] < w->low[parent])
		w->low[parent] = w->low[v];
}

static void walk_from(struct walk *w, uint32_t root)
{
	uint32_t depth = 0;

	enter(w, root, NONE, &depth);
	while (depth) {
		uint32_t v = w->stack[depth - 1], edge, far;

		if (w->cursor[v] == w->first[v + 1]) {
			depth--;
			leave(w, v);
			continue;
		}
		edge = w->ends[w->cursor[v]++];
		if (edge == w->by[v])
			continue;
		far = w->f->edges[edge].tail == v ? w->f->edges[edge].head : w->f->edges[edge].tail;
		if (!w->number[far])
			enter(w, far, edge, &depth);
		else if (w->number[far] < w->low[v])
			w->low[v] = w->number[far];
	}
}

static void set_bridges(struct walk *w)
{
	for (uint32_t v = 0; v < w->f->nvertices; v++) {
		uint32_t edge = w->by[v];

		if (edge != NONE && w->low[v] == w->number[v])
			set_clamped(w->f, edge,
				    w->f->edges[edge].head == v ? w->sum[v] : -w->sum[v]);
	}
}

static int solve_bridges(struct ki_flow *f)
{
	size_t n = (size_t)f->nvertices + 1;
	struct walk w = {.f = f};
	uint32_t *space = calloc(6 * n + 2 * (size_t)f->nedges, sizeof(*space));

	w.sum = malloc(n * sizeof(*w.sum));
	if (!space || !w.sum) {
		free(space);
		free(w.sum);
		return -ENOMEM;
	}
	w.first = space;
	w.cursor = space + n;
	w.number = space + 2 * n;
	w.low = space + 3 * n;
	w.by = space + 4 * n;
	w.stack = space + 5 * n;
	w.ends = space + 6 * n;
	list_ends(&w);
	for (uint32_t v = 0; v < f->nvertices; v++)
		if (!w.number[v])
			walk_from(&w, v);
	set_bridges(&w);
	free(space);
	free(w.sum);
	return 0;
}

/* What is known must add up, and what is not known cannot be less than nothing. */
static void check(struct ki_flow *f)
{
	for (uint32_t v = 1; v < f->nvertices; v++) {
		const struct ki_flow_vertex *x = &f->vertices[v];

		if ((!x->in && x->left > 0) || (!x->out && x->left < 0))
			f->inconsistent = true;
	}
}

int ki_flow_solve(struct ki_flow *f)
{
	int ret = solve_vertices(f);

	if (!ret)
		ret = solve_bridges(f);
	check(f);
	return ret;
}

static uint64_t bounded(__int128 n)
{
	if (n < 0)
		return 0;
	return n < UINT64_MAX ? (uint64_t)n : UINT64_MAX;
}

uint64_t ki_flow_out_left(const struct ki_flow *f, uint32_t vertex)
{
	if (!vertex || f->vertices[vertex].in)
		return UINT64_MAX;
	return bounded(-f->vertices[vertex].left);
}

uint64_t ki_flow_in_left(const struct ki_flow *f, uint32_t vertex)
{
	if (!vertex || f->vertices[vertex].out)
		return UINT64_MAX;
	return bounded(f->vertices[vertex].left);
}
