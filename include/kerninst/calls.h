/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The call graph below or above a function, row by row.
 *
 * Calls are grouped: one row for each function that is called (or calls) and way to do it. A
 * cold part is its parent's code: its calls are the parent's.
 */
#ifndef KERNINST_CALLS_H
#define KERNINST_CALLS_H

#include "kerninst/program.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_calls_row {
	uint32_t depth;	   /* 1: called by (or calling) the root */
	uint32_t from;	   /* number of the function whose row is above */
	uint32_t function; /* KI_NONE: not known, or not in the program */
	uint64_t to;	   /* address where it is not in the program; 0: indirect */
	uint32_t sites;	   /* places where it is called */
	uint8_t kind;	   /* of the calls: KI_EDGE_CALL, CALL_INDIRECT, TAIL, TAIL_INDIRECT */
	bool recursion;	   /* it stands above itself */
	bool repeated;	   /* what is below it has been shown, at least as deep */
};

struct ki_calls_totals {
	uint64_t rows, functions; /* functions: different ones, the root not counted */
	uint64_t direct, indirect, tail;
};

struct ki_calls;

/* callers: who calls, else who is called. NULL: out of memory. */
struct ki_calls *ki_calls_new(const struct ki_program *p, bool callers, uint32_t depth);
void ki_calls_free(struct ki_calls *t);

typedef void ki_calls_fn(void *ctx, const struct ki_calls_row *row);

/* Call fn for each row below the root; adds to *totals. 0, or -ENOMEM. */
int ki_calls_walk(struct ki_calls *t, uint32_t root, ki_calls_fn *fn, void *ctx,
		  struct ki_calls_totals *totals);

#ifdef __cplusplus
}
#endif

#endif
