/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a function calls. By its code: direct calls and tail jumps, and those through the linkage
 * table of a program or library. While it runs: indirect calls and tail jumps are watched; each
 * adds one to a row of a table for where it is and where it leads.
 */
#ifndef KERNINST_CALLEES_H
#define KERNINST_CALLEES_H

#include "kerninst/predicate.h"

#ifdef __cplusplus
extern "C" {
#endif

/*
 * The entries of functions that the code of fn leads to, each once, in order. Entries of a linkage
 * table do nothing but jump through a word of memory: a call of such a function is one of what that
 * word leads to now. So is a call through such a word. Caller frees *out (ki_free). What
 * leads to no symbol of the target is left out. *indirect: how many calls and tail jumps remain
 * whose destination the code does not tell. NULL is allowed.
 */
int ki_callees_direct(const struct ki_function *fn, uint64_t **out, size_t *n, size_t *indirect,
		      struct ki_err *err);

struct ki_callees;

/* From where to where, and how often. */
struct ki_callee {
	uint64_t site;	 /* the call or jump */
	uint64_t target; /* where it leads: of memory that could not be read, 0 */
	uint64_t count;
};

/*
 * kernel: a live one, in which it is counted; its functions are watched, while `when` holds (NULL:
 * always), or those of a process, which the driver tells the kernel of (ki_process_new_hits). Both
 * must live on.
 */
int ki_callees_new(struct ki_target *kernel, struct ki_target *process,
		   const struct ki_predicate *when, struct ki_callees **out, struct ki_err *err);
void ki_callees_free(struct ki_callees *c); /* takes out what is in; NULL is allowed */

/*
 * Before the start: watch the indirect call or tail jump of fn at addr. It is an error if the place
 * is refused. -EINVAL: the instruction there is none, or the operand has a segment; -EALREADY: it
 * is watched.
 */
int ki_callees_watch(struct ki_callees *c, const struct ki_function *fn, uint64_t addr,
		     struct ki_err *err);
/* All of fn that the code does not tell; those that are refused are left out. 0, or -ENOMEM. */
int ki_callees_watch_all(struct ki_callees *c, const struct ki_function *fn, struct ki_err *err);

/* How many are watched. */
size_t ki_callees_sites(const struct ki_callees *c);

/* Begin, once; end. What the driver refuses is left out. */
int ki_callees_start(struct ki_callees *c, struct ki_err *err);
int ki_callees_stop(struct ki_callees *c, struct ki_err *err);

/* All since the start, in order of sites; also after the stop. Caller frees *out (ki_free). */
int ki_callees_read(const struct ki_callees *c, struct ki_callee **out, size_t *n,
		    struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
