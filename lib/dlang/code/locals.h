/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Locals that code keeps for itself, and short words for what is made with them.
 */
#ifndef KI_DLANG_LOCALS_H
#define KI_DLANG_LOCALS_H

#include "dlang/code/code.h"

/* Locals, from the last one down. */
enum local {
	HOLD,
	TEMP,
	ADDRESS,
	FAULT,
	ERROR_FAULT,
	ERROR_ADDRESS,
	SPECULATION,
	DESTINATION,
	OFFSET,
	ROOM,
	NOW,
	LET,
	LOCALS = LET + KI_D_LETS
};
_Static_assert(LOCALS == KI_D_HELD_LOCALS, "storage.c leaves them alone");

static inline struct ki_var local(enum local which)
{
	static const char *const names[] = {
		"hold",		 "temp",	"address",     "fault",	 "error_fault",
		"error_address", "speculation", "destination", "offset", "room",
		"now",		 "let0",	"let1",	       "let2",	 "let3"};

	return (struct ki_var){.name = names[which],
			       .kind = KI_VAR_LOCAL,
			       .type = which == HOLD ? KI_I64 : KI_U64,
			       .first = KI_LOCALS - 1 - which};
}

static inline struct ki_node *get(struct ki_d_gen *g, enum local which)
{
	const struct ki_var v = local(which);

	return ki_expr_var(g->s, &v);
}

static inline struct ki_node *set(struct ki_d_gen *g, enum local which, struct ki_node *value)
{
	const struct ki_var v = local(which);

	return ki_stmt_update(g->s, KI_SET, &v, NULL, value);
}

static inline struct ki_node *number(struct ki_d_gen *g, uint64_t value)
{
	return ki_expr_const(g->s, KI_U64, value);
}

static inline struct ki_node *both(struct ki_d_gen *g, struct ki_node *a, struct ki_node *b)
{
	return ki_expr_binary(g->s, KI_LAND, a, b);
}

#endif
