/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What has been taken out, until it can be given back: retire.c. Rooms that retire call down; what
 * is above and wants to know that space has come back says so to ki_retire_init.
 */
#ifndef KI_RETIRE_H
#define KI_RETIRE_H

#include "ki.h"

/* space_back is called with ki_lock held, each time that retired patches have been looked at. */
void ki_retire_init(void (*space_back)(void));
void ki_retire_patch(struct ki_patch p) __must_hold(&ki_lock);
void ki_retire_module(struct module *m) __must_hold(&ki_lock); /* NULL is allowed */
/* Numbers that sessions own (struct ki_run); the list is empty afterwards. */
void ki_retire_runs(struct list_head *runs) __must_hold(&ki_lock);
/* Patches have been given back in which a task may have been about to push a return trampoline. */
u64 ki_retire_ways_freed(void);
/* Lets ki_lock go: until the runs that are retired have been looked at. -ENOENT: none are. */
int __must_check ki_retire_wait_runs(void) __must_hold(&ki_lock);
/* Until all is given back. Without ki_lock, when nothing new can be retired. */
void ki_retire_finish(void);

#endif
