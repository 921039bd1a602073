// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * raise() and stop(): the driver's helper sends the signal where the code runs. What it has no room
 * for is counted in a global variable of the program's.
 */
#include <signal.h>

#include "dlang/code/locals.h"

/* A number that is known, and is one of a signal; 0: it is known only when code runs. */
static uint64_t known(const struct ki_d_node *which)
{
	if (!which)
		return SIGSTOP;
	return which->kind == KI_D_NUMBER && which->value <= KI_SIGNALS ? which->value : 0;
}

/* What is evaluated may fault: then no signal has the number that is sent. */
static struct ki_node *evaluated(struct ki_d_gen *g, const struct ki_d_node *which)
{
	struct ki_node *x = ki_expr_cast(g->s, KI_U32, ki_d_gen_expr(g, which));

	if (!ki_d_gen_faulted(g))
		return x;
	x = set(g, DESTINATION, x);
	return ki_expr_behind(
		g->s, x,
		ki_expr_cond(g->s, ki_d_gen_no_fault(g), get(g, DESTINATION), number(g, 0)));
}

struct ki_node *ki_d_gen_signal(struct ki_d_gen *g, const struct ki_d_node *n)
{
	const struct ki_var unsent = {
		.kind = KI_VAR_GLOBAL, .type = KI_U64, .first = g->d->run->unsent};
	const uint64_t constant = known(n->kid[0]);
	struct ki_node *args[] = {number(g, constant),
				  constant ? number(g, 0) : evaluated(g, n->kid[0])},
		       *sent = ki_expr_helper(g->s, KI_HELPER_SIGNAL, args, 2),
		       *lost = ki_stmt_update(g->s, KI_UPDATE_ADD, &unsent, NULL, number(g, 1));

	return ki_stmt_if(g->s, ki_expr_unary(g->s, KI_LNOT, sent), lost, NULL);
}
