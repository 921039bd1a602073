/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Stacks of a live process: the calls that each of its threads is in right now. Nothing is put into
 * the process for that.
 *
 * A thread is stopped by ptrace while its registers and a part of its stack are copied, one thread
 * after the other. Then it goes on. The copy is unwound by the tables that its files have for
 * exceptions (.eh_frame), or by frame pointers where there are none. So threads are not all seen at
 * the same time, but each as it was at one moment.
 *
 * A system call that a thread waits in goes on after that. One with a limit that the kernel does
 * not begin again says EINTR, as it does after SIGSTOP and SIGCONT: epoll_wait with a timeout, a
 * socket with SO_RCVTIMEO.
 */
#ifndef KERNINST_THREAD_STACKS_H
#define KERNINST_THREAD_STACKS_H

#include "kerninst/target.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * One call. frame is its canonical frame address: what %rsp was before the call. The same call has
 * the same one as long as it lasts; together with the function it tells calls apart. 0: not known,
 * of the last frame of a stack that is not whole. Of the outermost frame it is %rsp there.
 */
struct ki_stack_frame {
	uint64_t addr; /* the instruction; `returns`: the one after a call */
	uint64_t frame;
	bool returns;
};

struct ki_thread_stack {
	pid_t tid;
	bool whole;	  /* its outermost frame is the last one */
	bool stuck;	  /* it did not stop in time (a vfork's parent): nothing is known of it */
	int64_t call;	  /* number of the system call that it is in; -1: none */
	uint64_t held_ns; /* at most so long: from when it was asked to stop */
	struct ki_stack_frame *v; /* innermost first */
	size_t n;
};

/* What has been read. */
struct ki_thread_stacks {
	struct ki_thread_stack *v;
	size_t n;
	uint64_t held_ns; /* the longest that a thread was held */
};

void ki_thread_stacks_free(struct ki_thread_stacks *s); /* of what it has; NULL is allowed */

/* Keeps tables and memory from one reading to the next. */
struct ki_stack_reader;

/*
 * The target is one of ki_target_new_process, and must live on. Errors: -EINVAL: it is another
 * one; -EOPNOTSUPP: built without libdw 0.188 or newer; -ENOMEM.
 */
int ki_stack_reader_new(struct ki_target *t, struct ki_stack_reader **out, struct ki_err *err);
void ki_stack_reader_free(struct ki_stack_reader *r); /* NULL is allowed */

/*
 * All threads. Of a stack the innermost 256 KiB are looked at, and 4096 frames at most. A system
 * call that went on after an interruption is restart_syscall to the kernel. It has its own number
 * if the reader has seen it before.
 *
 * Errors: -ESRCH: the process has ended, or become another program. KI_R_PROCESS_TRACED: for a
 * fifth of a second another one has traced it. KI_R_PROCESS_PERMISSION, -ENOMEM, -EAGAIN. *out is
 * empty then.
 */
int ki_stack_reader_read(struct ki_stack_reader *r, struct ki_thread_stacks *out,
			 struct ki_err *err);

/*
 * The function of a frame. NULL: none of the target, as of code that came after it was opened
 * (ki_target_changes), or has no file.
 */
const struct ki_symbol *ki_stack_frame_symbol(const struct ki_target *t,
					      const struct ki_stack_frame *f);

#ifdef __cplusplus
}
#endif

#endif
