/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Paths: how often each way through a function was taken (Ball and Larus, "Efficient Path
 * Profiling", MICRO 1996).
 *
 * A path begins where the function is called, or after an edge back (to a block from which control
 * may have come). It ends where the function is left, or at such an edge. So it has no cycle, and
 * there are finitely many. They have the numbers 0 to count - 1.
 */
#ifndef KERNINST_PATH_H
#define KERNINST_PATH_H

#include "kerninst/code.h"
#include "kerninst/predicate.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KI_PATHS_MOST (1ull << 60) /* functions with more of them are refused */

struct ki_path_numbers;

/*
 * Number the paths of a function. -EOPNOTSUPP: other code jumps into the middle of it, not all of
 * its jumps are known, or it has more than KI_PATHS_MOST. The function need not live on. Free with
 * ki_path_numbers_free.
 */
int ki_path_numbers_new(const struct ki_function *fn, struct ki_path_numbers **out,
			struct ki_err *err);
void ki_path_numbers_free(struct ki_path_numbers *p); /* NULL is allowed */
uint64_t ki_path_numbers_count(const struct ki_path_numbers *p);

enum ki_path_end {
	KI_PATH_LEAVES, /* the function, by a return or a jump */
	KI_PATH_BACK,	/* by an edge back */
	KI_PATH_STOPS,	/* in a block out of which nothing leads: a call that does not come back */
};

struct ki_path {
	uint32_t *blocks; /* their numbers, in order */
	uint32_t nblocks;
	bool called;   /* it begins with the call; else after an edge back */
	uint8_t end;   /* enum ki_path_end */
	uint32_t to;   /* KI_PATH_BACK: the block that the edge leads to; else KI_NONE */
	uint32_t edge; /* by which it ends, of the function's; KI_NONE: KI_PATH_STOPS */
};

/* What a number stands for. -EINVAL: nothing. Free with ki_path_free. */
int ki_path_of(const struct ki_path_numbers *p, uint64_t number, struct ki_path *out);
void ki_path_free(struct ki_path *p);

/*
 * Count the paths of one function of a live target, in a session of its own or with others. All
 * numbers are of calls that began since then, and for which `when` (NULL: always; not inside())
 * held when the function was called. A thread that is in the function already is not counted before
 * it calls it anew. Calls within calls (a recursion, an interrupt) are counted too, as deep as
 * KI_PATHS_DEEP.
 *
 * -EOPNOTSUPP, or a reason, where a place that is needed cannot be had; in a process also of more
 * than a million paths, and of conditions on what only the kernel knows.
 */
#define KI_PATHS_DEEP 8

struct ki_paths;

int ki_paths_new(struct ki_target *t, const struct ki_symbol *sym, const struct ki_predicate *when,
		 struct ki_paths **out, struct ki_err *err);
int ki_paths_remove(struct ki_paths *p, struct ki_err *err); /* counts can be read on */
void ki_paths_free(struct ki_paths *p);			     /* NULL is allowed */

/* Those are the measurement's. */
const struct ki_path_numbers *ki_paths_numbers(const struct ki_paths *p);
const struct ki_function *ki_paths_function(const struct ki_paths *p);
size_t ki_paths_probes(const struct ki_paths *p);
/* Of a process: what has been put into it; NULL. */
struct ki_splice_process;
const struct ki_splice_process *ki_paths_process(const struct ki_paths *p);

struct ki_path_count {
	uint64_t number, count;
};

struct ki_path_counts {
	struct ki_path_count *v; /* the most frequent first */
	size_t n;		 /* paths that were taken */
	uint64_t taken;		 /* all of them, how often */
	uint64_t begun, left;	 /* calls that were counted; of these, have been left */
	uint64_t deep;		 /* calls that were not, because they were too deep */
	uint64_t lost;		 /* paths for which there was no place to count them */
};

/* Free out->v with ki_free(). */
int ki_paths_read(struct ki_paths *p, struct ki_path_counts *out, struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
