/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much a session and a user may take: limit.c.
 */
#ifndef KI_LIMIT_H
#define KI_LIMIT_H

#include <linux/types.h>

enum ki_limit {
#define KI_LIMIT(tag, name, what) KI_LIMIT_##tag,
#include "account/limit_rows.h"
	KI_LIMITS
};

/* What has been charged to a session, and with it to its user. */
struct ki_account;

int ki_limits_init(void);
/* So much there is of it, in all: limits that are not set become a part of that. */
void ki_limit_total(enum ki_limit l, u64 total);

/*
 * ki_lock held. An account stays until all that was charged to it has been given back, which may be
 * long after its session. A new one is the current user's, and has KI_LIMIT_SESSIONS charged once.
 */
int __must_check ki_account_new(struct ki_account **out) __must_hold(&ki_lock);
/* 0, or -EDQUOT and the reason, and nothing is charged. */
int __must_check ki_account_take(struct ki_account *a, enum ki_limit l, u64 n, u32 *reason)
	__must_hold(&ki_lock);
/* The same in two steps, where something is between them. */
int __must_check ki_account_check(struct ki_account *a, enum ki_limit l, u64 n, u32 *reason)
	__must_hold(&ki_lock);
void ki_account_add(struct ki_account *a, enum ki_limit l, u64 n) __must_hold(&ki_lock);
u64 ki_account_used(const struct ki_account *a, enum ki_limit l) __must_hold(&ki_lock);
void ki_account_give(struct ki_account *a, enum ki_limit l, u64 n) __must_hold(&ki_lock);

#endif
