/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The control-flow graph of one function: dominators, loops, and edge counts from block counts.
 *
 * All of it is about the edges inside the function: fall-through, taken, jump, table and fixup
 * edges whose to_block is not KI_NONE. Calls come back; what leaves the function is an exit.
 */
#ifndef KERNINST_CFG_H
#define KERNINST_CFG_H

#include "kerninst/code.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_loop {
	uint32_t header;  /* number of the block */
	uint32_t parent;  /* number of the loop around it; KI_NONE */
	uint32_t depth;	  /* 1: not inside another */
	uint32_t nblocks; /* with those of the loops inside */
	bool irreducible; /* it is entered elsewhere than at its header too */
};

struct ki_cfg {
	const struct ki_function *fn; /* not owned: must live as long */
	uint32_t *pred_first;	      /* nblocks + 1: preds[pred_first[b] .. pred_first[b + 1]) */
	uint32_t *preds;	      /* numbers of edges that lead to the block */
	uint32_t *idom;		      /* immediate dominator; KI_NONE: the root, or not reached */
	uint32_t *rpo;		      /* blocks in reverse postorder; entries first come first */
	uint32_t nreached;	      /* how many of rpo can be reached from an entry */
	struct ki_loop *loops;	      /* outer ones before those inside */
	uint32_t *loop_of;	      /* innermost loop of each block; KI_NONE */
	uint32_t nloops;
};

/*
 * Block 0 and every block that no edge of the function leads to are entries (a cold part jumps
 * back into its parent): a virtual root stands before them. What is not reached from it is in no
 * loop. Dominators: Lengauer and Tarjan. Loops: Havlak, "Nesting of Reducible and Irreducible
 * Loops" (TOPLAS 1997). Almost linear time for every graph. Free with ki_cfg_free.
 */
int ki_cfg_new(const struct ki_function *fn, struct ki_cfg **out, struct ki_err *err);
void ki_cfg_free(struct ki_cfg *cfg); /* NULL is allowed */

/* Does block a dominate block b? Both reached, else false. */
bool ki_cfg_dominates(const struct ki_cfg *cfg, uint32_t a, uint32_t b);

/*
 * A hash by which graphs are told apart: the same function, loaded anywhere, has the same. It is
 * XXH3, 64 bits, seed 0, of 32-bit little-endian words in this order:
 *    the number of blocks
 *    of each block, in order: its start less the function's, its length
 *    the number of edges
 *    of each edge: its block, the block that it leads to (KI_NONE: none of the function's),
 *    its kind
 *
 * The edges are those of fn->edges but calls (ftrace and static calls write them), each once, in
 * order of these three words. All that lead out of the function have the kind 5, whether they
 * return or go to other code; the others' kinds are enum ki_edge_kind. 0 is never a hash: where
 * XXH3 gives it, 1 is.
 *
 * So it says nothing of the instructions in a block but how long they are together; and what is
 * made other code when it is loaded (alternatives of another processor, static calls that end a
 * function) may have another. -ENOMEM: *hash is 0.
 */
int ki_cfg_hash(const struct ki_function *fn, uint64_t *hash);

#define KI_COUNT_UNKNOWN UINT64_MAX

struct ki_edge_counts {
	uint64_t *edges; /* one for each of fn->edges; of what leaves the function too;
			    KI_COUNT_UNKNOWN: estimated, and nothing bounds it */
	bool *estimated; /* one for each: not determined by the block counts */
	uint32_t nestimated;
	uint64_t entered; /* times the function was called: not the count of block 0, to which
			     a loop may come back */
	bool entered_estimated;
	bool inconsistent; /* counts that cannot all be exact (taken while the code ran) */
};

/*
 * Edge counts from the block counts counts[nblocks] (KI_COUNT_UNKNOWN where there is none). They
 * follow Tamches, "Fine-Grained Dynamic Instrumentation of Commodity Operating System Kernels"
 * (2001), chapter 6. What the flow equations determine is exact. The rest is estimated as the
 * least of what the source has left to give and the destination left to take. All is computed from
 * exact values. Exceptions (fixup edges) count as 0 unless the equations say otherwise. Calls that
 * come back do not take part: their count is their block's. A block that nothing but calls and
 * exceptions leads out of is left there (a call that does not return, a trap). Free the arrays
 * with ki_edge_counts_free.
 */
int ki_edge_counts(const struct ki_cfg *cfg, const uint64_t *counts, struct ki_edge_counts *out,
		   struct ki_err *err);
void ki_edge_counts_free(struct ki_edge_counts *ec);

#ifdef __cplusplus
}
#endif

#endif
