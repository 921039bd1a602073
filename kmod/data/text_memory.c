// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scratch memory of tables of strings. A piece is whole blocks, with one before it that is
 * nobody's; for each block `ends` says where its piece ends, or 0. Pieces are taken round and round
 * by one atomic addition, in any context; who is overtaken reads and writes bytes of another piece,
 * never anything else.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "array.h"
#include "data/texts.h"

#define BLOCKS (KI_TEXTS_SCRATCH / KI_BLOCK)

int ki_texts_memory(struct ki_texts_table *t, u32 piece)
{
	t->piece = piece;
	t->memory = ki_array(1, KI_TEXTS_SCRATCH, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	t->ends = ki_array(1, BLOCKS * sizeof(*t->ends), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	return t->memory && t->ends ? 0 : -ENOMEM;
}

/* Not by the kernel's memset, which may be instrumented. */
static void clear(u8 *to, u32 n)
{
	u32 i;

	for (i = 0; i < n; i += 8)
		WRITE_ONCE(*(u64 *)(to + i), 0);
}

u8 *ki_texts_piece(struct ki_texts_table *t, u64 n)
{
	u32 blocks, first, i, tries = 2;

	if (!t->memory || n > t->piece)
		return NULL;
	if (!n) /* the first block is no piece's */
		return t->memory;
	blocks = 1 + DIV_ROUND_UP((u32)n, KI_BLOCK);
	do {
		first = (u64)atomic64_fetch_add(blocks, (atomic64_t *)&t->blocks) % BLOCKS;
	} while (first + blocks > BLOCKS && --tries);
	if (first + blocks > BLOCKS)
		return NULL;
	WRITE_ONCE(t->ends[first++], 0);
	for (i = 0; i + 1 < blocks; i++)
		WRITE_ONCE(t->ends[first + i], first * KI_BLOCK + (u32)n);
	clear(t->memory + first * KI_BLOCK, (blocks - 1) * KI_BLOCK);
	return t->memory + first * KI_BLOCK;
}

bool ki_texts_scratch(const struct ki_texts_table *t, u64 at)
{
	return t->memory && at - (u64)t->memory < KI_TEXTS_SCRATCH;
}

bool ki_texts_inside(const struct ki_texts_table *t, u64 at, u64 n)
{
	u64 off = at - (u64)t->memory;

	return ki_texts_scratch(t, at) && n <= t->piece &&
	       off + n <= READ_ONCE(t->ends[off / KI_BLOCK]);
}
