/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Room for a mapping of ours: at the upper end of a gap, right below something else. There nothing
 * grows: the heap grows up into a gap, from its lower end, and of what grows down, stacks, the gap
 * below is not taken. In a wide gap not quite at its end, where the process maps what comes next,
 * stacks of threads for example. Above a program at a low address the gap's end is out of reach:
 * there as far up in it as jumps reach, above what the heap may grow to.
 */
#include <string.h>

#include "process/linked.h"

#define REACH	((1ull << 31) - (64 << 10))
#define LOWEST	(64ull << 10) /* what mmap_min_addr usually is */
#define DISTANT (16 * KI_PAGE)
#define WIDE	(1ull << 30)
#define ASIDE	(256ull << 20)

static uint64_t distance(uint64_t base, size_t len, uint64_t lo, uint64_t hi)
{
	uint64_t up = hi > base ? hi - base : 0, down = base + len > lo ? base + len - lo : 0;

	return up > down ? up : down;
}

static bool is_taken(const struct ki_linked *x, uint64_t base, size_t len)
{
	for (size_t i = 0; i < x->arenas.n; i++) {
		const struct ki_arena *a = &x->arenas.v[i];

		if (a->base && base < a->base + x->counters_len + a->len + a->rows &&
		    a->base < base + len)
			return true;
	}
	return false;
}

/* The best place so far, and this one. */
static uint64_t better(const struct ki_linked *x, uint64_t best, uint64_t base, uint64_t lo,
		       uint64_t hi, size_t len)
{
	const uint64_t far = distance(base, len, lo, hi);

	if (far >= REACH || is_taken(x, base, len))
		return best;
	return !best || far < distance(best, len, lo, hi) ? base : best;
}

uint64_t ki_room_find(const struct ki_mappings *maps, const struct ki_linked *x, uint64_t lo,
		      uint64_t hi, size_t len)
{
	uint64_t best = 0, near = 0, high = 0, from = LOWEST,
		 top = (lo + REACH - len) & ~(KI_PAGE - 1);

	for (size_t i = 0; i < maps->m.n; from = maps->m.v[i++].end) {
		const struct ki_mapping *m = &maps->m.v[i];

		if (m->start < from || m->start - from < len + 2 * DISTANT ||
		    !strcmp(ki_mapping_path(maps, m), "[stack]"))
			continue;
		near = better(x, near, m->start - DISTANT - len, lo, hi, len);
		if (m->start - from >= WIDE)
			best = better(x, best, m->start - ASIDE - len, lo, hi, len);
		if (len < REACH && top > from + WIDE && top + len + DISTANT < m->start)
			high = better(x, high, top - KI_PAGE, lo, hi, len);
	}
	if (!best)
		best = near;
	return best ? best : high;
}
