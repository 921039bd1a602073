/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A part of kerninst.h: what has been taken out and could not be given back yet, and who holds it.
 */
#ifndef _UAPI_KERNINST_HELD_H
#define _UAPI_KERNINST_HELD_H

#include <linux/types.h>

#include "kerninst_sessions.h"

/* What is held. Nothing of it is executed. */
/* clang-format off */
enum ki_held_kind {
	/* Windows of a group without a chunk, where another tool stands: FOREIGN_BREAKPOINT. */
	KI_HELD_WINDOWS,
	/* Chunks that are jumped over in a patch which others use. HEAP_FULL: there is no room for
	   the patch without them; or FOREIGN_BREAKPOINT. */
	KI_HELD_MUTED,
	/* A patch that nothing leads to any more, in which a task sleeps in a fault: ASLEEP. */
	KI_HELD_PATCH,
	/* Where a task returns to that is in the function which a tail jump went to: ASLEEP. */
	KI_HELD_TRAMPOLINE,
	/* Text of a process, whose memory is locked: PROCESS_LOCKED. */
	KI_HELD_PROCESS,
	KI_HELD_KINDS
};
/* clang-format on */

/*
 * KI_IOC_HELD: one thing that is held. -ENOENT: there are not so many. So all are listed by asking
 * with 0, 1, 2 ...; they come and go meanwhile.
 */
struct ki_held {
	__u32 size;
	__u32 kind;   /* out: enum ki_held_kind */
	__u64 index;  /* in: its number */
	__u64 addr;   /* out: of the window that the other tool stands in, or of the first; of the
			 patch; of the return trampoline; in the process */
	__u64 bytes;  /* out: of the text heap */
	__u64 holder; /* out: the function that the kprobe calls, or 0 */
	__u32 count;  /* out: of windows, of chunks, 1, or of places of the process */
	__u32 reason; /* out: KI_R_* */
	__u32 pid; /* out: a task that sleeps there, or the process, as the first namespace has it;
		      0: not known */
	__u32 zero;
	char comm[KI_COMM_LEN]; /* out: of that task */
};

#define KI_IOC_HELD _IOWR('k', 0x60, struct ki_held)

#endif
