/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The call graph below or above a function, row by row.
 *
 * Calls are grouped: one row for each function that is called (or calls) and way to do it. A
 * cold part is its parent's code: its calls are the parent's.
 */
#ifndef KERNINST_TREE_H
#define KERNINST_TREE_H

#include "kerninst/program.h"
#include "util/vec.h"

struct tree_row {
	uint32_t depth;	   /* 1: called by (or calling) the root */
	uint32_t from;	   /* number of the function whose row is above */
	uint32_t function; /* KI_NONE: not known, or not in the program */
	uint64_t to;	   /* address where it is not in the program; 0: indirect */
	uint32_t sites;	   /* places where it is called */
	uint8_t kind;	   /* of the calls: KI_EDGE_CALL, CALL_INDIRECT, TAIL, TAIL_INDIRECT */
	bool recursion;	   /* it stands above itself */
	bool repeated;	   /* what is below it has been shown, at least as deep */
};

struct tree_totals {
	uint64_t rows, functions; /* functions: different ones, the root not counted */
	uint64_t direct, indirect, tail;
};

struct tree;

/* callers: who calls, else who is called. NULL: out of memory. */
struct tree *tree_new(const struct ki_program *p, bool callers, uint32_t depth);
void tree_free(struct tree *t);

typedef void tree_fn(void *ctx, const struct tree_row *row);

/* Call fn for each row below the root; adds to *totals. 0, or -ENOMEM. */
int tree_walk(struct tree *t, uint32_t root, tree_fn *fn, void *ctx, struct tree_totals *totals);

#endif
