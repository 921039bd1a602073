/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Numbered things that sessions own: slots.c.
 */
#ifndef KI_SLOTS_H
#define KI_SLOTS_H

#include <linux/list.h>
#include <linux/rbtree.h>
#include <linux/types.h>

struct ki_life;
struct ki_session;

struct ki_slots {
	u32 total, used;
	unsigned long *map; /* NULL: none is used */
	struct rb_root runs;
	void (*forget)(u32 first, u32 count); /* a run is given back; or NULL */
	u8 limit;			      /* enum ki_limit */
};
void ki_slots_init(struct ki_slots *s, u32 total);
int __must_check ki_slots_take(struct ki_slots *s, struct ki_session *session, u32 count,
			       u32 *first, u32 *reason) __must_hold(&ki_lock);
bool ki_slots_own(const struct ki_slots *s, const struct ki_session *session, u64 n, u64 count)
	__must_hold(&ki_lock);
void ki_runs_drop(struct list_head *runs) __must_hold(&ki_lock); /* no code uses them any more */
/* Only code that lived then may: those of its time stay in the list. */
void ki_runs_drop_but(struct list_head *runs, const struct ki_life *users, u32 n)
	__must_hold(&ki_lock);
/* From now on no new code comes to use them. */
void ki_runs_gone(struct list_head *runs) __must_hold(&ki_lock);

#endif
