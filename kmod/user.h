/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Arrays of a request, from and to user memory: user.c. Never with ki_lock held.
 */
#ifndef KI_USER_H
#define KI_USER_H

#include <linux/gfp.h>

#include "ki.h"

/* Of memory that a request takes: charged to who asks, and refused rather than fought for. */
#define KI_GFP (GFP_KERNEL_ACCOUNT | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

/* 0, -EFAULT, or -EINTR: the task is being killed. */
int __must_check ki_user_take(void *to, u64 from, size_t bytes);
int __must_check ki_user_give(u64 to, void *from, size_t bytes);
/* A user's array in memory of ki_array; NULL if n is 0 or *err is, or becomes, an error. */
void *ki_user_array(u64 from, u32 n, size_t each, int *err);

#endif
