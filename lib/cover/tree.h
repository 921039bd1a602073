/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Which of a function's flows have to be counted, so that all are known; and what the others are.
 *
 * Flows are the blocks and, if they are wanted, the edges: of each, how often. Where everything is
 * straight, what comes into a place goes out of it. So of flows that make a cycle one tells
 * another; those on a spanning tree are told by those that are not on it.
 */
#ifndef KI_COVER_TREE_H
#define KI_COVER_TREE_H

#include "cover/choice.h"

/* From where a flow comes, and where it goes. 0: the outside, of which nothing is known. */
struct ki_arc {
	uint32_t tail, head;
};

struct ki_tree {
	struct ki_arc *arcs; /* of each block; then of each edge that is no call, in their order */
	bool *possible;	     /* there is a place for a probe: the caller's to fill in */
	bool *probe;	     /* of each flow: it has one */
	uint32_t nflows, nvertices;
};

/*
 * The flows of a plain function (ki_cover_plain), with edges or without. Free with ki_tree_free,
 * also after a failure.
 */
int ki_tree_new(const struct ki_function *fn, const struct ki_cfg *cfg, bool edges,
		struct ki_tree *out);
/*
 * Which of them have probes: as few as can be, and those that are executed least, as far as the
 * loops tell. All others are known then, but for what depends on a cycle of flows that cannot have
 * any.
 */
int ki_tree_choose(const struct ki_function *fn, const struct ki_cfg *cfg, struct ki_tree *t);
void ki_tree_free(struct ki_tree *t);

/* How often each block is executed for each time that the function is, if all branches are even. */
void ki_tree_guess(const struct ki_function *fn, const struct ki_cfg *cfg, double *often);

/* known[] and values[] of each flow: those that have been counted. What these tell is filled in. */
int ki_tree_solve(const struct ki_arc *arcs, uint32_t nflows, uint32_t nvertices, bool *known,
		  uint64_t *values);

#endif
