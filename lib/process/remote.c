/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * System calls that a stopped thread makes for us: to map memory, which nobody else can do for a
 * process. It is lent a syscall instruction that is there anyway, with its signals held back.
 *
 * A thread that slept in a system call has a kernel's errno in %rax (restart), which is looked at
 * when it goes on from a stop on the return to user space, and only there: so behind our calls it
 * is brought to such a stop again, and its registers are given back there. No breakpoint and no
 * single step is used: they come as signals, and what the process has said of SIGTRAP would be
 * lost.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>

#include "process/stop.h"
#include "target/process.h"

#define USER_CODE 0x33
#define STOPS	  1000
#define NO_CALL	  (~0ull) /* orig_rax: in no system call */

struct rseq_place {
	uint64_t pointer;
	uint32_t size, signature, flags, pad;
};

struct rseq_cs {
	uint32_t version, flags;
	uint64_t start, len, abort;
};

/*
 * In a restartable sequence? The kernel forgets it when the thread runs elsewhere; and then it
 * would not begin again.
 */
static bool in_rseq(const struct ki_thread *t, int mem)
{
	struct rseq_place place = {0};
	struct rseq_cs cs;
	uint64_t at;

	if (ptrace(PTRACE_GET_RSEQ_CONFIGURATION, t->tid, sizeof(place), &place) <= 0 ||
	    !place.pointer || ki_process_peek(mem, place.pointer + 8, &at, sizeof(at)) || !at ||
	    ki_process_peek(mem, at, &cs, sizeof(cs)))
		return false;
	return t->regs.rip - cs.start < cs.len;
}

bool ki_thread_filters(pid_t tid)
{
	char mode[16] = "0", filters[16] = "", own[16] = "";

	/* Nearly always this is all: threads are held meanwhile. */
	ki_process_status(tid, "Seccomp", mode, sizeof(mode));
	if (!strcmp(mode, "0"))
		return false;
	ki_process_status(tid, "Seccomp_filters", filters, sizeof(filters));
	ki_process_status(getpid(), "Seccomp_filters", own, sizeof(own));
	return strcmp(mode, "2") || strcmp(filters, own);
}

struct ki_thread *ki_remote_lend(struct ki_stop *s, int mem)
{
	for (size_t i = 0; i < s->threads.n; i++) {
		struct ki_thread *t = &s->threads.v[i];

		if (t->regs.cs == USER_CODE && !t->signal && !in_rseq(t, mem) &&
		    !ki_thread_filters(t->tid))
			return t;
	}
	return NULL;
}

/* Let it go on to its next stop of this kind: 0 (a system call), or PTRACE_EVENT_STOP. */
static int go(struct ki_remote *r, int request, int event)
{
	int status;

	/* Others of its stops come between, but never many: one that has no end is ended here. */
	for (unsigned int i = 0; i < STOPS; i++) {
		pid_t got;

		if (ptrace(request, r->t->tid, NULL, NULL))
			break;
		do
			got = waitpid(r->t->tid, &status, __WALL);
		while (got < 0 && errno == EINTR);
		if (got < 0 || !WIFSTOPPED(status))
			break;
		if (status >> 16 == event && (event || WSTOPSIG(status) == (SIGTRAP | 0x80)))
			return 0;
	}
	r->lost = true;
	return -ESRCH;
}

int ki_remote_begin(struct ki_remote *r, struct ki_thread *t, uint64_t insn)
{
	uint64_t all = ~0ull;

	*r = (struct ki_remote){.t = t, .insn = insn};
	if (ptrace(PTRACE_GETSIGMASK, t->tid, sizeof(r->mask), &r->mask) ||
	    ptrace(PTRACE_SETSIGMASK, t->tid, sizeof(all), &all))
		return -errno;
	return 0;
}

long ki_remote_call(struct ki_remote *r, long number, const uint64_t args[6])
{
	struct user_regs_struct regs = r->t->regs;

	if (r->lost)
		return -ESRCH;
	regs.rip = r->insn;
	regs.rax = (uint64_t)number;
	regs.orig_rax = NO_CALL;
	regs.rdi = args[0];
	regs.rsi = args[1];
	regs.rdx = args[2];
	regs.r10 = args[3];
	regs.r8 = args[4];
	regs.r9 = args[5];
	if (ptrace(PTRACE_SETREGS, r->t->tid, NULL, &regs) || go(r, PTRACE_SYSCALL, 0) ||
	    go(r, PTRACE_SYSCALL, 0) || ptrace(PTRACE_GETREGS, r->t->tid, NULL, &regs))
		return -ESRCH;
	return (long)regs.rax;
}

void ki_remote_end(struct ki_remote *r)
{
	struct user_regs_struct quiet = r->t->regs;

	if (r->lost)
		return;
	/* Between here and the stop nothing is restarted, and no instruction executed. */
	quiet.orig_rax = NO_CALL;
	ptrace(PTRACE_SETREGS, r->t->tid, NULL, &quiet);
	ptrace(PTRACE_INTERRUPT, r->t->tid, NULL, NULL);
	if (go(r, PTRACE_CONT, PTRACE_EVENT_STOP))
		return;
	ptrace(PTRACE_SETREGS, r->t->tid, NULL, &r->t->regs);
	ptrace(PTRACE_SETSIGMASK, r->t->tid, sizeof(r->mask), &r->mask);
}
