/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Places: the sides of instructions (place.c), shared by those who find what a point means
 * (point.c, point_edge.c).
 */
#ifndef KI_SPLICE_POINT_H
#define KI_SPLICE_POINT_H

#include <stdbool.h>
#include <stddef.h>

#include "kerninst/splice.h"
#include "util/vec.h"

/* Where places are looked for. */
struct ki_ground {
	const struct ki_function *fn;
	const struct ki_spans *spans;
};

typedef ki_vec(struct ki_place) ki_places;

/* One side of instruction i itself, or why there is none. */
struct ki_place ki_place_side(const struct ki_ground *g, uint32_t i, enum ki_where where);

/* Before instruction i: there, or after the one that alone leads to it. */
struct ki_place ki_place_before(const struct ki_ground *g, uint32_t i);

/* Where control goes on after instruction i, not by a jump: there, or before the next. */
struct ki_place ki_place_behind(const struct ki_ground *g, uint32_t i);

/* Executed once whenever the block is, and what follows it in the block too. */
bool ki_place_may_pass(const struct ki_insn *in);

/* The only edge that leads to block b, which nothing else leads to; NULL. */
const struct ki_edge *ki_place_only_edge(const struct ki_ground *g, uint32_t b);

/* Something in the function could be that address, absolute or relative: for somebody to jump to.
 */
bool ki_place_address_taken(const struct ki_function *fn, uint64_t addr);

/* The beginning of a block, found among its own instructions. */
struct ki_place ki_block_place(const struct ki_ground *g, const struct ki_block *b);

/* An edge, found on its side of its branch. */
struct ki_place ki_edge_place(const struct ki_ground *g, const struct ki_edge *e);

/* Does control leave the function by this edge? Not if it is to or from its cold part. */
bool ki_edge_leaves(const struct ki_function *fn, const struct ki_edge *e);

/* point_grow.c: the number of the edge by which a function of Go's goes on when its stack is large
   enough; KI_NONE: it is none of those. */
uint32_t ki_point_grown(const struct ki_function *fn);

#endif
