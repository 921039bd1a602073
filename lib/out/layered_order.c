/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The order of items in their layers, for few crossings: it begins with the order of a
 * depth-first walk; then layer after layer, downwards and upwards, items are sorted by where
 * their neighbours stand in the layer before, on average. The best order seen is kept.
 */
#include "out/layered_work.h"

#include <string.h>

#define SWEEPS	 24
#define PATIENCE 6 /* sweeps without anything gained */

struct weighed {
	double weight;
	uint32_t pos, item;
};

struct orderer {
	struct layered *l;
	struct weighed *sort;
	uint32_t *best, *tree; /* tree: how many ends at or before a place, by halves */
};

static uint32_t layer_size(const struct layered *l, uint32_t layer)
{
	return l->layer_first[layer + 1] - l->layer_first[layer];
}

static void number_places(struct layered *l)
{
	for (uint32_t k = 0; k < l->nlayers; k++)
		for (uint32_t i = l->layer_first[k]; i < l->layer_first[k + 1]; i++)
			l->items.v[l->order[i]].pos = i - l->layer_first[k];
}

/* A walk downwards from the top layer, then from what that has not reached. */
static int first_order(struct layered *l)
{
	uint32_t n = (uint32_t)l->items.n, depth = 0;
	uint32_t *stack = malloc((l->links.n + n + 1) * sizeof(*stack));
	uint32_t *fill = malloc((l->nlayers + 1) * sizeof(*fill));
	bool *seen = calloc(n + 1, sizeof(*seen));

	if (!stack || !fill || !seen) {
		free(stack);
		free(fill);
		free(seen);
		return -ENOMEM;
	}
	memcpy(fill, l->layer_first, l->nlayers * sizeof(*fill));
	for (uint32_t root = 0; root < n; root++) {
		stack[depth++] = root;
		while (depth) {
			uint32_t item = stack[--depth];

			if (seen[item])
				continue;
			seen[item] = true;
			l->order[fill[l->items.v[item].layer]++] = item;
			for (uint32_t k = l->down_first[item + 1]; k-- > l->down_first[item];)
				stack[depth++] = l->links.v[l->down[k]].lower;
		}
	}
	free(stack);
	free(fill);
	free(seen);
	number_places(l);
	return 0;
}

/* Crossings between a layer and the next: pairs of links whose ends are in opposite order. */
static uint64_t crossings_below(struct orderer *o, uint32_t layer)
{
	const struct layered *l = o->l;
	uint32_t size = layer_size(l, layer + 1), placed = 0;
	uint64_t n = 0;

	memset(o->tree, 0, (size + 1) * sizeof(*o->tree));
	for (uint32_t i = l->layer_first[layer]; i < l->layer_first[layer + 1]; i++) {
		uint32_t item = l->order[i];

		for (uint32_t k = l->down_first[item]; k < l->down_first[item + 1]; k++) {
			uint32_t pos = l->items.v[l->links.v[l->down[k]].lower].pos + 1;

			n += placed++;
			for (uint32_t p = pos; p; p &= p - 1)
				n -= o->tree[p];
			for (uint32_t p = pos; p <= size; p += p & -p)
				o->tree[p]++;
		}
	}
	return n;
}

static uint64_t crossings(struct orderer *o)
{
	uint64_t n = 0;

	layered_sort_links(o->l);
	for (uint32_t k = 0; k + 1 < o->l->nlayers; k++)
		n += crossings_below(o, k);
	return n;
}

static int by_weight(const void *a, const void *b)
{
	const struct weighed *x = a, *y = b;

	if (x->weight != y->weight)
		return x->weight < y->weight ? -1 : 1;
	return (x->pos > y->pos) - (x->pos < y->pos);
}

/* Where the neighbours above or below stand, from 0 to 1; without any, where it stands itself. */
static double weight_of(const struct layered *l, uint32_t item, bool above)
{
	const uint32_t *first = above ? l->up_first : l->down_first;
	const uint32_t *list = above ? l->up : l->down;
	uint32_t layer = l->items.v[item].layer, n = first[item + 1] - first[item];
	double sum = 0;

	if (!n)
		return (l->items.v[item].pos + 0.5) / layer_size(l, layer);
	for (uint32_t k = first[item]; k < first[item + 1]; k++) {
		const struct layered_link *link = &l->links.v[list[k]];

		sum += l->items.v[above ? link->upper : link->lower].pos + 0.5;
	}
	return sum / n / layer_size(l, above ? layer - 1 : layer + 1);
}

static void sort_layer(struct orderer *o, uint32_t layer, bool above)
{
	struct layered *l = o->l;
	uint32_t first = l->layer_first[layer], n = layer_size(l, layer);

	for (uint32_t i = 0; i < n; i++) {
		uint32_t item = l->order[first + i];

		o->sort[i] = (struct weighed){weight_of(l, item, above), i, item};
	}
	qsort(o->sort, n, sizeof(*o->sort), by_weight);
	for (uint32_t i = 0; i < n; i++) {
		l->order[first + i] = o->sort[i].item;
		l->items.v[o->sort[i].item].pos = i;
	}
}

static void sweep(struct orderer *o, bool down)
{
	for (uint32_t k = 1; k < o->l->nlayers; k++)
		sort_layer(o, down ? k : o->l->nlayers - 1 - k, down);
}

static void improve(struct orderer *o)
{
	struct layered *l = o->l;
	size_t size = l->items.n * sizeof(*l->order);
	uint64_t least = crossings(o);
	int idle = 0;

	memcpy(o->best, l->order, size);
	for (int i = 0; i < SWEEPS && idle < PATIENCE && least; i++) {
		uint64_t n;

		sweep(o, i % 2 == 0);
		n = crossings(o);
		idle++;
		if (n >= least)
			continue;
		least = n;
		idle = 0;
		memcpy(o->best, l->order, size);
	}
	memcpy(l->order, o->best, size);
	number_places(l);
	layered_sort_links(l);
}

int layered_order(struct layered *l)
{
	struct orderer o = {.l = l};
	size_t n = l->items.n + 2;
	int ret = -ENOMEM;

	for (uint32_t i = 0; i < n - 2; i++)
		l->order[i] = i;
	layered_sort_links(l);
	o.sort = malloc(n * sizeof(*o.sort));
	o.best = malloc(n * sizeof(*o.best));
	o.tree = malloc(n * sizeof(*o.tree));
	if (o.sort && o.best && o.tree)
		ret = first_order(l);
	if (!ret)
		improve(&o);
	free(o.sort);
	free(o.best);
	free(o.tree);
	return ret;
}
