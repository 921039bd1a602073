/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where items stand in their layers, after Brandes and Koepf, "Fast and Simple Horizontal
 * Coordinate Assignment" (2001): each item is put straight below the middle one of its neighbours
 * above where that is free, which makes columns; columns are moved to the right until they do not
 * overlap. The same is done with below for above and left for right, and of the four results each
 * item takes the mean of the two in the middle. Long lines are straight in all four, so they are
 * in the end.
 *
 * In the paper all columns are packed against one side. In functions whose layers are not equally
 * full that draws loops of a few blocks right across the picture. Here a column begins where its
 * items want to stand (layered_spring.c), and moves no further than it must, by longest ways in
 * the graph of which column is beside which.
 */
#include "out/layered_work.h"

#include <math.h>
#include <string.h>

struct placer {
	struct layered *l;
	bool upwards, mirrored; /* align with what is below; pack to the right */
	uint32_t *root, *next;	/* of each item: its column's first item, the next of it */
	uint32_t *waiting, *ready;
	double *x; /* by root, then of all */
};

static uint32_t size_of(const struct layered *l, uint32_t layer)
{
	return l->layer_first[layer + 1] - l->layer_first[layer];
}

/* The item beside, to the right (as it seems when mirrored), or LAYERED_NONE. */
static uint32_t beside(const struct placer *p, uint32_t item)
{
	const struct layered *l = p->l;
	const struct layered_item *it = &l->items.v[item];
	uint32_t at = l->layer_first[it->layer] + it->pos;

	if (p->mirrored)
		return it->pos ? l->order[at - 1] : LAYERED_NONE;
	return it->pos + 1 < size_of(l, it->layer) ? l->order[at + 1] : LAYERED_NONE;
}

double layered_distance(const struct layered *l, uint32_t a, uint32_t b)
{
	bool line = layered_is_line(l, a) || layered_is_line(l, b);
	double gap = layered_is_line(l, a) && layered_is_line(l, b) ? LAYERED_STEP : LAYERED_GAP;

	if (line && gap > LAYERED_STEP)
		gap = 1.5 * LAYERED_STEP;
	return (l->items.v[a].width + l->items.v[b].width) / 2 + gap;
}

/* The place in the layer above of the long line that the item belongs to; LAYERED_NONE: none. */
static uint32_t long_line_above(const struct layered *l, uint32_t item)
{
	if (!layered_is_line(l, item))
		return LAYERED_NONE;
	for (uint32_t k = l->up_first[item]; k < l->up_first[item + 1]; k++) {
		uint32_t upper = l->links.v[l->up[k]].upper;

		if (layered_is_line(l, upper))
			return l->items.v[upper].pos;
	}
	return LAYERED_NONE;
}

/* Links that cross a long line are not drawn straight. */
static void cut_links(struct layered *l, uint32_t layer)
{
	uint32_t first = l->layer_first[layer], n = size_of(l, layer), from = 0, at = 0;

	for (uint32_t i = 0; i < n; i++) {
		uint32_t to = long_line_above(l, l->order[first + i]);

		if (to == LAYERED_NONE && i + 1 < n)
			continue;
		for (; at <= i; at++) {
			uint32_t item = l->order[first + at];

			for (uint32_t k = l->up_first[item]; k < l->up_first[item + 1]; k++) {
				struct layered_link *link = &l->links.v[l->up[k]];
				uint32_t pos = l->items.v[link->upper].pos;

				link->cut = pos < from || pos > to;
			}
		}
		from = to;
	}
}

/* Put the item into the column of its neighbour: it is in the middle, and no link is crossed. */
static void align_item(struct placer *p, uint32_t item, int64_t *reached)
{
	const struct layered *l = p->l;
	const uint32_t *first = p->upwards ? l->down_first : l->up_first;
	const uint32_t *list = (p->upwards ? l->down : l->up) + first[item];
	uint32_t n = first[item + 1] - first[item];

	for (uint32_t turn = 0; n && turn < 2; turn++) {
		uint32_t middle = (turn != p->mirrored) ? n / 2 : (n - 1) / 2;
		const struct layered_link *link = &l->links.v[list[middle]];
		uint32_t other = p->upwards ? link->lower : link->upper;
		int64_t pos = l->items.v[other].pos;

		if (p->mirrored)
			pos = -pos;
		if (p->next[item] != item || link->cut || pos <= *reached)
			continue;
		p->next[other] = item;
		p->root[item] = p->root[other];
		p->next[item] = p->root[item];
		*reached = pos;
	}
}

