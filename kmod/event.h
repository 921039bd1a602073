/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Counts of events, as helper EVENT and a switch between threads need them.
 */
#ifndef KI_EVENT_H
#define KI_EVENT_H

#include "threads.h"

/* Bits: events of which each thread's own count is kept. */
extern u32 ki_events_owned;

/* A switch, in two steps, interrupts off: count; then, with only stores, from one to the other.
   from, to: NULL is allowed. */
void ki_events_count(u32 owned);
void ki_events_change(u32 owned, struct ki_thread *from, const struct ki_thread *to);

/* What helper EVENT returns. In any context. */
u64 ki_event_read(u64 which);

#endif
