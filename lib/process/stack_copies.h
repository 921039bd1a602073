/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Copies of threads' registers and stacks, and how they are unwound. */
#ifndef KI_PROCESS_STACK_COPIES_H
#define KI_PROCESS_STACK_COPIES_H

#include "kerninst/thread_stacks.h"
#include "process/stop.h"
#include "target/process.h"

/* A part of a stack. */
struct ki_stack_part {
	uint64_t addr, len;
	size_t room;
	uint8_t *bytes;
};

struct ki_stack_copy {
	pid_t tid;
	bool stuck, found; /* found: it was there at the last reading */
	int64_t call;
	uint64_t after; /* the instruction after the call's */
	uint64_t held_ns;
	struct user_regs_struct regs;
	struct ki_stack_part own;   /* from its %rsp on */
	struct ki_stack_part other; /* of a stack that it left, in a signal's handler */
	uint64_t missed; /* %rsp where unwinding ended for lack of memory; 0: it did not */
};

/* In order of time; n of them are of the last reading, the rest is kept for its memory. */
struct ki_stack_copies {
	const struct ki_process *process;
	struct ki_mappings maps; /* as they were before */
	ki_vec(struct ki_stack_copy) all;
	size_t n;
};

/* Of all threads; again: of those alone that have another stack, with that. The errors are those of
   ki_stack_reader_read. */
int ki_stack_copies_take(struct ki_stack_copies *c, bool again, struct ki_err *err);
/* Is what it has missed on another stack? If not, that is forgotten. */
bool ki_stack_copy_has_other(const struct ki_stack_copies *c, struct ki_stack_copy *x);
void ki_stack_copies_free(struct ki_stack_copies *c);

/* unwind.c: tables of a process's files, as they are mapped. */
struct ki_unwinder;
int ki_unwinder_new(const struct ki_process *p, const struct ki_mappings *maps,
		    struct ki_unwinder **out, struct ki_err *err);
void ki_unwinder_free(struct ki_unwinder *u); /* NULL is allowed */
bool ki_unwinder_has(void);
/* Frames of a copy; notes what it has missed. -ENOMEM. */
int ki_unwind(struct ki_unwinder *u, struct ki_stack_copy *c, struct ki_thread_stack *out);

#endif
