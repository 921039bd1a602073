/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts of events: of sessions, of helper EVENT, of a switch between threads.
 */
#ifndef KI_EVENT_H
#define KI_EVENT_H

#include "data/threads.h"

/* event.c */
int ki_events_init(void);
void ki_events_exit(void);
int __must_check ki_event_check(struct ki_event_req *req);
int __must_check ki_event_take(struct ki_session *s, struct ki_event_req *req)
	__must_hold(&ki_lock); /* one that has been checked */

/* Bits: events of which each thread's own count is kept. */
extern u32 ki_events_owned;

/* A switch, in two steps, interrupts off: count; then, with only stores, from one to the other.
   from, to: NULL is allowed. */
void ki_events_count(u32 owned);
void ki_events_change(u32 owned, struct ki_thread *from, const struct ki_thread *to);

/* What helper EVENT returns. In any context. */
u64 ki_event_read(u64 which);
u64 ki_event_last(u64 which); /* what was said last: calls nothing */

#endif
