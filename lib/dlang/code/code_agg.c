// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Statements that aggregate.
 */
#include "dlang/code/code.h"

#define HOLD	      (KI_LOCALS - 1) /* code_fault.c; it holds a value which is needed twice */
#define CELL_COUNTERS 2048	      /* of a distribution, at most: there are not very many */

static struct ki_node *change_row(struct ki_d_gen *g, const struct ki_d_node *n, uint8_t op,
				  uint32_t index, struct ki_node *value)
{
	struct ki_table_var t = ki_table_var_of(n->sym.agg->table, n->sym.agg->name);
	struct ki_node *keys[KI_TABLE_KEYS];
	unsigned int nkeys = ki_d_gen_keys(g, n->kid[0], n->sym.agg, keys);

	return ki_d_gen_effect(g, ki_stmt_table(g->s, (enum ki_table_op)op,
						&(struct ki_row_value){&t, index, keys, nkeys},
						value));
}

/* hold = value; if (hold < 0) count -hold in the second half, else hold in the first. */
static struct ki_node *quantize(struct ki_d_gen *g, const struct ki_d_node *n,
				struct ki_node *value)
{
	const struct ki_var hold = {.kind = KI_VAR_LOCAL, .type = KI_I64, .first = HOLD};
	struct ki_node *list, *below, *from;

	if (ki_d_num(n->kid[1]->kid[0]->type) >= KI_U8)
		return change_row(g, n, KI_TABLE_LOG2, 0, value);
	list = ki_stmt_append(g->s, NULL, ki_stmt_update(g->s, KI_SET, &hold, NULL, value));
	below = ki_expr_binary(g->s, KI_LT, ki_expr_var(g->s, &hold),
			       ki_expr_const(g->s, KI_I64, 0));
	from = change_row(g, n, KI_TABLE_LOG2, KI_TABLE_LOG2_WORDS,
			  ki_expr_unary(g->s, KI_NEG, ki_expr_var(g->s, &hold)));
	return ki_stmt_append(
		g->s, list,
		ki_stmt_if(g->s, below, from,
			   change_row(g, n, KI_TABLE_LOG2, 0, ki_expr_var(g->s, &hold))));
}

static struct ki_node *lquantize(struct ki_d_gen *g, const struct ki_d_node *n,
				 struct ki_node *value)
{
	struct ki_table_var t = ki_table_var_of(n->sym.agg->table, n->sym.agg->name);
	struct ki_node *keys[KI_TABLE_KEYS];
	unsigned int nkeys = ki_d_gen_keys(g, n->kid[0], n->sym.agg, keys);

	return ki_d_gen_effect(
		g, ki_stmt_table_linear(g->s, &(struct ki_row_value){&t, 0, keys, nkeys},
					&n->sym.agg->linear, ki_expr_cast(g->s, KI_I64, value)));
}

/* hold, which is 0 or more: the buckets of the power that it is in. */
static struct ki_node *count_power(struct ki_d_gen *g, const struct ki_d_node *n, uint32_t power,
				   int below)
{
	const struct ki_var hold = {.kind = KI_VAR_LOCAL, .type = KI_I64, .first = HOLD};
	const struct ki_d_log *l = &n->sym.agg->log;
	const struct ki_linear linear = {.low = 0,
					 .high = ki_d_log_power(l, power + 1),
					 .step = (uint64_t)ki_d_log_width(l, power)};
	struct ki_table_var t = ki_table_var_of(n->sym.agg->table, n->sym.agg->name);
	const uint32_t first = ki_d_log_first(l, power, below);
	struct ki_node *keys[KI_TABLE_KEYS];
	unsigned int nkeys;

	if (power > l->high)
		return change_row(g, n, KI_TABLE_ADD, first, ki_expr_const(g->s, KI_I64, 1));
	nkeys = ki_d_gen_keys(g, n->kid[0], n->sym.agg, keys);
	return ki_d_gen_effect(
		g, ki_stmt_table_linear(g->s, &(struct ki_row_value){&t, first, keys, nkeys},
					&linear, ki_expr_var(g->s, &hold)));
}

static struct ki_node *count_powers(struct ki_d_gen *g, const struct ki_d_node *n, int below)
{
	const struct ki_var hold = {.kind = KI_VAR_LOCAL, .type = KI_I64, .first = HOLD};
	const struct ki_d_log *l = &n->sym.agg->log;
	struct ki_node *list = count_power(g, n, l->high + 1, below);

	for (uint32_t p = l->high + 1; p-- > l->low;)
		list = ki_stmt_if(g->s,
				  ki_expr_binary(g->s, KI_LT, ki_expr_var(g->s, &hold),
						 ki_expr_const(g->s, KI_I64,
							       (uint64_t)ki_d_log_power(l, p + 1))),
				  count_power(g, n, p, below), list);
	return ki_stmt_if(
		g->s,
		ki_expr_binary(g->s, KI_LT, ki_expr_var(g->s, &hold),
			       ki_expr_const(g->s, KI_I64, (uint64_t)ki_d_log_power(l, l->low))),
		change_row(g, n, KI_TABLE_ADD, 0, ki_expr_const(g->s, KI_I64, 1)), list);
}

