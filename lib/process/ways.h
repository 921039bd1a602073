/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The two ways into a process: through ptrace, by a guard (process.c, guard.c), and through the
 * driver (driver.c), which stops nobody and has breakpoints.
 */
#ifndef KI_PROCESS_WAYS_H
#define KI_PROCESS_WAYS_H

#include "process/guard.h"
#include "target/process.h"

/* What makes it one of places of which the kernel is told (hits.c). */
struct ki_process_told {
	const uint64_t *semaphores; /* n words to be counted up, none twice */
	size_t n;
	uint8_t flags; /* of each breakpoint: KI_PROCESS_HIT, KI_PROCESS_HOLD */
};

struct ki_process_way {
	/* May this process be changed so? */
	int (*check)(struct ki_splice_process *s, const struct ki_mappings *maps,
		     struct ki_err *err);
	/* What is linked is put in; -EEXIST: something is mapped there by now. */
	int (*install)(struct ki_splice_process *s, struct ki_err *err);
	/* The process has its text back. More than once does no harm. */
	int (*remove)(struct ki_splice_process *s, struct ki_err *err);
	/* What is marked is given back. */
	int (*release)(struct ki_splice_process *s, struct ki_err *err);
};

struct ki_splice_process {
	const struct ki_process_way *way;
	int device; /* the driver's way: the session; -1 */
	pid_t guard;
	int sock, pidfd;
	struct ki_process *process;	    /* the target's */
	const struct ki_process_told *told; /* while it is put in */
	uint32_t counters;
	bool shared;	  /* no counter is one of each thread */
	bool sheds;	  /* parts may be given back before the rest */
	bool dry;	  /* all but putting it in */
	bool whole;	  /* nothing may be left out */
	bool alone;	  /* memory alone, without code */
	uint64_t *values; /* NULL: nothing was installed */
	size_t len;
	struct ki_process_cost cost;
	/* What the guard has been made with. If somebody kills it, its work is done here. */
	struct ki_guarded g;
	struct ki_linked linked;
};

extern const struct ki_process_way ki_process_way_of_driver;

/* As ki_process_new, by the driver or not at all; all windows of the plan are to be told of. */
int ki_process_tell(struct ki_target *t, struct ki_plan *p, const struct ki_process_told *told,
		    struct ki_splice_process **out, struct ki_err *err);

/* What all of these do; *what says how. */
int ki_process_put(const struct ki_splice_process *what, struct ki_target *t, struct ki_plan *p,
		   struct ki_splice_process **out, struct ki_err *err);

/* Of the driver's way: give these edits back, by number, in rising order. */
int ki_driver_release(const struct ki_splice_process *s, const uint32_t *v, size_t n,
		      struct ki_err *err);

/* The device, with this process begun; -1: the driver is not there, or does not do it. *apart: its
   threads are known by the word at their FS base. */
int ki_driver_open(pid_t pid, bool *apart);

#endif
