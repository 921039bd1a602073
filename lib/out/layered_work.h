/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The steps of ki_layered_draw, and what they hand on. Every box and every layer that a line
 * passes is an item; links connect items of neighbouring layers.
 */
#ifndef KI_OUT_LAYERED_WORK_H
#define KI_OUT_LAYERED_WORK_H

#include "out/layered.h"
#include "util/vec.h"

#define LAYERED_NONE UINT32_MAX
#define LAYERED_GAP  24.0 /* between boxes */
#define LAYERED_STEP 9.0  /* between lines */

struct layered_item {
	uint32_t layer, pos;
	uint32_t box; /* LAYERED_NONE: a line passes */
	double width, x;
};

struct layered_link {
	uint32_t upper, lower; /* items */
	bool cut;	       /* it must not be drawn straight: it crosses a long line */
};

/* The items of a line from top to bottom; of one that goes back, with a layer more at each end. */
struct layered_chain {
	uint32_t first, n;
};

struct layered {
	struct ki_layered *g;
	ki_vec(struct layered_item) items; /* those of the boxes come first */
	ki_vec(struct layered_link) links;
	struct layered_chain *chains;
	uint32_t nlayers;
	uint32_t *layer_first, *order; /* items of each layer, in their order */
	uint32_t *up_first, *up;       /* links from above of each item, in order of their ends */
	uint32_t *down_first, *down;   /* links to below */
};

static inline bool layered_is_line(const struct layered *l, uint32_t item)
{
	return l->items.v[item].box == LAYERED_NONE;
}

/* A line may be said to go back and yet lead to a layer below. */
static inline bool layered_runs_down(const struct layered *l, const struct ki_line *line)
{
	return l->items.v[line->from].layer < l->items.v[line->to].layer;
}

/* Sort the links of all items by the order that the layers have now. */
void layered_sort_links(struct layered *l);

/* How far apart the middles of two neighbours must be. */
double layered_distance(const struct layered *l, uint32_t a, uint32_t b);

int layered_order(struct layered *l);  /* find the order in the layers */
int layered_spring(struct layered *l); /* find where items want to be, x */
int layered_place(struct layered *l);  /* find each item's x */
int layered_relax(struct layered *l);  /* find a better x */
int layered_route(struct layered *l);  /* find y, and the lines */

#endif
