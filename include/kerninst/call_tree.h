/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The functions that a function calls, or that call it, level by level: kerninst calls.
 */
#ifndef KERNINST_CALL_TREE_H
#define KERNINST_CALL_TREE_H

#include "kerninst/calls.h"
#include "kerninst/page.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_call_tree {
	struct ki_target *t;
	const struct ki_program *program;
	struct ki_calls *tree; /* of that program */
	bool callers;	       /* who calls it; else what it calls */
};

/* Of one function; first: no line stands before it. 0; -ENOENT: the program does not have it. */
int ki_call_tree_show(const struct ki_call_tree *how, const struct ki_symbol *sym, bool first,
		      const struct ki_page *page, struct ki_calls_totals *totals,
		      struct ki_err *err);

/* What it was together, in a line. */
void ki_call_tree_totals(const struct ki_calls_totals *n, FILE *out);

#ifdef __cplusplus
}
#endif

#endif
