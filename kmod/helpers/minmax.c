// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper MINMAX: minimum and maximum of variables.
 *
 * A chunk compares, and calls this only if the variable would change; what comes between the
 * comparison and the change makes it compare again. So none is lost, from any context: there is no
 * lock, and who interrupts it, an NMI too, is over before it goes on. Code of chunks only goes
 * forward and cannot do this itself.
 *
 * Variables of a CPU, and the thread's words, need no lock prefix: only what runs on this CPU
 * changes them. The thread may be moved to another CPU in between. Then that one's variable is
 * compared with what this one's was, and changed if it is equal. The value goes where it is beyond
 * what is there, or has been below one of the variables that are merged.
 *
 * It calls nothing, so that it is never in the middle of itself for longer than an interrupt. What
 * has fewer than 8 bytes leaves the others of its word as they are.
 */
#include <linux/compiler.h>

#include "data/minmax.h"
#include "uapi/kerninst.h"

static __always_inline u64 bits_above(u32 what)
{
	return 64 - (8u << (what / KI_MINMAX_SIZE & 3));
}

static __always_inline bool is_beyond(u32 what, u64 x, u64 old)
{
	u64 up = bits_above(what), flip = what & KI_MINMAX_SIGNED ? 1ull << 63 : 0;

	x = (x << up) ^ flip;
	old = (old << up) ^ flip;
	return what & KI_MINMAX_MAX ? x > old : x < old;
}

static __always_inline u64 put_into(u32 what, u64 x, u64 old)
{
	u64 mask = ~0ull >> bits_above(what);

	return (old & ~mask) | (x & mask);
}

/* %gs:at */
static __always_inline u64 read_here(s64 at)
{
	u64 v;

	asm volatile("movq %%gs:(%1), %0" : "=r"(v) : "r"(at) : "memory");
	return v;
}

/* If the word is *old, make it `then`; if not, *old is what it is. */
#define KI_TAKE_OVER(name, type, instruction)                                                      \
	static __always_inline bool name(type at, u64 *old, u64 then)                              \
	{                                                                                          \
		bool done;                                                                         \
		asm volatile(instruction                                                           \
			     : "=@cce"(done), "+a"(*old)                                           \
			     : "r"(then), "r"(at)                                                  \
			     : "memory");                                                          \
		return done;                                                                       \
	}
KI_TAKE_OVER(take_over, u64 *, "cmpxchgq %2, (%3)")
KI_TAKE_OVER(take_over_here, s64, "cmpxchgq %2, %%gs:(%3)")
KI_TAKE_OVER(take_over_shared, u64 *, "lock cmpxchgq %2, (%3)")

#define KI_UNTIL_DONE(what, x, old, take, at)                                                      \
	while (is_beyond(what, x, old) && unlikely(!take(at, &(old), put_into(what, x, old))))     \
	barrier()

u64 ki_do_MINMAX(u32 what, u64 x, u64 index);
notrace u64 ki_do_MINMAX(u32 what, u64 x, u64 index)
{
	u64 number = what / KI_MINMAX_NUMBER, old, *at;
	s64 here;

	if (what & KI_MINMAX_INDEXED)
		number += index;
	switch (KI_MINMAX_OF(what)) {
	case KI_MINMAX_CPU:
		here = ki_minmax_from.counters + (s64)number * 8;
		old = read_here(here);
		KI_UNTIL_DONE(what, x, old, take_over_here, here);
		break;
	case KI_MINMAX_GLOBAL:
		at = ki_minmax_from.globals + number;
		old = READ_ONCE(*at);
		KI_UNTIL_DONE(what, x, old, take_over_shared, at);
		break;
	default:
		at = (u64 *)read_here(ki_minmax_from.words);
		if (!at)
			break;
		at += number;
		old = READ_ONCE(*at);
		KI_UNTIL_DONE(what, x, old, take_over, at);
	}
	return 0;
}
