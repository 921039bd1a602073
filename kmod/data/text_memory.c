// SPDX-License-Identifier: GPL-2.0-only
/*
 * Scratch memory of tables of strings, in two parts. First pieces of code's own: whole blocks, with
 * one before it that is no piece's; for each block `ends` says where its piece ends, or 0. They are
 * taken round and round by one atomic addition, in any context; who is overtaken reads and writes
 * bytes of another piece, never anything else.
 *
 * Then rooms, of what programs take: each is one activation's until that gives it back, and the
 * lowest that is free is taken. `tops` says how many bytes of it have been taken. What is not taken
 * is 0: code asks whether it may read an address only when it has read a 0 there.
 */
#include <linux/slab.h>
#include <linux/string.h>

#include "array.h"
#include "data/texts.h"

#define PIECES (KI_TEXTS_SCRATCH / 4) /* bytes */
#define BLOCKS (PIECES / KI_BLOCK)

int ki_texts_memory(struct ki_texts_table *t, u32 piece)
{
	t->piece = piece;
	t->memory = ki_array(1, KI_TEXTS_SCRATCH, GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	t->ends = ki_array(1, BLOCKS * sizeof(*t->ends), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	t->stride = round_up(piece, KI_BLOCK) + KI_BLOCK;
	t->rooms = (KI_TEXTS_SCRATCH - PIECES) / t->stride;
	t->tops = ki_array(1, t->rooms * sizeof(*t->tops), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	t->taken = ki_array(1, BITS_TO_LONGS(t->rooms) * sizeof(*t->taken),
			    GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	return t->memory && t->ends && t->tops && t->taken ? 0 : -ENOMEM;
}

void ki_texts_memory_free(struct ki_texts_table *t)
{
	ki_array_free(t->memory);
	ki_array_free(t->ends);
	ki_array_free(t->tops);
	ki_array_free(t->taken);
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
	u32 room;

	if (!ki_texts_scratch(t, at) || n > t->piece + 7ull)
		return false;
	if (off < PIECES)
		return off + n <= READ_ONCE(t->ends[off / KI_BLOCK]);
	room = (u32)(off - PIECES) / t->stride;
	return room < t->rooms && (off - PIECES) % t->stride + n <= READ_ONCE(t->tops[room]);
}

/* ---- rooms ---- */

#define NO_ROOM U32_MAX

static u32 take_room(struct ki_texts_table *t)
{
	unsigned long word;
	u32 i, room;

	for (i = 0; i < BITS_TO_LONGS(t->rooms); i++)
		while ((word = ~READ_ONCE(t->taken[i]))) {
			room = i * BITS_PER_LONG + __builtin_ctzl(word);
			if (room >= t->rooms)
				return NO_ROOM;
			if (!test_and_set_bit(room, t->taken))
				return room;
		}
	return NO_ROOM;
}

static u32 room_of(const struct ki_texts_table *t, u64 at)
{
	u64 off = at - (u64)t->memory - PIECES;

	return t->memory && off / t->stride < t->rooms ? (u32)(off / t->stride) : NO_ROOM;
}

void ki_texts_give_room(struct ki_texts_table *t, u64 at)
{
	u32 room = at ? room_of(t, at) : NO_ROOM;

	if (room == NO_ROOM)
		return;
	clear(t->memory + PIECES + room * t->stride, READ_ONCE(t->tops[room]));
	WRITE_ONCE(t->tops[room], 0);
	clear_bit_unlock(room, t->taken);
}

u8 *ki_texts_alloca(struct ki_texts_table *t, u64 n, u64 at)
{
	u32 room, top, rest;
	u8 *to;

	if (!t->memory || n > t->piece)
		return NULL;
	room = at ? room_of(t, at) : take_room(t);
	if (room == NO_ROOM)
		return NULL;
	to = t->memory + PIECES + room * t->stride;
	top = READ_ONCE(t->tops[room]);
	rest = round_up(t->piece, 8u) - top;
	if (round_up((u32)n, 8u) > rest) {
		if (!at)
			ki_texts_give_room(t, (u64)to);
		return NULL;
	}
	WRITE_ONCE(t->tops[room], top + round_up((u32)n, 8u));
	return to + top;
}
