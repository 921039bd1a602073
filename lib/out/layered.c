/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Drawing in layers, in the steps of Sugiyama, Tagawa and Toda: each box gets a layer (the longest
 * way from the top), lines that pass layers become chains of items, items are put into an order
 * with few crossings (layered_order.c), get their x (layered_spring.c, layered_place.c,
 * layered_relax.c), and the
 * lines their corners (layered_route.c).
 *
 * A line that goes back runs upwards beside the boxes of the layers between its ends, those of its
 * ends included. Its chain has one item more above and one below, where it turns: they are linked
 * to the boxes at its ends, which pulls it near to them.
 */
#include "out/layered_work.h"

#include <string.h>

#define MAX_ITEMS (4u << 20)

struct layering {
	uint32_t *layer, *waiting, *ready;
	uint32_t *first, *out; /* lines that do not go back, of each box */
};

static bool goes_down(const struct ki_line *line)
{
	return !line->back && line->from != line->to;
}

static void list_lines(const struct ki_layered *g, struct layering *y)
{
	for (uint32_t i = 0; i < g->nlines; i++)
		if (goes_down(&g->lines[i]))
			y->first[g->lines[i].from + 2]++;
	for (uint32_t b = 0; b < g->nboxes; b++)
		y->first[b + 2] += y->first[b + 1];
	for (uint32_t i = 0; i < g->nlines; i++)
		if (goes_down(&g->lines[i]))
			y->out[y->first[g->lines[i].from + 1]++] = i;
}

/* Longest ways from the top. Layer 0 is left free for lines that turn there. */
static int find_layers(const struct ki_layered *g, struct layering *y)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->nlines; i++)
		if (goes_down(&g->lines[i]))
			y->waiting[g->lines[i].to]++;
	for (uint32_t b = 0; b < g->nboxes; b++) {
		y->layer[b] = 1;
		if (!y->waiting[b])
			y->ready[n++] = b;
	}
	for (uint32_t i = 0; i < n; i++) {
		uint32_t b = y->ready[i];

		for (uint32_t k = y->first[b]; k < y->first[b + 1]; k++) {
			uint32_t to = g->lines[y->out[k]].to;

			if (y->layer[to] <= y->layer[b])
				y->layer[to] = y->layer[b] + 1;
			if (!--y->waiting[to])
				y->ready[n++] = to;
		}
	}
	return n == g->nboxes ? 0 : -EINVAL;
}

/* What nothing leads to stands just above the first that it leads to; but for box 0. */
static void lower_sources(const struct ki_layered *g, struct layering *y)
{
	memset(y->waiting, 0, g->nboxes * sizeof(*y->waiting));
	for (uint32_t i = 0; i < g->nlines; i++)
		if (goes_down(&g->lines[i]))
			y->waiting[g->lines[i].to]++;
	for (uint32_t b = 1; b < g->nboxes; b++) {
		uint32_t least = LAYERED_NONE;

		for (uint32_t k = y->first[b]; k < y->first[b + 1]; k++) {
			uint32_t to = g->lines[y->out[k]].to;

			if (y->layer[to] < least)
				least = y->layer[to];
		}
		if (!y->waiting[b] && least != LAYERED_NONE)
			y->layer[b] = least - 1;
	}
}

static int add_item(struct layered *l, uint32_t layer, uint32_t box, double width)
{
	struct layered_item item = {.layer = layer, .box = box, .width = width};

	if (layer >= l->nlayers)
		l->nlayers = layer + 1;
	if (l->items.n >= MAX_ITEMS)
		return -E2BIG;
	return ki_vec_push(&l->items, item);
}

static int add_link(struct layered *l, uint32_t upper, uint32_t lower)
{
	return ki_vec_push(&l->links, (struct layered_link){.upper = upper, .lower = lower});
}

/* A chain of items through the layers [top, bottom], linked to one another. */
static int add_chain(struct layered *l, struct layered_chain *c, uint32_t top, uint32_t bottom)
{
	int ret = 0;

	c->first = (uint32_t)l->items.n;
	for (uint32_t layer = top; !ret && layer <= bottom; layer++) {
		ret = add_item(l, layer, LAYERED_NONE, 0);
		if (!ret && layer > top)
			ret = add_link(l, c->first + c->n - 1, c->first + c->n);
		c->n++;
	}
	return ret;
}

static int add_line(struct layered *l, const struct ki_line *line, struct layered_chain *c)
{
	uint32_t from = l->items.v[line->from].layer, to = l->items.v[line->to].layer;
	int ret;

	if (layered_runs_down(l, line)) {
		ret = add_chain(l, c, from + 1, to - 1);
		if (ret || !c->n)
			return ret ? ret : add_link(l, line->from, line->to);
		ret = add_link(l, line->from, c->first);
		return ret ? ret : add_link(l, c->first + c->n - 1, line->to);
	}
	ret = add_chain(l, c, to - 1, from + 1);
	if (!ret)
		ret = add_link(l, c->first, line->to);
	if (!ret)
		ret = add_link(l, line->from, c->first + c->n - 1);
	return ret;
}

