/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Who changes the kernel's text, and processes', told to those who watch: who.c; when the kernel
 * dies: panic.c; to those who want a module to go: holders.c.
 */
#ifndef KI_WHO_H
#define KI_WHO_H

#include "ki.h"

enum ki_who_what { KI_WHO_INSTALL, KI_WHO_CHANGE, KI_WHO_REMOVE, KI_WHO_WHATS };

/* What one request, or the end of a session, has changed. */
struct ki_who {
	u64 session; /* in whose name; 0: none's */
	u32 windows[KI_WHO_WHATS];
	u32 replaced;	     /* windows whose function or call is replaced from now on */
	unsigned long first; /* the first of all */
	unsigned long by;    /* the first replacement */
};

/* ki_lock held: changes are w's, from one to the other. s: NULL is none */
void ki_who_begin(struct ki_who *w, const struct ki_session *s);
void ki_who_end(void);
void ki_who_is(const struct ki_session *s);	/* whose windows they are, where that is another */
void ki_who_changed(const struct ki_change *c); /* it is about to be recorded */
/* Without ki_lock: may sleep, for as long as the system's audit wants it. */
void ki_who_tell(const struct ki_who *w);

/*
 * `places` of a process's text have been changed, the first of them there; or given back, which a
 * thread of the kernel does. Without ki_lock, the same.
 */
struct ki_who_process {
	u64 session;
	u64 first;
	u32 pid; /* as the first namespace has it */
	u32 places;
	bool back;
};
void ki_who_tell_process(const struct ki_who_process *w);

/* The windows changed last, the newest at (ki_who_count() - 1) % KI_WHO_LAST; read without a lock.
 */
#define KI_WHO_LAST 8
struct ki_who_last {
	u64 session;
	unsigned long addr;
	u8 what;
};
extern struct ki_who_last ki_who_last[KI_WHO_LAST];
u32 ki_who_count(void);
const char *ki_who_word(u8 what);

/* holders.c; ki_lock held: a window or a piece has come (in), or goes, with what it holds */
void ki_holder_window(const struct ki_win *w, bool in);
void ki_holder_piece(const struct ki_piece *p, bool in);
void ki_holders_update(void);

/* panic.c */
int ki_panic_init(void);
void ki_panic_exit(void);

#endif
