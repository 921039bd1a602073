// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * How much of a speculation's buffer is used, where specsize is below the usual one: a row of a
 * table for each speculation. A clause whose record could not be in any buffer, or whose buffer is
 * full, does not speculate; a record that a buffer has too little room for is left out by the
 * reader, who counts the same (hold.c).
 */
#include "dlang/code/code.h"

static struct ki_node *number(struct ki_d_gen *g, uint64_t value)
{
	return ki_expr_const(g->s, KI_U64, value);
}

static struct ki_node *used(struct ki_d_gen *g)
{
	struct ki_table_var t = ki_table_var_of(g->d->run->used, "used");
	struct ki_node *keys[] = {ki_d_gen_speculation_now(g)};

	return ki_expr_table(g->s, &(struct ki_row_value){&t, 0, keys, 1});
}

static struct ki_node *change(struct ki_d_gen *g, enum ki_table_op op, struct ki_node *value)
{
	struct ki_table_var t = ki_table_var_of(g->d->run->used, "used");
	struct ki_node *keys[] = {ki_d_gen_speculation_now(g)};

	return ki_stmt_table(g->s, op, &(struct ki_row_value){&t, 0, keys, 1}, value);
}

struct ki_node *ki_d_gen_look_for_room(struct ki_d_gen *g)
{
	const uint64_t most = (uint64_t)g->d->set.specsize;
	const struct ki_var unkept = {
		.kind = KI_VAR_GLOBAL, .type = KI_U64, .first = g->d->run->unkept};
	struct ki_node *full, *list;

	if (!g->d->run->used)
		return NULL;
	full = ki_d_gen_speculation_now(g);
	if (ki_d_speculated_bytes(g->d, g->clause) <= most)
		full = ki_expr_binary(g->s, KI_LAND, full,
				      ki_expr_binary(g->s, KI_GE, used(g), number(g, most)));
	list = ki_stmt_append(g->s, NULL,
			      ki_stmt_update(g->s, KI_UPDATE_ADD, &unkept, NULL, number(g, 1)));
	list = ki_stmt_append(g->s, list, ki_d_gen_no_speculation(g));
	return ki_stmt_if(g->s, full, list, NULL);
}

struct ki_node *ki_d_gen_take_room(struct ki_d_gen *g, struct ki_node *list)
{
	const uint64_t most = (uint64_t)g->d->set.specsize,
		       size = ki_d_speculated_bytes(g->d, g->clause);
	struct ki_node *fits;

	if (!g->d->run->used || size > most)
		return list;
	fits = ki_expr_binary(g->s, KI_LE, used(g), number(g, most - size));
	return ki_stmt_append(
		g->s, ki_stmt_append(g->s, NULL, list),
		ki_stmt_if(g->s, fits, change(g, KI_TABLE_ADD, number(g, size)), NULL));
}

struct ki_node *ki_d_gen_empty_room(struct ki_d_gen *g)
{
	return g->d->run->used ? change(g, KI_TABLE_DELETE, NULL) : NULL;
}
