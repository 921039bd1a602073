/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who has opened the device: sessions.c; and evicting a session: evict.c. All with ki_lock held.
 */
#ifndef KI_SESSIONS_H
#define KI_SESSIONS_H

#include <linux/list.h>
#include <linux/types.h>

#include "uapi/kerninst.h"

/* Of a session. */
struct ki_owner {
	struct list_head list; /* of all that are open, in order of their numbers */
	u64 since;	       /* nanoseconds of the clock that goes on asleep */
	u32 pid, uid;	       /* as the first namespaces have them */
	bool evicted;
	char comm[KI_COMM_LEN];
};

struct ki_session;
void ki_owner_begin(struct ki_session *s)
	__must_hold(&ki_lock); /* the current process; the session has its number */
void ki_owner_end(struct ki_session *s) __must_hold(&ki_lock);
/* The session with the smallest number from there on; NULL. */
struct ki_session *ki_owner_from(u64 serial) __must_hold(&ki_lock);

/* Without ki_lock, for a kernel that dies: at most so many. */
typedef void (*ki_owner_fn)(const struct ki_session *s, bool whole);
void ki_owner_each(ki_owner_fn call, bool whole, u32 max);

int ki_sessions_tell(struct ki_session *asker, struct ki_session_row *row) __must_hold(&ki_lock);
int ki_sessions_tell_window(struct ki_session_window *w) __must_hold(&ki_lock);

int ki_evict(struct ki_session *asker, struct ki_evict *req) __must_hold(&ki_lock);
/* 0, or -EBUSY: another tool stands in a window of one. *n: how many sessions were evicted. */
int __must_check ki_evict_all(u32 *n) __must_hold(&ki_lock);

/* Ways to ask for that without a tool. */
int ki_evict_init(void);
void ki_evict_exit(void);

#endif
