// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Behind a clause: what ERROR's clauses and the reader are told of a fault.
 */
#include "dlang/code/locals.h"

static struct ki_node *bits(struct ki_d_gen *g, enum local of, unsigned int shift, uint64_t mask)
{
	struct ki_node *x = get(g, of);

	if (shift)
		x = ki_expr_binary(g->s, KI_SHR, x, number(g, shift));
	return ki_expr_binary(g->s, KI_AND, x, number(g, mask));
}

static struct ki_node *is_kind(struct ki_d_gen *g, unsigned int kind)
{
	return ki_expr_binary(g->s, KI_EQ, bits(g, FAULT, 0, KI_D_FAULT_KIND), number(g, kind));
}

struct ki_node *ki_d_gen_error_argument(struct ki_d_gen *g, unsigned int i)
{
	switch (i) {
	case 1:
		return ki_expr_const(g->s, KI_I64, g->error_probe);
	case 2:
		return ki_expr_const(g->s, KI_I64, g->error_statement);
	case 3:
		return ki_expr_cast(g->s, KI_I64, bits(g, ERROR_FAULT, 17, 4 * KI_D_FAULT_PLACE));
	case 4:
		return ki_expr_cast(g->s, KI_I64, bits(g, ERROR_FAULT, 0, KI_D_FAULT_KIND));
	case 5:
		return ki_expr_cast(g->s, KI_I64, get(g, ERROR_ADDRESS));
	default:
		return ki_expr_const(g->s, KI_I64, 0);
	}
}

static struct ki_node *tell(struct ki_d_gen *g)
{
	struct ki_node *values[] = {ki_expr_const(g->s, KI_U32, g->site->probe),
				    ki_expr_const(g->s, KI_U32, g->clause), get(g, ERROR_FAULT),
				    get(g, ERROR_ADDRESS),
				    ki_expr_const(g->s, KI_U32, g->statement)};

	return ki_stmt_record(g->s, ki_ring_number(g->d->run->ring), KI_D_RECORD_ERROR, values, 5);
}

static struct ki_node *mark(struct ki_d_gen *g, uint32_t record)
{
	struct ki_node *values[] = {ki_expr_const(g->s, KI_U32, g->site->probe),
				    ki_expr_const(g->s, KI_U32, g->clause)};

	return ki_stmt_record(g->s, ki_ring_number(g->d->run->ring), record, values, 2);
}

struct ki_node *ki_d_gen_done(struct ki_d_gen *g)
{
	return mark(g, KI_D_RECORD_DONE);
}

/* The address, if that is what the fault is about. Of a member of what NULL leads to it is NULL. */
static struct ki_node *about(struct ki_d_gen *g)
{
	struct ki_node *behind = bits(g, FAULT, 4, KI_D_FAULT_BEHIND), *member, *index;

	member = both(g, is_kind(g, KI_D_BAD_ADDRESS),
		      ki_expr_binary(g->s, KI_NE, get(g, ADDRESS), behind));
	index = ki_expr_binary(g->s, KI_GE, bits(g, FAULT, 0, KI_D_FAULT_KIND),
			       number(g, KI_D_BAD_SIZE));
	return ki_expr_cond(g->s, ki_expr_binary(g->s, KI_LOR, member, index), get(g, ADDRESS),
			    number(g, 0));
}

/* In ERROR's own clauses it only ends them, and is counted. */
struct ki_node *ki_d_gen_error(struct ki_d_gen *g, struct ki_node *clauses)
{
	struct ki_node *list = NULL;

	if (g->in_error) {
		list = ki_stmt_append(g->s, list, mark(g, KI_D_RECORD_DOUBLE));
		list = ki_stmt_append(g->s, list, set(g, FAULT, number(g, 0)));
		return ki_stmt_if(g->s, get(g, FAULT), list, NULL);
	}
	list = ki_stmt_append(g->s, list, set(g, ERROR_FAULT, get(g, FAULT)));
	list = ki_stmt_append(g->s, list, set(g, ERROR_ADDRESS, about(g)));
	list = ki_stmt_append(g->s, list, set(g, FAULT, number(g, 0)));
	if (clauses)
		list = ki_stmt_append(g->s, list, clauses);
	list = ki_stmt_append(g->s, list, tell(g));
	return ki_stmt_if(g->s, get(g, FAULT), list, NULL);
}
