/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Going over the blocks of a function until nothing changes, for what is known backward: of a
 * block from what its edges lead to.
 */
#ifndef KI_CODE_FIXPOINT_H
#define KI_CODE_FIXPOINT_H

#include <stdbool.h>
#include <stdint.h>

struct ki_fixpoint {
	void *arg;
	uint32_t nblocks, nedges; /* numbered from 0 */
	/* Look at a block again: has what is known of its start changed? */
	bool (*step)(void *arg, uint32_t block);
	/* The first edge of a block; of nblocks: nedges. */
	uint32_t (*first_edge)(void *arg, uint32_t block);
	/* The block that an edge leads to; KI_NONE: none of these. */
	uint32_t (*to)(void *arg, uint32_t edge);
};

/*
 * Has anything changed? What a block depends on are the blocks that its edges lead to, and the
 * next one. The number of steps is linear in blocks and edges if each start can change only so
 * often.
 */
bool ki_fixpoint(const struct ki_fixpoint *s);

#endif
