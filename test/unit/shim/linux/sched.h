/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef SHIM_SCHED_H
#define SHIM_SCHED_H

static inline void cond_resched(void)
{
}

static inline int need_resched(void)
{
	return 0;
}

#endif