static void align(struct placer *p)
{
	const struct layered *l = p->l;

	for (uint32_t i = 0; i < l->items.n; i++)
		p->root[i] = p->next[i] = i;
	for (uint32_t k = 0; k < l->nlayers; k++) {
		uint32_t layer = p->upwards ? l->nlayers - 1 - k : k;
		uint32_t first = l->layer_first[layer], n = size_of(l, layer);
		int64_t reached = INT64_MIN;

		for (uint32_t i = 0; i < n; i++)
			align_item(p, l->order[first + (p->mirrored ? n - 1 - i : i)], &reached);
	}
}

static double mean_of(const struct placer *p, uint32_t root)
{
	double sum = 0;
	uint32_t item = root, n = 0;

	do {
		sum += p->l->items.v[item].x;
		n++;
		item = p->next[item];
	} while (item != root);
	return (p->mirrored ? -sum : sum) / n;
}

static uint32_t push_right(struct placer *p, uint32_t root, uint32_t nready)
{
	uint32_t item = root;

	do {
		uint32_t b = beside(p, item);

		if (b != LAYERED_NONE) {
			uint32_t r = p->root[b];
			double x = p->x[root] + layered_distance(p->l, item, b);

			if (p->x[r] < x)
				p->x[r] = x;
			if (!--p->waiting[r])
				p->ready[nready++] = r;
		}
		item = p->next[item];
	} while (item != root);
	return nready;
}

/* Each column where its items want to stand, or as far right of that as what is left of it needs.
 */
static void pack(struct placer *p)
{
	const struct layered *l = p->l;
	uint32_t n = 0;

	memset(p->waiting, 0, l->items.n * sizeof(*p->waiting));
	for (uint32_t i = 0; i < l->items.n; i++) {
		uint32_t b = beside(p, i);

		if (b != LAYERED_NONE)
			p->waiting[p->root[b]]++;
	}
	for (uint32_t i = 0; i < l->items.n; i++) {
		if (p->root[i] != i)
			continue;
		p->x[i] = mean_of(p, i);
		if (!p->waiting[i])
			p->ready[n++] = i;
	}
	for (uint32_t i = 0; i < n; i++)
		n = push_right(p, p->ready[i], n);
	for (uint32_t i = 0; i < l->items.n; i++)
		if (p->root[i] != i)
			p->x[i] = p->x[p->root[i]];
	for (uint32_t i = 0; p->mirrored && i < l->items.n; i++)
		p->x[i] = -p->x[i];
}

static void swap(double *a, double *b)
{
	if (*a > *b) {
		double t = *a;

		*a = *b;
		*b = t;
	}
}

static void combine(struct layered *l, double *x[4])
{
	for (uint32_t i = 0; i < l->items.n; i++) {
		double v[4] = {x[0][i], x[1][i], x[2][i], x[3][i]};

		swap(&v[0], &v[1]);
		swap(&v[2], &v[3]);
		swap(&v[0], &v[2]);
		swap(&v[1], &v[3]);
		swap(&v[1], &v[2]);
		l->items.v[i].x = round((v[1] + v[2]) / 2);
	}
}

int layered_place(struct layered *l)
{
	size_t n = l->items.n + 1;
	uint32_t *space = malloc(4 * n * sizeof(*space));
	double *xs = malloc(4 * n * sizeof(*xs)), *x[4];
	struct placer p = {.l = l};

	if (!space || !xs) {
		free(space);
		free(xs);
		return -ENOMEM;
	}
	p.root = space;
	p.next = space + n;
	p.waiting = space + 2 * n;
	p.ready = space + 3 * n;
	for (uint32_t k = 1; k < l->nlayers; k++)
		cut_links(l, k);
	for (int k = 0; k < 4; k++) {
		p.upwards = k & 2;
		p.mirrored = k & 1;
		p.x = x[k] = xs + (size_t)k * n;
		align(&p);
		pack(&p);
	}
	combine(l, x);
	free(space);
	free(xs);
	return 0;
}
