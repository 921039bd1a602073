/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Entries into the middle of a function by branches with 8 bits. They reach only neighbours and
 * are looked for when the function is analysed.
 */
#include "code/decode/facts.h"

#include "code/function/function.h"
#include "code/function/trail.h"

/* A neighbour's start so far away is worth remembering how its instructions go. */
#define FAR 1024

/*
 * A neighbour's instructions are known from its start on, which may be far. Functions that follow
 * each other have the same one before them: where the walk came to `lo` is remembered.
 */
static void enter(struct ki_analysis *a, struct ki_trail *w, uint64_t addr, uint64_t lo,
		  uint64_t hi)
{
	uint64_t near;
	struct ki_decoded d;

	ki_trail_enter(w, addr, hi);
	if (!w->bytes)
		return;
	near = lo > w->from ? lo : w->from;
	if (a->near.symbol == w->from && a->near.pos <= near - w->from)
		w->pos = a->near.pos;
	ki_trail_to(w, near, &d);
	if (near - w->from >= FAR)
		a->near = (struct ki_near){w->from, w->pos};
}

static bool short_opcode(uint8_t b)
{
	return (b & 0xf0) == 0x70 || b == 0xeb || (b & 0xfc) == 0xe0;
}

void ki_entries_near(struct ki_analysis *a, const uint8_t *text, uint64_t lo, uint64_t hi)
{
	uint64_t start = a->fn->start, end = a->fn->end;
	struct ki_trail w = {.target = a->target, .text = a->text, .memo = a->memo};

	for (uint64_t addr = lo; hi - addr >= 2; addr++) {
		uint64_t target;

		if (addr + 2 > start && addr < end) {
			addr = end - 1;
			continue;
		}
		if (!short_opcode(text[addr - lo]))
			continue;
		target = addr + 2 + (uint64_t)(int64_t)(int8_t)text[addr - lo + 1];
		if (target <= start || target >= end)
			continue;
		if (!ki_trail_holds(&w, addr))
			enter(a, &w, addr, lo, hi);
		if (ki_trail_is_branch(&w, addr + 1, addr + 2))
			ki_analysis_entry(a, target);
	}
	ki_trail_leave(&w);
}
