/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Windows whose call leads elsewhere where it stands.
 */
#ifndef KI_DIRECT_H
#define KI_DIRECT_H

#include "ki.h"

struct ki_link;
struct ki_swap;

/* A verified window: can its call be changed where it stands, if that is wanted? */
u16 __must_check ki_direct_check(const struct ki_win *w) __must_hold(&ki_lock);
/* The call's place, where the springboard's is another. False: another has it. */
bool __must_check ki_direct_claim(struct ki_win *w) __must_hold(&ki_lock);

/* While a patch is linked: the copy of this instruction is next; all stands in its place. */
void ki_direct_copy(struct ki_link *l, const struct ki_win *w, u8 insn);
void ki_direct_decide(struct ki_link *l);

/* Does the call in the text lead to this replacement? */
bool ki_direct_leads(const struct ki_piece *p) __must_hold(&ki_lock);

/* The swaps of the group's window i, which has KI_WINDOW_CALL: 0 to 2. */
u32 ki_direct_swaps(const struct ki_change *c, u32 i, struct ki_swap *out) __must_hold(&ki_lock);

#endif
