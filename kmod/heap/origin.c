// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which original address an address in a patch stands for.
 *
 * For each unit of the heap: where the code stands in the original that its first byte is of. It
 * is the lower 32 bits (all text is in the upper 2 GiB). An unwinder of a stack reads it in any
 * context, without locks. It is written while a patch is linked, before any task runs it. It stays
 * until the heap's place is used again, which is when no task can be there any more.
 */
#include "heap/rows.h"
#include "reach/reach.h"

static u32 *ki_origins;
static unsigned long ki_origin_base;

void ki_origin_start(void)
{
	ki_origins = ki_reach_start(KI_REACH_ORIGINS);
	ki_origin_base = (unsigned long)ki_reach_start(KI_REACH_HEAP);
}

void ki_origin_note(unsigned long at, u32 len, unsigned long addr)
{
	unsigned long off = at - ki_origin_base, end = off + len;

	for (off = ALIGN(off, KI_HEAP_UNIT); off < end; off += KI_HEAP_UNIT)
		WRITE_ONCE(ki_origins[off / KI_HEAP_UNIT], addr);
}

unsigned long ki_origin_of(unsigned long at)
{
	unsigned long off = at - ki_origin_base;

	if (off >= ki_heap_reach())
		return 0;
	return (unsigned long)(s32)READ_ONCE(ki_origins[off / KI_HEAP_UNIT]);
}
