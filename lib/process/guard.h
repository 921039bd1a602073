/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* The guard: a process that changes another one, and gives it back. */
#ifndef KI_PROCESS_GUARD_H
#define KI_PROCESS_GUARD_H

#include "process/linked.h"

struct ki_guarded {
	pid_t pid;
	int mem;	/* /proc/PID/mem */
	uint64_t insn;	/* a syscall instruction of the process */
	uint64_t label; /* a short string in it */
	struct ki_linked *linked;
	struct ki_part part; /* that is being written, or given back */
	bool releasing;	     /* only what is marked */
	int sock;	     /* to who wants it; closed at the other end when he has gone */
	int file;	     /* what has been mapped, in the guard */
	struct ki_process_cost cost;
};

struct ki_reply {
	int ret;
	int file; /* number of the mapped file's descriptor in the guard */
	struct ki_err err;
	struct ki_process_cost cost;
};

/* What is asked of the guard. Any other byte, and the other end's closing: restore, and end. */
#define KI_GUARD_RELEASE 'r'

/*
 * The guard's life: install, answer; release and answer as often as it is asked; wait until another
 * byte comes or the other end is closed, restore, answer. Does not return.
 */
_Noreturn void ki_guard_run(struct ki_guarded *g, int sock);

/* What it does then; for its creator, if it has been killed. */
int ki_guard_restore(struct ki_guarded *g, struct ki_err *err);
/* Give back what is marked (ki_linked_release). One that has ended needs nothing. */
int ki_guard_release(struct ki_guarded *g, struct ki_err *err);
/* The text alone; if it has been killed before it has answered, and nobody knows what is mapped. */
int ki_guard_restore_text(struct ki_guarded *g, struct ki_err *err);

/* map.c: is it still the program that it was when its memory was opened? Another one has other
   things at our addresses. While it is stopped it stays so. */
bool ki_guard_is_same(const struct ki_guarded *g);

/* The shared file in the process, and its mappings. */
int ki_arenas_map(struct ki_guarded *g, struct ki_err *err);
int ki_arenas_fill(struct ki_guarded *g, struct ki_err *err); /* with the patches */
/* Threads have words from now on, if there are any. */
int ki_arenas_open(struct ki_guarded *g, struct ki_err *err);
/* All threads are stopped; false: none of them could be lent. */
struct ki_stop;
bool ki_arenas_unmap(struct ki_guarded *g, struct ki_stop *s);

#endif
