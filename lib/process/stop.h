/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Threads of a process, held by ptrace: all of them by the guard, one after the other by who reads
 * their stacks (stack_copies.c).
 */
#ifndef KI_PROCESS_STOP_H
#define KI_PROCESS_STOP_H

#include <stdbool.h>
#include <sys/types.h>
#include <sys/user.h>

#include "kerninst/err.h"
#include "util/vec.h"

struct ki_thread {
	pid_t tid;
	int signal; /* it has been stopped on the way to this one, which it gets when it goes on */
	bool stopped;
	bool changed; /* its registers */
	struct user_regs_struct regs;
};

struct ki_stop {
	pid_t pid;
	uint64_t patience;	 /* nanoseconds, until one that does not stop is stuck */
	uint64_t patience_ready; /* of one that waits for a CPU; 0: the same */
	uint64_t begun,
		held; /* nanoseconds: when the first was asked, how long until the last went */
	ki_vec(struct ki_thread) threads;
};

/*
 * Stop all threads, those too that are born meanwhile, and read their registers. most: 1 stops only
 * one of them. -ESRCH: the process has ended; KI_R_PROCESS_TRACED, _PERMISSION, _STUCK, and then
 * nobody is held. Else ki_stop_release.
 */
int ki_stop_threads(struct ki_stop *s, pid_t pid, size_t most, struct ki_err *err);

/*
 * The same for one thread; if it has ended there is none in s->threads. One that is stuck cannot be
 * let go: it stays traced until the calling thread has ended.
 */
int ki_stop_thread(struct ki_stop *s, pid_t tid, struct ki_err *err);

/* Let them go on, with their registers as they are noted, where they have changed. */
void ki_stop_release(struct ki_stop *s);

uint64_t ki_now(void); /* nanoseconds */

/* remote.c: system calls that a stopped thread makes for us. */
struct ki_remote {
	struct ki_thread *t;
	uint64_t insn; /* a syscall instruction of the process */
	uint64_t mask; /* of its signals */
	bool lost;     /* it has died */
};

/* Of all signals, none comes in between. 0, or -errno. */
int ki_remote_begin(struct ki_remote *r, struct ki_thread *t, uint64_t insn);
long ki_remote_call(struct ki_remote *r, long number, const uint64_t args[6]); /* or -errno */
/* Registers, signal mask, an interrupted system call: as they were. */
void ki_remote_end(struct ki_remote *r);

/* Does the thread filter its system calls, otherwise than we do? What is not its own may be refused
   then, and a filter may kill. */
bool ki_thread_filters(pid_t tid);

/* A stopped thread that can be lent: in 64-bit code, on the way to no signal, in no restartable
   sequence, without a filter. NULL: none. */
struct ki_thread *ki_remote_lend(struct ki_stop *s, int mem);

#endif
