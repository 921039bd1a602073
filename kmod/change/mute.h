/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Pieces that stand in a patch and are jumped over: mute.c. All with ki_lock held.
 */
#ifndef KI_MUTE_H
#define KI_MUTE_H

#include "ki.h"

/*
 * Mute the dying pieces of a session, which are none of it any more. When it returns no task runs
 * them.
 */
void ki_mute(struct ki_session *s);
void ki_mute_forget(struct ki_piece *p); /* it is freed, muted or not */
u32 ki_mute_count(void);
u32 ki_mute_in(const struct ki_group *g); /* how many */

#endif
