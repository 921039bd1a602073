/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Tables of stacks: their memory (stacks.c); taking a stack and finding its row (stack.c); and
 * strings (string.c).
 */
#ifndef KI_STACKS_H
#define KI_STACKS_H

#include <linux/percpu.h>

#include "ki.h"
#include "account/pages.h"

#define KI_STACKS_TABLES 64 /* at once, those of sessions that have just ended included */
#define KI_STACK_OURS	 24 /* frames of the driver that may stand before, or between */

/* Where a stack is taken, for each level: task, softirq, interrupt, NMI. */
struct ki_stack_scratch {
	u64 v[4][KI_STACK_FRAMES + KI_STACK_OURS];
};

struct ki_stacks_table {
	struct ki_stacks_head *head;
	u8 *rows;
	u64 seed;
	u32 mask; /* number of rows less 1 */
	u32 stride;
	u32 frames; /* of a stack, at most */
	struct ki_stack_scratch __percpu *scratch;
	struct ki_sheet sheet; /* the head's page, and the rows' */
};

/* By number. One that code may use is there. */
extern struct ki_stacks_table *ki_stacks_tables[KI_STACKS_TABLES];

/* stacks.c */
struct vm_area_struct;
int ki_stacks_init(void);
int __must_check ki_stacks_check(const struct ki_session *s, struct ki_stacks *req)
	__must_hold(&ki_lock);
int __must_check ki_stacks_take(struct ki_session *s, struct ki_stacks *req)
	__must_hold(&ki_lock); /* one that has been checked */
bool ki_stacks_own(const struct ki_session *s, u64 n) __must_hold(&ki_lock);
int __must_check ki_stacks_map(struct ki_session *s,
			       struct vm_area_struct *vma); /* without ki_lock */

/* stack.c: helpers, between begin and end (helpers.c); what: KI_STACK */
u64 ki_stack_kernel(u32 what, u64 at);
u64 ki_stack_user(u32 what);
u64 ki_stack_kernel_depth(u32 what, u64 at);
u64 ki_stack_user_depth(void);
u64 ki_stack_user_caller(void);
/* The number of a stack of n frames; 0: there is no place. */
u64 ki_stack_number(struct ki_stacks_table *t, u32 tgid, const u64 *frames, u32 n);

/* Has the current task memory of its own that can be read now? */
bool ki_user_memory(void);

/* string.c: helpers, the same; `to` is the uppermost of n words. */
u64 ki_string_kernel(u64 from, u32 n, u64 *to);
u64 ki_string_user(u64 from, u32 n, u64 *to);

#endif
