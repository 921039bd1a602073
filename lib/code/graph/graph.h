/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the parts of the control-flow graph share: cfg.c walks it, dominators.c and loops.c work
 * on the numbers that the walk gave.
 */
#ifndef KI_CODE_GRAPH_H
#define KI_CODE_GRAPH_H

#include <stdlib.h>

#include "kerninst/cfg.h"

/* The graph as its maker sees it. */
struct ki_graph {
	struct ki_cfg cfg;
	uint32_t *dom_first; /* of each block: its number in a walk over the dominator tree */
	uint32_t *dom_size;  /* and how many blocks it dominates; 0: not reached */
};

/*
 * A depth-first walk from the virtual root, whose number is 0, in preorder. All arrays but
 * `number` are indexed by number.
 */
struct ki_walk {
	uint32_t n;	  /* blocks that were reached, and the root */
	uint32_t *block;  /* KI_NONE: the root */
	uint32_t *number; /* of each block; KI_NONE: not reached */
	uint32_t *parent;
	uint32_t *last; /* greatest number below it; its own if nothing is below */
};

/* Does the edge lead to a block of the function, other than by a call? */
static inline bool ki_edge_is_inner(const struct ki_function *fn, const struct ki_edge *e)
{
	return e->kind <= KI_EDGE_FIXUP && e->to_block < fn->nblocks;
}

static inline bool ki_walk_below(const struct ki_walk *w, uint32_t number, uint32_t top)
{
	return number >= top && number <= w->last[top];
}

/* n numbers, none of them set. */
static inline uint32_t *ki_numbers_new(size_t n)
{
	return malloc((n + 1) * sizeof(uint32_t));
}

int ki_dominators_find(struct ki_graph *g, const struct ki_walk *w);
int ki_loops_find(struct ki_graph *g, const struct ki_walk *w);

#endif
