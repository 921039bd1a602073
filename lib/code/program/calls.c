// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Depth first, in order of address. A function is expanded again only if the depth has cut
 * something off below it before and leaves more now. So a row marked `repeated` hides nothing,
 * and the output stays finite and small: without it a graph in which everything reaches
 * everything has a tree without end.
 */
#include "kerninst/calls.h"
#include "util/vec.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

struct node {
	uint32_t expanded; /* levels that have been shown below it; UINT32_MAX: all there are */
	uint32_t cold;	   /* the first of its cold parts; KI_NONE */
	uint32_t next;	   /* of the cold parts of its parent */
	bool open;	   /* it stands above */
	bool seen;
};

struct ki_calls {
	const struct ki_program *p;
	const struct ki_program_function *functions;
	uint32_t nfunctions, depth;
	bool callers;
	bool cut; /* something below the function at hand has not been shown */
	struct node *nodes;

	ki_calls_fn *fn;
	void *ctx;
	struct ki_calls_totals *totals;
};

typedef ki_vec(struct ki_calls_row) rows;

struct ki_calls *ki_calls_new(const struct ki_program *p, bool callers, uint32_t depth)
{
	struct ki_calls *t = calloc(1, sizeof(*t));

	if (!t)
		return NULL;
	t->p = p;
	t->callers = callers;
	t->depth = depth;
	t->functions = ki_program_functions(p, &t->nfunctions);
	t->nodes = calloc((size_t)t->nfunctions + 1, sizeof(*t->nodes));
	if (!t->nodes) {
		free(t);
		return NULL;
	}
	for (uint32_t i = 0; i < t->nfunctions; i++)
		t->nodes[i].cold = t->nodes[i].next = KI_NONE;
	for (uint32_t i = t->nfunctions; i-- > 0;) {
		uint32_t parent = t->functions[i].parent;

		if (!(t->functions[i].flags & KI_FUNCTION_COLD) || parent == i)
			continue;
		t->nodes[i].next = t->nodes[parent].cold;
		t->nodes[parent].cold = i;
	}
	return t;
}

void ki_calls_free(struct ki_calls *t)
{
	if (t)
		free(t->nodes);
	free(t);
}

/* A cold part stands for its parent. */
static uint32_t whole(const struct ki_calls *t, uint32_t function)
{
	if (function != KI_NONE && t->functions[function].flags & KI_FUNCTION_COLD)
		return t->functions[function].parent;
	return function;
}

static int add_call(const struct ki_calls *t, rows *out, uint32_t from, uint32_t call)
{
	struct ki_program_call c;
	struct ki_calls_row row = {.from = from, .sites = 1};

	if (ki_program_call(t->p, call, &c))
		return 0;
	row.function = whole(t, t->callers ? c.caller : c.callee);
	row.to = t->callers || row.function != KI_NONE ? 0 : c.to;
	row.kind = c.kind;
	return ki_vec_push(out, row);
}

static int add_calls_of(const struct ki_calls *t, rows *out, uint32_t from, uint32_t function)
{
	const struct ki_program_function *f = &t->functions[function];
	const uint32_t *callers;
	uint32_t n = f->ncalls;
	int ret = 0;

	callers = t->callers ? ki_program_callers(t->p, function, &n) : NULL;
	for (uint32_t i = 0; !ret && i < n; i++)
		ret = add_call(t, out, from, callers ? callers[i] : f->first_call + i);
	return ret;
}

static int by_place(const void *a, const void *b)
{
	const struct ki_calls_row *x = a, *y = b;

	/* KI_NONE is the largest: what is not known comes last */
	if (x->function != y->function)
		return x->function < y->function ? -1 : 1;
	if (x->to != y->to)
		return x->to > y->to ? -1 : 1; /* 0, indirect: the very last */
	return x->kind < y->kind ? -1 : x->kind > y->kind;
}

/* Rows of one place become one. */
static void merge(rows *r)
{
	size_t n = 0;

	if (r->n)
		qsort(r->v, r->n, sizeof(*r->v), by_place);
	for (size_t i = 0; i < r->n; i++) {
		if (n && !by_place(&r->v[n - 1], &r->v[i]))
			r->v[n - 1].sites += r->v[i].sites;
		else
			r->v[n++] = r->v[i];
	}
	r->n = n;
}

static int rows_of(const struct ki_calls *t, uint32_t function, rows *out)
{
	int ret = add_calls_of(t, out, function, function);
	uint32_t cold = t->nodes[function].cold;

	for (; !ret && cold != KI_NONE; cold = t->nodes[cold].next)
		ret = add_calls_of(t, out, function, cold);
	merge(out);
	return ret;
}

static void count(struct ki_calls *t, const struct ki_calls_row *row)
{
	struct ki_calls_totals *n = t->totals;
	bool indirect = row->kind == KI_EDGE_CALL_INDIRECT || row->kind == KI_EDGE_TAIL_INDIRECT;

	n->rows++;
	if (indirect)
		n->indirect += row->sites;
	else if (row->kind == KI_EDGE_TAIL)
		n->tail += row->sites;
	else
		n->direct += row->sites;
	if (row->function != KI_NONE && !t->nodes[row->function].seen) {
		t->nodes[row->function].seen = true;
		n->functions++;
	}
}

static int expand(struct ki_calls *t, uint32_t function, uint32_t depth);

/* Does anything stand below it? */
static bool leads_on(const struct ki_calls *t, uint32_t function)
{
	const struct ki_program_function *f = &t->functions[function];
	uint32_t n = f->ncalls;

	if (t->callers)
		ki_program_callers(t->p, function, &n);
	return n || t->nodes[function].cold != KI_NONE;
}

static int show(struct ki_calls *t, struct ki_calls_row *row, uint32_t depth)
{
	struct node *node = row->function == KI_NONE ? NULL : &t->nodes[row->function];
	uint32_t left = t->depth - depth;

	row->depth = depth;
	row->recursion = node && node->open;
	row->repeated = node && !node->open && left && node->expanded >= left;
	count(t, row);
	t->fn(t->ctx, row);
	if (!node || row->recursion)
		return 0;
	if (left && !row->repeated)
		return expand(t, row->function, depth + 1);
	if (node->expanded != UINT32_MAX && leads_on(t, row->function))
		t->cut = true;
	return 0;
}

static int expand(struct ki_calls *t, uint32_t function, uint32_t depth)
{
	struct node *node = &t->nodes[function];
	bool cut = t->cut;
	rows r = {0};
	int ret = rows_of(t, function, &r);

	node->open = true;
	t->cut = false;
	for (size_t i = 0; !ret && i < r.n; i++)
		ret = show(t, &r.v[i], depth);
	node->open = false;
	/* what calls nothing has nothing to repeat */
	if (r.n)
		node->expanded = t->cut ? t->depth - depth + 1 : UINT32_MAX;
	t->cut |= cut;
	ki_vec_free(&r);
	return ret;
}

int ki_calls_walk(struct ki_calls *t, uint32_t root, ki_calls_fn *fn, void *ctx,
		  struct ki_calls_totals *totals)
{
	t->fn = fn;
	t->ctx = ctx;
	t->totals = totals;
	t->cut = false;
	for (uint32_t i = 0; i < t->nfunctions; i++)
		t->nodes[i].expanded = t->nodes[i].open = t->nodes[i].seen = 0;
	t->nodes[root].seen = true;
	return t->depth ? expand(t, root, 1) : 0;
}
