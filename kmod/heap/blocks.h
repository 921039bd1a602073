/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Blocks of the heap: blocks.c. For heap.c alone, which holds ki_heap_lock.
 */
#ifndef KI_BLOCKS_H
#define KI_BLOCKS_H

#include "heap/rows.h"

void ki_blocks_init(void);
void ki_blocks_exit(void);
bool ki_extent_holds(struct ki_extent have, struct ki_extent need);
struct ki_extent ki_extent_of_steps(u32 n);
/* Would what is kept for taking out be left? */
bool ki_blocks_leave_reserve(struct ki_extent need);
/* A block, or NULL. What is left over becomes *rest, a new one, or two; NULL: it was needed. */
struct ki_block *ki_blocks_take(struct ki_extent need, struct ki_block **rest);
struct ki_block *ki_blocks_take_filled(struct ki_extent need, const struct ki_filled *as, u32 *pad,
				       struct ki_block **rest);
/* From pages of 2 MiB alone. */
struct ki_block *ki_blocks_take_large(struct ki_extent need, bool paged, struct ki_block **rest);
void ki_blocks_give(struct ki_block *b);
u32 ki_blocks_bytes(struct ki_block *b);
bool ki_blocks_is_large(struct ki_block *b); /* all of it is in pages of 2 MiB */
u32 ki_blocks_used(void);		     /* bytes, of all */
/* The heap ends at step n. Longer: true if `more` was needed, for the last block was none that is
   free. Shorter: it is, and needs ki_blocks_steps_needed of those that are there. */
bool ki_blocks_lengthen(u32 n, struct ki_block *more);
u32 ki_blocks_steps_needed(u32 steps);
void ki_blocks_shorten(u32 n);

#endif
