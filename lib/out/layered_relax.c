/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Shorter lines: placing packs columns, which may stand far from where their lines lead when the
 * layers are not equally full. Here boxes, and straight pieces of lines as a whole, move to
 * between their neighbours above and below as far as there is room beside them. Done a few times
 * from left to right and back, since what has moved makes room.
 */
#include "out/layered_work.h"

#include <math.h>

#define SWEEPS 12

/* Items of one line, one below the other, or one box. */
struct column {
	uint32_t first, n;
	double x;
};

struct relaxer {
	struct layered *l;
	ki_vec(struct column) columns;
	uint32_t *of; /* the number of each item's column, whatever their order */
	double *ends;
};

static int add_columns(struct relaxer *r)
{
	struct layered *l = r->l;
	int ret = 0;

	for (uint32_t b = 0; !ret && b < l->g->nboxes; b++)
		ret = ki_vec_push(&r->columns, (struct column){.first = b, .n = 1});
	for (uint32_t i = 0; !ret && i < l->g->nlines; i++) {
		const struct layered_chain *c = &l->chains[i];

		for (uint32_t k = c->first; !ret && k < c->first + c->n; k++) {
			if (k > c->first && l->items.v[k].x == l->items.v[k - 1].x)
				r->columns.v[r->columns.n - 1].n++;
			else
				ret = ki_vec_push(&r->columns, (struct column){.first = k, .n = 1});
		}
	}
	for (uint32_t i = 0; !ret && i < r->columns.n; i++) {
		struct column *c = &r->columns.v[i];

		c->x = l->items.v[c->first].x;
		for (uint32_t k = 0; k < c->n; k++)
			r->of[c->first + k] = i;
	}
	return ret;
}

static int compare(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return x < y ? -1 : x > y;
}

static int by_x(const void *a, const void *b)
{
	const struct column *x = a, *y = b;

	if (x->x != y->x)
		return x->x < y->x ? -1 : 1;
	return (x->first > y->first) - (x->first < y->first);
}

/* Between the two in the middle of what the column is linked to; where it is if that is there. */
static double ideal(struct relaxer *r, const struct column *c)
{
	const struct layered *l = r->l;
	uint32_t n = 0, own = r->of[c->first];

	for (uint32_t i = c->first; i < c->first + c->n; i++) {
		for (uint32_t k = l->up_first[i]; k < l->up_first[i + 1]; k++) {
			uint32_t other = l->links.v[l->up[k]].upper;

			if (r->of[other] != own)
				r->ends[n++] = l->items.v[other].x;
		}
		for (uint32_t k = l->down_first[i]; k < l->down_first[i + 1]; k++) {
			uint32_t other = l->links.v[l->down[k]].lower;

			if (r->of[other] != own)
				r->ends[n++] = l->items.v[other].x;
		}
	}
	if (!n)
		return c->x;
	qsort(r->ends, n, sizeof(*r->ends), compare);
	return fmin(fmax(c->x, r->ends[(n - 1) / 2]), r->ends[n / 2]);
}

static void move(struct relaxer *r, struct column *c)
{
	struct layered *l = r->l;
	double x = ideal(r, c), left = -HUGE_VAL, right = HUGE_VAL;

	if (x == c->x)
		return;
	for (uint32_t i = c->first; i < c->first + c->n; i++) {
		const struct layered_item *it = &l->items.v[i];
		uint32_t at = l->layer_first[it->layer] + it->pos;

		if (it->pos)
			left = fmax(left, l->items.v[l->order[at - 1]].x +
						  layered_distance(l, l->order[at - 1], i));
		if (at + 1 < l->layer_first[it->layer + 1])
			right = fmin(right, l->items.v[l->order[at + 1]].x -
						    layered_distance(l, i, l->order[at + 1]));
	}
	if (left > right)
		return;
	c->x = fmin(fmax(x, left), right);
	for (uint32_t i = c->first; i < c->first + c->n; i++)
		l->items.v[i].x = c->x;
}

int layered_relax(struct layered *l)
{
	struct relaxer r = {.l = l};
	int ret = -ENOMEM;

	r.of = malloc((l->items.n + 1) * sizeof(*r.of));
	r.ends = malloc((2 * l->links.n + 1) * sizeof(*r.ends));
	if (r.of && r.ends)
		ret = add_columns(&r);
	for (int i = 0; !ret && i < SWEEPS; i++) {
		size_t n = r.columns.n;

		qsort(r.columns.v, n, sizeof(*r.columns.v), by_x);
		for (size_t k = 0; k < n; k++)
			move(&r, &r.columns.v[i % 2 ? n - 1 - k : k]);
	}
	ki_vec_free(&r.columns);
	free(r.of);
	free(r.ends);
	return ret;
}
