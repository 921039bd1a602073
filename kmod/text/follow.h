/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Functions that others lead to, by calls and jumps with their distance in them: each is decoded
 * once, as it stands in the text without what we have put in. follow.c
 */
#ifndef KI_FOLLOW_H
#define KI_FOLLOW_H

#include <linux/types.h>

#define KI_FOLLOW_FUNCTIONS 1024

struct ki_follow {
	/* Control may go from the function at `from` to `to`, another one. */
	void (*leaves)(struct ki_follow *f, unsigned long from, unsigned long to);
	/* It goes from there wherever a register or memory says; NULL: that is nothing. */
	void (*leaves_by_pointer)(struct ki_follow *f, unsigned long from);
	/* What is there cannot be read, or there is too much. */
	void (*lost)(struct ki_follow *f, const char *what, unsigned long at);
	bool enough; /* the one that is told sets it: nothing more is read */
	u8 *bytes;   /* of the function that is read */
	u32 n, done;
	struct {
		unsigned long start, end;
		bool read;
	} v[KI_FOLLOW_FUNCTIONS];
};

/* One that has met nothing, for ki_follow_free; NULL: no memory. May sleep. */
struct ki_follow *ki_follow_new(void);
void ki_follow_free(struct ki_follow *f);
/* The function that has `addr` is one of them, and is read or not. False: it was, or there is none.
 */
bool ki_follow_meet(struct ki_follow *f, unsigned long addr, bool read);
/* Read all that is met, and what is met by it. Lets others run. */
void ki_follow_all(struct ki_follow *f) __must_hold(&ki_lock);

#endif
