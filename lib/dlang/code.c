// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Clauses to snippets: statements. All clauses of a probe are one snippet, in the order of the
 * program, so they share this->.
 */
#include <errno.h>
#include <string.h>

#include "dlang/code.h"

static struct ki_var var_of(const struct ki_d_var *v)
{
	static const uint8_t kinds[] = {[KI_D_GLOBAL_SCOPE] = KI_VAR_GLOBAL,
					[KI_D_SELF_SCOPE] = KI_VAR_THREAD,
					[KI_D_THIS_SCOPE] = KI_VAR_LOCAL};

	return (struct ki_var){.name = v->name,
			       .kind = kinds[v->scope],
			       .type = (uint8_t)ki_d_num(v->type),
			       .first = v->number};
}

/* ---- assignment ---- */

/* What one instruction, or one change of a row, can do by itself. */
static const struct {
	uint8_t op, update, table;
} updates[] = {
	{KI_ADD, KI_UPDATE_ADD, KI_TABLE_ADD},
	{KI_SUB, KI_UPDATE_SUB, KI_TABLE_OPS},
	{KI_OR, KI_UPDATE_OR, KI_TABLE_OPS},
	{KI_AND, KI_UPDATE_AND, KI_TABLE_OPS},
};

static struct ki_node *set_var(struct ki_d_gen *g, const struct ki_d_node *n, uint8_t op,
			       struct ki_node *value)
{
	struct ki_var v = var_of(n->sym.var);

	if (op == KI_BINARIES)
		return ki_stmt_update(g->s, KI_SET, &v, NULL, value);
	for (size_t i = 0; i < sizeof(updates) / sizeof(*updates); i++)
		if (updates[i].op == op)
			return ki_stmt_update(g->s, (enum ki_update)updates[i].update, &v, NULL,
					      value);
	value = ki_expr_binary(g->s, (enum ki_binary)op, ki_expr_var(g->s, &v), value);
	return ki_stmt_update(g->s, KI_SET, &v, NULL, value);
}

static bool is_zero(const struct ki_d_node *n)
{
	return n && n->kind == KI_D_NUMBER && !n->value;
}

/* NAME[...] op= value; 0 takes the row away. */
static struct ki_node *set_row(struct ki_d_gen *g, const struct ki_d_node *n, uint8_t op,
			       const struct ki_d_node *right, struct ki_node *value)
{
	struct ki_table_var t = ki_table_var_of(n->sym.var->table, n->sym.var->name);
	struct ki_node *keys[2][KI_TABLE_KEYS];
	unsigned int nkeys = ki_d_gen_array_keys(g, n, keys[0]);

	if (op == KI_BINARIES && is_zero(right))
		return ki_stmt_table(g->s, KI_TABLE_DELETE, &t, 0, keys[0], nkeys, NULL);
	if (op == KI_ADD)
		return ki_stmt_table(g->s, KI_TABLE_ADD, &t, 0, keys[0], nkeys, value);
	if (op != KI_BINARIES) {
		ki_d_gen_array_keys(g, n, keys[1]);
		value = ki_expr_binary(g->s, (enum ki_binary)op,
				       ki_expr_table(g->s, &t, 0, keys[1], nkeys), value);
	}
	return ki_stmt_table(g->s, KI_TABLE_SET, &t, 0, keys[0], nkeys, value);
}

struct ki_node *ki_d_gen_assign(struct ki_d_gen *g, const struct ki_d_node *n)
{
	const struct ki_d_node *to = n->kid[0], *right = n->kind == KI_D_STEP ? NULL : n->kid[1];
	struct ki_node *value = right ? ki_d_gen_expr(g, right) : ki_expr_const(g->s, KI_I64, 1);

	if (to->kind == KI_D_INDEX)
		return set_row(g, to, n->op, right, value);
	return set_var(g, to, n->op, value);
}

/* ---- aggregations ---- */

#define HOLD (KI_LOCALS - 1) /* the local that holds a value which is needed twice */

