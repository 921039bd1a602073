/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A part of kerninst.h: who has opened the device, what each session has put in, and evicting one.
 */
#ifndef _UAPI_KERNINST_SESSIONS_H
#define _UAPI_KERNINST_SESSIONS_H

#include <linux/types.h>

#define KI_COMM_LEN   16
#define KI_MODULE_LEN 56

/*
 * KI_IOC_SESSION: the open session with the smallest number above `session`. -ENOENT: there is
 * none. So all are listed by asking from 0 on. The process is the one that opened it: the
 * descriptor may be another's by now. Patches of several sessions are told each of them, whole.
 */
struct ki_session_row {
	__u32 size;
	__u32 flags;   /* out: KI_SESSION_* */
	__u64 session; /* in: after this one; out: its number, which is never used again */
	__u64 age;     /* out: nanoseconds since it was opened, time asleep included */
	__u64 counted; /* out: the sum of its counters, which may be of anything */
	__u64 heap;    /* out: bytes of the text heap that the patches take which it is in */
	__u32 pid;     /* out: of the process, as the first namespace has it */
	__u32 uid;     /* out: the real user, the same */
	__u32 windows; /* out: of these patches */
	__u32 chunks;  /* out: its own; replacements are chunks too */
	__u32 replaced;
	__u32 counters;
	__u32 globals;
	__u32 words;
	__u32 tables;
	__u32 events;
	__u32 process; /* out: the process that it may change, as the first namespace has it; 0 */
	__u32 places;  /* out: where the text of that one is changed now */
	__u64 pages;   /* out: of its ring, tables and stacks */
	char comm[KI_COMM_LEN];
};

#define KI_SESSION_SELF	   0x1 /* who asks */
#define KI_SESSION_EVICTED 0x2 /* open, but nothing more is done for it */

/*
 * KI_IOC_SESSION_WINDOW: the window with the smallest address not below `addr` in which the
 * session has chunks, or with KI_WINDOW_REPLACED a replacement. -ENOENT: none.
 */
struct ki_session_window {
	__u32 size;
	__u32 flags;		    /* KI_WINDOW_* */
	__u64 session;		    /* its number */
	__u64 addr;		    /* in, out */
	__u64 target;		    /* out: what replaces; 0: nothing of this session */
	__u32 len;		    /* out: bytes that are displaced */
	__u32 chunks;		    /* out: the session's */
	char module[KI_MODULE_LEN]; /* out: which cannot go meanwhile; "": the kernel */
};

#define KI_WINDOW_REPLACED 0x1

/*
 * KI_IOC_EVICT: take out all that a session has installed, as when it is closed. The descriptor
 * stays open, with its counters and buffers, to be read; what else is asked of it is refused with
 * KI_R_EVICTED. It takes to be the user who opened it, or CAP_SYS_ADMIN; the own descriptor may
 * be one for reading. KI_EVICT_ALL: all that the caller may, but for the own. -EBUSY,
 * KI_R_FOREIGN_BREAKPOINT, if another tool stands in a window: that one stays until it has gone,
 * without the session's code.
 */
struct ki_evict {
	__u32 size;
	__u32 flags;   /* KI_EVICT_* */
	__u64 session; /* 0 with KI_EVICT_ALL */
	__u32 evicted; /* out: sessions */
	__u32 reason;  /* out */
};

#define KI_EVICT_ALL 0x1

#define KI_IOC_SESSION	      _IOWR('k', 0x58, struct ki_session_row)
#define KI_IOC_SESSION_WINDOW _IOWR('k', 0x59, struct ki_session_window)
#define KI_IOC_EVICT	      _IOWR('k', 0x5a, struct ki_evict)

#endif
