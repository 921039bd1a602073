/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is held, and by whom: held.c. All with ki_lock held.
 */
#ifndef KI_HELD_H
#define KI_HELD_H

#include "ki.h"

/* A walk to the row that was asked for: so many come before it. */
struct ki_held_walk {
	u64 before;
	struct ki_held *row;
};

/* Is the next row the one? Then its caller fills it. */
bool ki_held_is_next(struct ki_held_walk *w);
void ki_held_sleeper(struct ki_held *row, const struct ki_sleeper *s);

/* Each has rows of its own; true: one of them was the one. */
bool ki_held_retired(struct ki_held_walk *w); /* retire.c */
bool ki_held_return(struct ki_held_walk *w);  /* returns.c */
bool ki_held_process(struct ki_held_walk *w); /* process.c */

int ki_held_tell(struct ki_held *row);

#endif
