// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counters of a place whose cost is asked for: how often it is passed, a clause ends, one faults.
 */
#include "dlang/code/code.h"

/* One, then the other, which may be NULL. */
static struct ki_node *counted(struct ki_d_gen *g, struct ki_node *first, struct ki_node *then)
{
	struct ki_node *list = ki_stmt_append(g->s, NULL, first);

	return then ? ki_stmt_append(g->s, list, then) : list;
}

struct ki_node *ki_d_gen_meter(struct ki_d_gen *g, uint32_t counter)
{
	const struct ki_var v = {.kind = KI_VAR_CPU, .type = KI_U64, .first = counter};

	return ki_stmt_update(g->s, KI_UPDATE_ADD, &v, NULL, ki_expr_const(g->s, KI_I64, 1));
}

struct ki_node *ki_d_gen_meter_passes(struct ki_d_gen *g, struct ki_node *list)
{
	if (!g->site->meter)
		return list;
	return counted(g, ki_d_gen_meter(g, g->site->meter->passes), list);
}

struct ki_node *ki_d_gen_meter_fault(struct ki_d_gen *g, struct ki_node *list)
{
	if (!g->site->meter || g->in_error)
		return list;
	g->site->meter->may_fault = true;
	return counted(g, ki_d_gen_meter(g, g->site->meter->faulted), list);
}

struct ki_node *ki_d_gen_meter_end(struct ki_d_gen *g, struct ki_node *list)
{
	if (!g->site->meter || g->in_error)
		return list;
	g->site->meter->clauses++;
	return counted(g, list, ki_d_gen_meter(g, g->site->meter->ended));
}
