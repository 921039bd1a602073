/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Between two of many: a chance for other tasks.
 *
 * Nothing is called while no other task is to run: loops come here for each of thousands, and the
 * entry of cond_resched() may have a counter, or a breakpoint while they are written. When RCU
 * waits for this CPU, its tick asks for another task. Where the kernel looks for calls with a lock
 * held, it looks each time.
 */
#ifndef KI_YIELD_H
#define KI_YIELD_H

#include <linux/sched.h>

static inline void ki_yield(void)
{
#ifndef CONFIG_DEBUG_ATOMIC_SLEEP
	if (!need_resched())
		return;
#endif
	cond_resched();
}

#endif
