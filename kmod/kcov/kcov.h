/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * KCOV: the kernel's own interface for coverage, on kernels that are built without it. kcov.c has
 * the file, its requests, and which task is traced; kcov_trace.c what a block does that is passed.
 */
#ifndef KI_KCOV_H
#define KI_KCOV_H

#include <linux/list.h>
#include <linux/percpu.h>
#include <linux/sched.h>

#include "ki.h"

struct ki_kcov;

/* A task that is traced. Only itself, or its end, ends that. */
struct ki_kcov_trace {
	struct hlist_node in_chain;
	struct task_struct *task;
	u64 *area; /* how many addresses follow, and these; user space writes there, too */
	u64 size;  /* words, 2 or more */
	struct ki_kcov *kcov;
	struct rcu_head rcu;
};

/*
 * The trace of the task that runs here; NULL: it has none (KI_SELF_KCOV). It is the next task's
 * from where the scheduler tells of a switch.
 */
DECLARE_PER_CPU(struct ki_kcov_trace *, ki_kcov_here);

extern u64 ki_kcov_slide; /* how far the kernel has been moved from where it was linked */

int ki_kcov_init(void);
void ki_kcov_exit(void);

#endif
