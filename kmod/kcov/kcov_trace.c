// SPDX-License-Identifier: GPL-2.0-only
/*
 * A block has been passed (helper KCOV), or two values are compared (KCOV_COMPARISON, whose values
 * helpers.c fetches).
 *
 * This calls nothing, so it needs no guard against itself. The trace cannot go meanwhile: only the
 * task itself ends it, in a request or when it exits, and the task is here. An interrupt on top of
 * the task is no task's work and records nothing. What runs in the task's own name after an
 * interrupt (the scheduler) may come between reading the count and writing it. Then what it
 * recorded is overwritten: so it is with KCOV. The count is written before the record: see there.
 *
 * The count is user space's to write: it is read once, and compared.
 *
 * A task that exits is not traced any more, though its trace ends a little later (kcov.c): when it
 * can be seen that it has gone its file may be another's.
 */
#include <linux/compiler.h>
#include <linux/preempt.h>

#include <uapi/linux/kcov.h>

#include "kcov/kcov.h"

/* Is the current task's work recorded in t? */
static __always_inline bool records(const struct ki_kcov_trace *t)
{
	return t && t->task == current && !(current->flags & PF_EXITING) && in_task();
}

/* One more record, with that number; false: there is no room. */
static __always_inline bool take(u64 *area, u64 room, u64 *number)
{
	*number = READ_ONCE(*area);
	if (*number >= room)
		return false;
	WRITE_ONCE(*area, *number + 1);
	barrier();
	return true;
}

void ki_do_KCOV(u64 addr);
notrace void ki_do_KCOV(u64 addr)
{
	const struct ki_kcov_trace *t = this_cpu_read(ki_kcov_here.blocks);
	u64 *area, number;

	if (!records(t))
		return;
	area = t->area;
	if (take(area, t->room, &number))
		WRITE_ONCE(area[1 + number], addr - ki_kcov_slide);
}

notrace bool ki_kcov_compares(void)
{
	return records(this_cpu_read(ki_kcov_here.comparisons));
}

notrace void ki_kcov_comparison(u64 what, const u64 v[2])
{
	const struct ki_kcov_trace *t = this_cpu_read(ki_kcov_here.comparisons);
	u64 number, *to;

	if (!records(t) || !take(t->area, t->room, &number))
		return;
	to = t->area + 1 + number * KI_KCOV_COMPARISON_WORDS;
	WRITE_ONCE(to[0], KCOV_CMP_SIZE(what >> 32 & 3) |
				  (what >> 34 & KI_COMPARISON_CONST ? KCOV_CMP_CONST : 0));
	WRITE_ONCE(to[1], v[0]);
	WRITE_ONCE(to[2], v[1]);
	WRITE_ONCE(to[3], (u64)(s32)what - ki_kcov_slide);
}