static struct ki_node *change_row(struct ki_d_gen *g, const struct ki_d_node *n, uint8_t op,
				  uint32_t index, struct ki_node *value)
{
	struct ki_table_var t = ki_table_var_of(n->sym.agg->table, n->sym.agg->name);
	struct ki_node *keys[KI_TABLE_KEYS];
	unsigned int nkeys = ki_d_gen_keys(g, n->kid[0], n->sym.agg, keys);

	return ki_stmt_table(g->s, (enum ki_table_op)op, &t, index, keys, nkeys, value);
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

	return ki_stmt_table_linear(g->s, &t, 0, keys, nkeys, &n->sym.agg->linear,
				    ki_expr_cast(g->s, KI_I64, value));
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
	return ki_stmt_table_linear(g->s, &t, first, keys, nkeys, &linear,
				    ki_expr_var(g->s, &hold));
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

/* One more, where the key is the same each time: a counter of its own; NULL: there is none. */
static struct ki_node *count_cell(struct ki_d_gen *g, const struct ki_d_node *n)
{
	struct ki_var v = {.kind = KI_VAR_CPU, .type = KI_U64};
	uint64_t key[KI_D_KEYS] = {0};
	unsigned int i = 0;

	for (const struct ki_d_node *k = n->kid[0]; k; k = k->next) {
		if (!ki_d_is_constant(k) || n->sym.agg->forms[i] == KI_D_FORM_TEXT)
			return NULL;
		key[i++] = ki_d_gen_constant(g, k);
	}
	if (ki_d_cell(g->d, n->sym.agg, key, &v.first))
		return NULL;
	return ki_stmt_update(g->s, KI_UPDATE_ADD, &v, NULL, ki_expr_const(g->s, KI_U64, 1));
}

static struct ki_node *aggregate(struct ki_d_gen *g, const struct ki_d_node *n)
{
	static const uint8_t ops[KI_D_AGGS] = {
		[KI_D_COUNT] = KI_TABLE_ADD, [KI_D_SUM] = KI_TABLE_ADD,
		[KI_D_AVG] = KI_TABLE_STATS, [KI_D_MIN] = KI_TABLE_MIN,
		[KI_D_MAX] = KI_TABLE_MAX,   [KI_D_STDDEV] = KI_TABLE_STATS};
	const enum ki_d_agg_kind kind = ki_d_agg_kind(n->sym.agg);
	struct ki_node *cell = kind == KI_D_COUNT ? count_cell(g, n) : NULL, *value;

	if (cell)
		return cell;
	value = kind == KI_D_COUNT ? ki_expr_const(g->s, KI_I64, 1)
				   : ki_d_gen_expr(g, n->kid[1]->kid[0]);
	if (kind == KI_D_QUANTIZE)
		return quantize(g, n, value);
	if (kind == KI_D_LQUANTIZE)
		return lquantize(g, n, value);
	if (kind == KI_D_LLQUANTIZE)
		return llquantize(g, n, value);
	return change_row(g, n, ops[kind], 0, value);
}

/* ---- actions ---- */

static struct ki_node *record(struct ki_d_gen *g, uint32_t number)
{
	const struct ki_d_batch *b = &g->d->batches.v[number];
	struct ki_node *values[KI_RECORD_WORDS];
	unsigned int n = 0;

	values[n++] = ki_expr_const(g->s, KI_U32, g->site->probe);
	for (uint32_t i = b->first; i < b->first + b->n; i++) {
		const struct ki_d_action *a = &g->d->actions.v[i];

		for (unsigned int k = 0; k < a->nargs; k++)
			n += ki_d_gen_value(g, a->args[k].node, a->args[k].form, values + n);
	}
	return ki_stmt_record(g->s, ki_ring_number(g->d->run->ring), number, values, n);
}

static bool calls(const struct ki_d_batch *b, const struct ki_dlang *d, uint8_t kind)
{
	for (uint32_t i = b->first; i < b->first + b->n; i++) {
		const struct ki_d_node *n = d->actions.v[i].node;

		if (n && n->sym.function->kind == kind)
			return true;
	}
	return false;
}

static struct ki_node *append(struct ki_d_gen *g, struct ki_node *list, struct ki_node *stmt)
{
	return stmt ? ki_stmt_append(g->s, list, stmt) : list;
}

static struct ki_node *stop(struct ki_d_gen *g)
{
	const struct ki_var v = {
		.kind = KI_VAR_GLOBAL, .type = KI_U64, .first = g->d->run->stopped};

	return ki_stmt_update(g->s, KI_SET, &v, NULL, ki_expr_const(g->s, KI_U64, 1));
}

/* The record of a batch stands where its first action does. */
static struct ki_node *batch(struct ki_d_gen *g, struct ki_node *list, uint32_t number)
{
	if (calls(&g->d->batches.v[number], g->d, KI_D_F_EXIT))
		list = append(g, list, stop(g));
	return append(g, list, record(g, number));
}

/* The batch whose first action the statement is; UINT32_MAX: it is none's. */
static uint32_t begins_batch(const struct ki_d_gen *g, const struct ki_d_clause *c,
			     const struct ki_d_node *n)
{
	for (uint32_t i = c->first_batch; i < c->first_batch + c->nbatches; i++)
		if (g->d->actions.v[g->d->batches.v[i].first].node == n)
			return i;
	return UINT32_MAX;
}

/* ---- clauses ---- */

static struct ki_node *body(struct ki_d_gen *g, const struct ki_d_clause *c)
{
	struct ki_node *list = NULL;

	if (!c->body)
		return batch(g, NULL, c->first_batch);
	for (const struct ki_d_node *n = c->body; n; n = n->next) {
		uint32_t number = begins_batch(g, c, n);

		if (number != UINT32_MAX)
			list = batch(g, list, number);
		else if (n->kind == KI_D_AGG)
			list = append(g, list, aggregate(g, n));
		else if (n->kind == KI_D_ASSIGN || n->kind == KI_D_STEP)
			list = append(g, list, ki_d_gen_assign(g, n));
		else if (!(n->kind == KI_D_CALL && ki_d_is_action(n->sym.function)))
			list = append(g, list, ki_stmt_eval(g->s, ki_d_gen_expr(g, n)));
	}
	return list;
}

/* A && B: what the first refuses pays for nothing of the second. */
static struct ki_node *guard(struct ki_d_gen *g, const struct ki_d_node *p, struct ki_node *then)
{
	if (p->kind == KI_D_BINARY && p->op == KI_LAND)
		return guard(g, p->kid[0], guard(g, p->kid[1], then));
	return ki_stmt_if(g->s, ki_d_gen_expr(g, p), then, NULL);
}

static struct ki_node *clause(struct ki_d_gen *g, const struct ki_d_clause *c)
{
	const struct ki_var stopped = {
		.kind = KI_VAR_GLOBAL, .type = KI_U64, .first = g->d->run->stopped};
	struct ki_node *stmt = body(g, c);

	if (stmt && c->predicate)
		stmt = guard(g, c->predicate, stmt);
	if (stmt && g->d->exits && strcmp(g->d->probes.v[g->site->probe].name, "END") != 0)
		stmt = ki_stmt_if(g->s, ki_expr_unary(g->s, KI_LNOT, ki_expr_var(g->s, &stopped)),
				  stmt, NULL);
	return stmt;
}

/* thread == this one && the call's argument == the number */
static struct ki_node *only_trigger(struct ki_d_gen *g, struct ki_node *list, uint32_t number)
{
	struct ki_node *me = ki_expr_binary(g->s, KI_EQ, ki_expr_fact(g->s, KI_FACT_PID),
					    ki_expr_const(g->s, KI_U32, g->d->run->thread)),
		       *which = ki_expr_binary(g->s, KI_EQ, ki_d_gen_syscall_arg(g, 0),
					       ki_expr_const(g->s, KI_U64, number));

	return ki_stmt_if(g->s, me, ki_stmt_if(g->s, which, list, NULL), NULL);
}

static struct ki_node *guard_value(struct ki_d_gen *g, const struct ki_d_guarded *w)
{
	struct ki_node *x;

	if (w->kind == KI_D_FAILED || w->kind == KI_D_NULL)
		return ki_expr_cast(g->s, KI_I64, ki_expr_fact(g->s, KI_FACT_RETVAL));
	x = ki_expr_param(g->s, w->param);
	if (w->kind == KI_D_FIELD_IS)
		x = ki_expr_load(
			g->s, KI_U64,
			ki_expr_binary(g->s, KI_ADD, x, ki_expr_const(g->s, KI_U64, w->offset)));
	return x;
}

/* Only when the place means this probe. */
static struct ki_node *only_meant(struct ki_d_gen *g, const struct ki_d_hook *h,
				  struct ki_node *list)
{
	static const uint8_t ops[] = {[KI_D_PARAM_IS] = KI_EQ,
				      [KI_D_FIELD_IS] = KI_EQ,
				      [KI_D_PARAM_SET] = KI_NE,
				      [KI_D_FAILED] = KI_LT,
				      [KI_D_NULL] = KI_EQ};

	for (unsigned int i = KI_D_GUARDS; i--;) {
		const struct ki_d_guarded *w = &h->guard[i];

		if (w->kind)
			list = ki_stmt_if(
				g->s,
				ki_expr_binary(
					g->s, (enum ki_binary)ops[w->kind], guard_value(g, w),
					ki_expr_const(g->s,
						      w->kind == KI_D_FAILED ? KI_I64 : KI_U64,
						      w->value)),
				list, NULL);
	}
	return list;
}

int ki_d_code(struct ki_dlang *d, const struct ki_d_site *site, struct ki_snippet **out,
	      struct ki_err *err)
{
	const struct ki_d_probe *p = &d->probes.v[site->probe];
	struct ki_d_gen g = {.d = d, .site = site};
	struct ki_node *list = NULL;
	int ret;

	if (ki_snippet_new(&g.s))
		return ki_d_no_memory(err);
	for (uint32_t i = p->first; i < p->first + p->n; i++)
		list = append(&g, list, clause(&g, &d->clauses.v[d->uses.v[i]]));
	if (list && site->is_trigger)
		list = only_trigger(&g, list, site->probe);
	if (list && p->hook)
		list = only_meant(&g, p->hook, list);
	if (list)
		ki_snippet_body(g.s, list);
	*out = list ? g.s : NULL;
	ret = list ? ki_snippet_check(g.s, site->regs, err) : 0;
	if (!list || ret)
		ki_snippet_free(g.s);
	if (ret)
		*out = NULL;
	return ret;
}

int ki_d_code_constants(struct ki_dlang *d, const struct ki_d_site *site, size_t from, size_t to,
			struct ki_snippet **out, struct ki_err *err)
{
	struct ki_d_gen g = {.d = d, .site = site};
	int ret;

	*out = NULL;
	if (ki_snippet_new(&g.s))
		return ki_d_no_memory(err);
	ki_snippet_body(g.s, only_trigger(&g, ki_d_gen_constants(&g, from, to), KI_D_CONSTANTS));
	ret = ki_snippet_check(g.s, site->regs, err);
	if (ret)
		ki_snippet_free(g.s);
	else
		*out = g.s;
	return ret;
}
