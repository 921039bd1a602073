/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A patch while it is linked: what patch.c, which goes through a group, and lay.c, which is asked
 * how copies stand in one that is laid out, share.
 */
#ifndef KI_LINK_H
#define KI_LINK_H

#include "heap/rows.h"

struct ki_link {
	struct ki_group *group;
	struct ki_piece **pieces; /* in the order of what they stand at */
	u32 npieces;
	unsigned long base;
	u32 len;
	u16 reason;
	u32 pad;	    /* bytes of int3 before everything */
	u32 inner[KI_FILL]; /* where the instruction at byte 1 + [i] of the first window stands */
	bool ways;	    /* back: returns.c */
	bool calls;	    /* functions return into it: lay.c */
	u32 npads;	    /* lay.c: how often the next window stands elsewhere in a page */
	u8 *wide;	    /* lay.c: branches that do not reach in their short form */
	u8 *enter;	    /* join.c: how each window is entered */
	unsigned long users, ours; /* the kernel's list of who uses ftrace, and our own there */
	bool fitting;		   /* they are looked for */
	bool wider;		   /* one has been found */
	struct ki_rows rows;
	u8 *buf; /* NULL: only the length is wanted */
};

/* link.c */
/* Code is next. */
void ki_link_put(struct ki_link *l, const u8 *code, u32 len, const struct ki_fixup *fix, u32 nfix);
/* Bytes are next that are not executed. */
void ki_link_fill(struct ki_link *l, u32 len);
/* The next len bytes belong to the original at addr. */
void ki_link_origin(const struct ki_link *l, u32 len, unsigned long addr);
/* A jump is next, where the stack is as at addr, and `pushed` bytes deeper. */
void ki_link_jump(struct ki_link *l, u64 target, unsigned long addr, u32 pushed);
/* Where a branch of the group's code goes: into the patch, if the target is there. */
u64 ki_link_landing(const struct ki_link *l, u64 target);

/* lay.c */
/* The index of the window that stands at a place of the patch. */
u32 ki_lay_at(const struct ki_group *g, u32 place);
/* Where everything stands when each branch is as short as it can be: link_all, again and again. */
void ki_lay_fit(struct ki_link *l, void (*link_all)(struct ki_link *l));
/*
 * Of a group that is laid out: a call's copy, which returns to what is after it in the patch.
 * side: where it goes instead of its target; 0.
 */
void ki_lay_call(struct ki_link *l, const struct ki_win *w, u8 insn, unsigned long side);
/*
 * The copy of a window's last instruction, which has no chunks on its sides, and the way on.
 * then: the window that stands after it in the patch; NULL. False: it is as any copy.
 */
bool ki_lay_end(struct ki_link *l, const struct ki_win *w, const struct ki_win *then);
/* Of a static branch: its key is looked at. Its copy, which jumps if that is not 0, is next. */
void ki_lay_ask(struct ki_link *l, const struct ki_win *w);
/* The window, with what stands before it, is next: where it may begin in a page. */
void ki_lay_begin(struct ki_link *l, const struct ki_win *w);
/* Control falls out of the window. */
void ki_lay_fall(struct ki_link *l, const struct ki_win *w, const struct ki_win *then);
/* Room for what is noted of branches; 0, -ENOMEM. */
int __must_check ki_lay_room(struct ki_link *l);

/* join.c */
/* Which windows of a group of several functions can be entered, and how. */
void ki_join_look(struct ki_link *l);
/* Does something stand before window i when functions of the group call its function? */
bool ki_join_asks(const struct ki_link *l, u32 i);
/* It is next. */
void ki_join_enter(struct ki_link *l, u32 i);
/* Where a branch to a function's start goes: into the patch, if that can be. */
u64 ki_join_landing(const struct ki_link *l, u64 start);

#endif