static int add_items(struct layered *l)
{
	struct ki_layered *g = l->g;
	struct layering y = {0};
	size_t n = (size_t)g->nboxes + 2;
	uint32_t *space = calloc(4 * n + g->nlines, sizeof(*space));
	int ret = -ENOMEM;

	if (!space)
		return ret;
	y.layer = space;
	y.waiting = space + n;
	y.ready = space + 2 * n;
	y.first = space + 3 * n;
	y.out = space + 4 * n;
	list_lines(g, &y);
	ret = find_layers(g, &y);
	if (!ret)
		lower_sources(g, &y);
	for (uint32_t b = 0; !ret && b < g->nboxes; b++)
		ret = add_item(l, y.layer[b], b, g->boxes[b].width);
	for (uint32_t i = 0; !ret && i < g->nlines; i++)
		ret = add_line(l, &g->lines[i], &l->chains[i]);
	free(space);
	return ret;
}

static int make_lists(struct layered *l)
{
	size_t n = l->items.n, m = l->links.n;

	l->layer_first = calloc((size_t)l->nlayers + 2, sizeof(uint32_t));
	l->order = calloc(n + 1, sizeof(uint32_t));
	l->up_first = calloc(n + 2, sizeof(uint32_t));
	l->down_first = calloc(n + 2, sizeof(uint32_t));
	l->up = calloc(m + 1, sizeof(uint32_t));
	l->down = calloc(m + 1, sizeof(uint32_t));
	if (!l->layer_first || !l->order || !l->up_first || !l->down_first || !l->up || !l->down)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		l->layer_first[l->items.v[i].layer + 1]++;
	for (uint32_t k = 0; k < l->nlayers; k++)
		l->layer_first[k + 1] += l->layer_first[k];
	for (size_t i = 0; i < m; i++) {
		l->up_first[l->links.v[i].lower + 1]++;
		l->down_first[l->links.v[i].upper + 1]++;
		l->down[i] = (uint32_t)i;
	}
	for (size_t i = 0; i < n; i++) {
		l->up_first[i + 1] += l->up_first[i];
		l->down_first[i + 1] += l->down_first[i];
	}
	return 0;
}

/* Going through one end in order puts the other end's lists in order. */
void layered_sort_links(struct layered *l)
{
	uint32_t n = (uint32_t)l->items.n;

	for (uint32_t i = 0; i < l->links.n; i++)
		l->down[l->down_first[l->links.v[i].upper]++] = i;
	memmove(l->down_first + 1, l->down_first, n * sizeof(uint32_t));
	l->down_first[0] = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t item = l->order[i];

		for (uint32_t k = l->down_first[item]; k < l->down_first[item + 1]; k++) {
			uint32_t link = l->down[k];

			l->up[l->up_first[l->links.v[link].lower]++] = link;
		}
	}
	memmove(l->up_first + 1, l->up_first, n * sizeof(uint32_t));
	l->up_first[0] = 0;
	for (uint32_t i = 0; i < n; i++) {
		uint32_t item = l->order[i];

		for (uint32_t k = l->up_first[item]; k < l->up_first[item + 1]; k++) {
			uint32_t link = l->up[k];

			l->down[l->down_first[l->links.v[link].upper]++] = link;
		}
	}
	memmove(l->down_first + 1, l->down_first, n * sizeof(uint32_t));
	l->down_first[0] = 0;
}

static bool is_valid(const struct ki_layered *g)
{
	for (uint32_t i = 0; i < g->nlines; i++)
		if (g->lines[i].from >= g->nboxes || g->lines[i].to >= g->nboxes)
			return false;
	return true;
}

int ki_layered_draw(struct ki_layered *g)
{
	struct layered l = {.g = g};
	int ret;

	g->spots = NULL;
	g->width = g->height = 0;
	if (!is_valid(g))
		return -EINVAL;
	if (!g->nboxes)
		return 0;
	l.chains = calloc((size_t)g->nlines + 1, sizeof(*l.chains));
	ret = l.chains ? add_items(&l) : -ENOMEM;
	if (!ret)
		ret = make_lists(&l);
	if (!ret)
		ret = layered_order(&l);
	if (!ret)
		ret = layered_spring(&l);
	if (!ret)
		ret = layered_place(&l);
	if (!ret)
		ret = layered_relax(&l);
	if (!ret)
		ret = layered_route(&l);
	ki_vec_free(&l.items);
	ki_vec_free(&l.links);
	free(l.chains);
	free(l.layer_first);
	free(l.order);
	free(l.up_first);
	free(l.up);
	free(l.down_first);
	free(l.down);
	return ret;
}
