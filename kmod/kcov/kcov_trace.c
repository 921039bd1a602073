// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper KCOV: a block has been passed.
 *
 * It calls nothing, so it needs no guard against itself. The trace cannot go meanwhile: only the
 * task itself ends it, in a request or when it exits, and the task is here. An interrupt on top of
 * the task is no task's work and records nothing; what runs in the task's own name behind an
 * interrupt (the scheduler) may come between reading the count and writing it, and then what it
 * recorded is overwritten: so it is with KCOV. The count is written before the address: see there.
 *
 * The count is user space's to write: it is read once, and compared.
 *
 * A task that exits is not traced any more, though its trace ends a little later (kcov.c): when it
 * can be seen that it has gone its file may be another's.
 */
#include <linux/compiler.h>
#include <linux/preempt.h>

#include "kcov/kcov.h"

void ki_do_KCOV(u64 addr);
notrace void ki_do_KCOV(u64 addr)
{
	const struct ki_kcov_trace *t = this_cpu_read(ki_kcov_here);
	u64 *area, pos;

	if (!t || t->task != current || (current->flags & PF_EXITING) || !in_task())
		return;
	area = t->area;
	pos = READ_ONCE(*area) + 1;
	if (pos >= t->size)
		return;
	WRITE_ONCE(*area, pos);
	barrier();
	WRITE_ONCE(area[pos], addr - ki_kcov_slide);
}
