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

#define KI_KCOV_COMPARISON_WORDS 4 /* type, both values, address */

/* A task that is traced. Only itself, or its end, ends that. */
struct ki_kcov_trace {
	struct hlist_node in_chain;
	struct task_struct *task;
	bool compares; /* comparisons are recorded, not blocks */
	u64 *area;     /* how many records follow, and these; user space writes there, too */
	u64 room;      /* for so many of them */
	struct ki_kcov *kcov;
	struct rcu_head rcu;
};

/*
 * The trace of the task that runs here, of blocks (KI_SELF_KCOV) or of comparisons
 * (KI_SELF_KCOV_COMPARISONS), never both; NULL: it has none. It is the next task's from where the
 * scheduler tells of a switch.
 */
struct ki_kcov_cpu {
	struct ki_kcov_trace *blocks, *comparisons;
};
DECLARE_PER_CPU(struct ki_kcov_cpu, ki_kcov_here);

extern u64 ki_kcov_slide; /* how far the kernel has been moved from where it was linked */

/* Does the current task's work go into its trace of comparisons here? */
bool ki_kcov_compares(void);
/* Then v, values of 1 << log2 bytes: user space's layout is that of 6.1's kcov.c. */
void ki_kcov_comparison(u64 what, const u64 v[2]);

int ki_kcov_init(void);
void ki_kcov_exit(void);

#endif
