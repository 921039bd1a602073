/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A splice request while it is worked on: made by splice.c, checked by check.c.
 */
#ifndef KI_JOB_H
#define KI_JOB_H

#include <linux/sched/signal.h>

#include "ki.h"
#include "yield.h"

/* What the caller may do: asked once in a request, if it needs it. */
struct ki_right {
	bool asked;
	u16 answer; /* KI_R_* */
};

#define KI_JOB_VETTED 4

struct ki_job {
	struct ki_session *session;
	struct ki_splice *req;
	struct ki_window *windows;
	struct ki_copy *copies;
	struct ki_chunk *chunks;
	struct ki_win **wins;	   /* one for each window */
	struct ki_change *changes; /* one for each of their groups */
	u32 nchanges;
	struct ki_piece **pieces;    /* one for each chunk */
	struct ki_long_taken *longs; /* of each chunk; NULL: none is long */
	/* May it lead control into functions of the kernel, write to processes? Send signals? */
	struct ki_right may_call, may_signal;
	/* Long chunks that were the last to be accepted: the same is not vetted again. */
	const struct ki_long_code *vetted[KI_JOB_VETTED];
	u32 nvetted; /* so many have been noted, each in its turn */
	bool stale;  /* modules have come or gone: to be checked once more */
};

/*
 * Check everything; each refused window or chunk gets its reason. Fills wins[] and their
 * groups; new ones are the caller's to free, with the sites that they have claimed. The first
 * error.
 */
int __must_check ki_job_check(struct ki_job *j) __must_hold(&ki_lock);

/*
 * Between two of many, while nothing has changed yet: others run, and who is being killed stops.
 * -EINTR: the task is.
 */
static inline int __must_check ki_job_pause(void)
{
	ki_yield();
	return fatal_signal_pending(current) ? -EINTR : 0;
}

/* check_chunk.c: its part; the windows have been checked. */
int ki_job_check_chunks(struct ki_job *j);
/* circle.c: its part; nothing has been refused yet. */
int __must_check ki_job_check_circles(struct ki_job *j) __must_hold(&ki_lock);
u16 ki_check_fixups(const struct ki_fixup *f, u8 n, u8 len);

#endif
