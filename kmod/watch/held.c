// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of what is held, for rooms that have some.
 */
#include <linux/string.h>

#include "watch/held.h"

bool ki_held_is_next(struct ki_held_walk *w)
{
	return !w->before--;
}

void ki_held_sleeper(struct ki_held *row, const struct ki_sleeper *s)
{
	row->reason = KI_R_ASLEEP;
	row->count = 1;
	row->pid = s->pid;
	memcpy(row->comm, s->comm, sizeof(row->comm));
}
