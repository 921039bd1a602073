/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where items would like to stand: near to the mean of their neighbours, with nothing straight
 * yet. Downwards and upwards through the layers, each layer's items get the places that are, by
 * least squares, nearest to what they want and yet in order and far enough apart. With the widths
 * taken off that is a regression that must not fall: neighbours that want to be the other way
 * round are pooled, and stand around the mean of what they want.
 */
#include "out/layered_work.h"

#define SWEEPS 20

struct pool {
	double sum, weight; /* of what its items want */
	uint32_t n;
};

struct spring {
	struct layered *l;
	struct pool *pools;
	double *offset; /* of each place in the layer: how far from the first one, at least */
};

enum sides { ABOVE = 1, BELOW = 2 };

static double ideal(const struct layered *l, uint32_t item, enum sides sides)
{
	double sum = 0;
	uint32_t n = 0;

	for (uint32_t k = l->up_first[item]; sides & ABOVE && k < l->up_first[item + 1]; k++, n++)
		sum += l->items.v[l->links.v[l->up[k]].upper].x;
	for (uint32_t k = l->down_first[item]; sides & BELOW && k < l->down_first[item + 1];
	     k++, n++)
		sum += l->items.v[l->links.v[l->down[k]].lower].x;
	return n ? sum / n : l->items.v[item].x;
}

static void find_offsets(struct spring *s, uint32_t layer)
{
	const struct layered *l = s->l;
	const uint32_t *order = l->order + l->layer_first[layer];
	uint32_t n = l->layer_first[layer + 1] - l->layer_first[layer];

	for (uint32_t i = 0; i < n; i++)
		s->offset[i] =
			i ? s->offset[i - 1] + layered_distance(l, order[i - 1], order[i]) : 0;
}

static void place_layer(struct spring *s, uint32_t layer, enum sides sides)
{
	struct layered *l = s->l;
	const uint32_t *order = l->order + l->layer_first[layer];
	uint32_t n = l->layer_first[layer + 1] - l->layer_first[layer], npools = 0, at = 0;
	struct pool *p = s->pools;

	find_offsets(s, layer);
	for (uint32_t i = 0; i < n; i++) {
		double weight = layered_is_line(l, order[i]) ? 1 : 2;

		p[npools++] = (struct pool){(ideal(l, order[i], sides) - s->offset[i]) * weight,
					    weight, 1};
		while (npools > 1 && p[npools - 2].sum * p[npools - 1].weight >
					     p[npools - 1].sum * p[npools - 2].weight) {
			npools--;
			p[npools - 1].sum += p[npools].sum;
			p[npools - 1].weight += p[npools].weight;
			p[npools - 1].n += p[npools].n;
		}
	}
	for (uint32_t k = 0; k < npools; k++)
		for (uint32_t i = 0; i < p[k].n; i++, at++)
			l->items.v[order[at]].x = p[k].sum / p[k].weight + s->offset[at];
}

int layered_spring(struct layered *l)
{
	struct spring s = {.l = l};
	size_t n = l->items.n + 1;

	s.pools = malloc(n * sizeof(*s.pools));
	s.offset = malloc(n * sizeof(*s.offset));
	if (!s.pools || !s.offset) {
		free(s.pools);
		free(s.offset);
		return -ENOMEM;
	}
	for (int i = 0; i < 2 * SWEEPS; i++) {
		enum sides sides = i < SWEEPS ? (i % 2 ? BELOW : ABOVE) : ABOVE | BELOW;

		for (uint32_t k = 0; k < l->nlayers; k++)
			place_layer(&s, i % 2 ? l->nlayers - 1 - k : k, sides);
	}
	free(s.pools);
	free(s.offset);
	return 0;
}