static struct ki_node *llquantize(struct ki_d_gen *g, const struct ki_d_node *n,
				  struct ki_node *value)
{
	const struct ki_var hold = {.kind = KI_VAR_LOCAL, .type = KI_I64, .first = HOLD};
	struct ki_node *list = ki_stmt_append(g->s, NULL,
					      ki_stmt_update(g->s, KI_SET, &hold, NULL,
							     ki_expr_cast(g->s, KI_I64, value))),
		       *below = ki_stmt_append(
			       g->s, NULL,
			       ki_stmt_update(
				       g->s, KI_SET, &hold, NULL,
				       ki_expr_unary(g->s, KI_NEG, ki_expr_var(g->s, &hold))));

	below = ki_stmt_append(g->s, below, count_powers(g, n, 1));
	return ki_stmt_append(g->s, list,
			      ki_stmt_if(g->s,
					 ki_expr_binary(g->s, KI_LT, ki_expr_var(g->s, &hold),
							ki_expr_const(g->s, KI_I64, 0)),
					 below, count_powers(g, n, 0)));
}

/* Where the key is the same each time it has counters of its own; false: there are none. */
static bool find_cell(struct ki_d_gen *g, const struct ki_d_node *n, uint32_t *counter)
{
	uint64_t key[KI_D_KEYS] = {0};
	unsigned int i = 0;

	if (ki_d_agg_rows(g->d, n->sym.agg, UINT32_MAX) != UINT32_MAX)
		return false; /* it has room for few */
	for (const struct ki_d_node *k = n->kid[0]; k; k = k->next) {
		if (!ki_d_is_constant(k) || n->sym.agg->forms[i] == KI_D_FORM_TEXT)
			return false;
		key[i++] = ki_d_gen_constant(g, k);
	}
	return !ki_d_cell(g->d, n->sym.agg, key, counter);
}

static struct ki_node *count_cell(struct ki_d_gen *g, const struct ki_d_node *n)
{
	struct ki_var v = {.kind = KI_VAR_CPU, .type = KI_U64};

	if (!find_cell(g, n, &v.first))
		return NULL;
	return ki_d_gen_effect(
		g, ki_stmt_update(g->s, KI_UPDATE_ADD, &v, NULL, ki_expr_const(g->s, KI_U64, 1)));
}

/* The same of a distribution, unless something may have faulted before: such a statement cannot be
   left out. NULL: it has none. */
static struct ki_node *spread_cell(struct ki_d_gen *g, const struct ki_d_node *n,
				   struct ki_node *value)
{
	const struct ki_var hold = {.kind = KI_VAR_LOCAL, .type = KI_I64, .first = HOLD};
	struct ki_var v = {.kind = KI_VAR_CPU, .type = KI_U64, .count = KI_LOG2_BUCKETS};
	const bool linear = ki_d_agg_kind(n->sym.agg) == KI_D_LQUANTIZE;
	struct ki_node *list, *below, *negative;

	if (linear)
		v.count = ki_linear_buckets(&n->sym.agg->linear);
	if (g->weight || ki_d_gen_faulted(g) || v.count > CELL_COUNTERS ||
	    !find_cell(g, n, &v.first))
		return NULL;
	if (linear)
		return ki_stmt_linear(g->s, &v, &n->sym.agg->linear,
				      ki_expr_cast(g->s, KI_I64, value));
	if (ki_d_num(n->kid[1]->kid[0]->type) >= KI_U8)
		return ki_stmt_log2(g->s, &v, value);
	list = ki_stmt_append(g->s, NULL, ki_stmt_update(g->s, KI_SET, &hold, NULL, value));
	below = ki_expr_binary(g->s, KI_LT, ki_expr_var(g->s, &hold),
			       ki_expr_const(g->s, KI_I64, 0));
	value = ki_stmt_log2(g->s, &v, ki_expr_var(g->s, &hold));
	v.first += KI_TABLE_LOG2_WORDS;
	negative = ki_stmt_log2(g->s, &v, ki_expr_unary(g->s, KI_NEG, ki_expr_var(g->s, &hold)));
	return ki_stmt_append(g->s, list, ki_stmt_if(g->s, below, negative, value));
}

struct ki_node *ki_d_gen_aggregate(struct ki_d_gen *g, const struct ki_d_node *n)
{
	static const uint8_t ops[KI_D_AGGS] = {
		[KI_D_COUNT] = KI_TABLE_ADD, [KI_D_SUM] = KI_TABLE_ADD,
		[KI_D_AVG] = KI_TABLE_STATS, [KI_D_MIN] = KI_TABLE_MIN,
		[KI_D_MAX] = KI_TABLE_MAX,   [KI_D_STDDEV] = KI_TABLE_STATS};
	const enum ki_d_agg_kind kind = ki_d_agg_kind(n->sym.agg);
	struct ki_node *cell = kind == KI_D_COUNT ? count_cell(g, n) : NULL, *value;

	if (cell)
		return cell;
	g->weight = ki_d_weight(n->kid[1]);
	value = kind == KI_D_COUNT ? ki_expr_const(g->s, KI_I64, 1)
				   : ki_d_gen_expr(g, n->kid[1]->kid[0]);
	if (kind == KI_D_QUANTIZE || kind == KI_D_LQUANTIZE)
		cell = spread_cell(g, n, value);
	if (cell)
		return cell;
	if (kind == KI_D_QUANTIZE)
		return quantize(g, n, value);
	if (kind == KI_D_LQUANTIZE)
		return lquantize(g, n, value);
	if (kind == KI_D_LLQUANTIZE)
		return llquantize(g, n, value);
	return change_row(g, n, ops[kind], 0, value);
}
