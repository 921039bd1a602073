/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_DLANG_CHECK_H
#define KI_DLANG_CHECK_H

#include "dlang/program.h"

struct ki_d_checker {
	struct ki_dlang *d;
	struct ki_err *err;
	struct ki_d_clause *clause;
	const struct ki_d_node *statement; /* that is being checked; NULL: the predicate */
	bool sometimes;			   /* inside of what is evaluated only under a condition */
};

int ki_d_check_expr(struct ki_d_checker *c, struct ki_d_node *n);
/* functions.c: a call; a statement @name[...] = function(...). */
int ki_d_check_call(struct ki_d_checker *c, struct ki_d_node *n);
int ki_d_check_agg(struct ki_d_checker *c, struct ki_d_node *n);

/* How a value travels in a record: ki_d_form. */
uint8_t ki_d_form_of(const struct ki_d_node *n);

/* Is there a ++ or -- in it? */
bool ki_d_steps(const struct ki_d_node *n);

/* Is it the same for all hits of a place? */
bool ki_d_is_constant(const struct ki_d_node *n);

#endif
