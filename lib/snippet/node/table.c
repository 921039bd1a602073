// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What is done with tables.
 *
 * The key is pushed word by word as it is evaluated, the value goes to %rsi, and %edi is written
 * the moment before helper TABLE is called, as the driver wants to see it. Registers that are taken
 * already are saved below the key.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "snippet/node.h"

uint32_t ki_table_op_words(uint32_t op)
{
	return op == KI_TABLE_LOG2    ? KI_TABLE_LOG2_WORDS
	       : op == KI_TABLE_STATS ? KI_TABLE_STATS_WORDS
				      : 1;
}

static const char *misuse(const struct ki_row_value *v, unsigned int op)
{
	const struct ki_table_var *t = v->table;

	if (t->number > UINT32_MAX >> 20 || !t->keys || t->keys > KI_TABLE_KEYS || !t->values ||
	    t->values > KI_TABLE_VALUES)
		return "no such table";
	if (!v->nkeys || v->nkeys > t->keys)
		return "a key has another number of words";
	if (op >= KI_TABLE_OPS)
		return "no such operation";
	if (op <= KI_TABLE_DELETE && !t->shared)
		return "only of a shared table";
	if (v->index >= t->values || ki_table_op_words(op) > t->values - v->index)
		return "it has not so many values";
	return NULL;
}

static struct ki_node *table_node(struct ki_snippet *s, enum node_kind kind, unsigned int op,
				  const struct ki_row_value *v)
{
	struct ki_node *n = ki_tree_node(s, kind);
	const char *why = misuse(v, op);
	const struct ki_table_var *t = v->table;
	char name[24];

	if (!n)
		return NULL;
	snprintf(name, sizeof(name), "table%u", t->number);
	if (why)
		return ki_tree_fail(s, -EINVAL, "%s: %s", t->name ? t->name : name, why);
	n->var.name = ki_tree_string(s, t->name ? t->name : name);
	n->what = KI_TABLE_OP(t->number, op, v->index);
	n->nkeys = (uint8_t)v->nkeys;
	if (!ki_node_adopt_all(n, v->keys, v->nkeys))
		return NULL;
	if (ki_node_kids_words(n, v->nkeys) != t->keys)
		return ki_tree_fail(s, -EINVAL, "%s: a key has another number of words",
				    n->var.name);
	n->effects = true;
	return n->var.name ? n : NULL;
}

struct ki_node *ki_expr_table(struct ki_snippet *s, const struct ki_row_value *v)
{
	return table_node(s, NODE_TABLE_GET, KI_TABLE_GET, v);
}

struct ki_node *ki_stmt_table(struct ki_snippet *s, enum ki_table_op op,
			      const struct ki_row_value *v, struct ki_node *value)
{
	struct ki_node *n = table_node(s, NODE_TABLE, op, v);

	if (!n)
		return NULL;
	if (op == KI_TABLE_GET || (op == KI_TABLE_DELETE) != !value)
		return ki_tree_fail(s, -EINVAL,
				    "%s: GET is no statement, DELETE has no value, all "
				    "others have one",
				    n->var.name);
	if (op == KI_TABLE_DELETE && v->index)
		return ki_tree_fail(s, -EINVAL, "%s: DELETE has index 0", n->var.name);
	if (value && value->width)
		return ki_tree_fail(s, -EINVAL, "%s: a string where a number must be", n->var.name);
	return !value || ki_tree_adopt(n, v->nkeys, value, false) ? n : NULL;
}

struct ki_node *ki_stmt_table_linear(struct ki_snippet *s, const struct ki_row_value *v,
				     const struct ki_linear *l, struct ki_node *value)
{
	struct ki_node *n = ki_stmt_table(s, KI_TABLE_COUNT, v, value);

	if (!n || !ki_tree_lower_linear(n, l, value))
		return NULL;
	if (ki_linear_buckets(l) > v->table->values - v->index)
		return ki_tree_fail(s, -EINVAL, "%s: it has not so many values", n->var.name);
	return n;
}

static uint16_t fixed(const struct ki_node *n)
{
	(void)n;
	return ki_gen_fixed_args(2);
}

static void push_key(struct gen *g, const struct ki_node *n, unsigned int dest, struct claims *c)
{
	for (unsigned int i = 0; i < n->nkeys; i++)
		ki_gen_push_value(g, n->kid[i], dest, c);
}

/* What the call writes, and what is needed for a value or a string. */
static uint16_t regs_of(const struct ki_node *n)
{
	bool rsi = n->nkids > n->nkeys;

	for (unsigned int i = 0; i < n->nkeys; i++)
		rsi |= n->kid[i]->width > 0;
	return (uint16_t)(REG_BIT(KI_RAX) | REG_BIT(KI_RDI) | (rsi ? REG_BIT(KI_RSI) : 0));
}

/* %rsi is claimed, so the value that is held is elsewhere. */
static void value_to_rsi(struct gen *g, const struct ki_node *n)
{
	const struct ki_node *value = n->kid[n->nkeys];
	struct opnd v;

	if (!n->lowered) {
		ki_gen_expr(g, value, KI_RSI);
	} else if (value->konst) {
		ki_asm_const(
			&g->a, KI_RSI,
			ki_linear_bucket(&n->linear, ki_types[value->type].sign, value->value));
	} else {
		v = ki_gen_reg_operand(g, value);
		g->held = v.m.reg;
		ki_gen_expr(g, n->lowered, KI_RSI);
		ki_gen_drop(g, &v);
	}
}

/* The words of the key are taken away with `scratch`. */
static void call(struct gen *g, const struct ki_node *n, unsigned int words, unsigned int scratch)
{
	uint32_t out = ki_gen_unless(g, n);

	ki_gen_number(g, KI_RDI, n->what);
	ki_asm_call(&g->a, KI_FIX_HELPER, KI_HELPER_TABLE);
	ki_gen_unless_end(g, out);
	while (words--)
		ki_gen_pop(g, scratch);
}

static void action(struct gen *g, struct ki_node *n)
{
	const unsigned int words = ki_node_kids_words(n, n->nkeys);
	const uint16_t regs = regs_of(n);
	struct claims c = {0};

	ki_gen_claim_some(g, g->busy & regs, REGS, &c);
	push_key(g, n, REGS, &c);
	if (n->nkids > n->nkeys) {
		ki_gen_claim_some(g, REG_BIT(KI_RSI), REGS, &c);
		value_to_rsi(g, n);
	}
	ki_gen_claim_some(g, regs, REGS, &c);
	call(g, n, words, KI_RAX);
	ki_gen_unclaim(g, &c);
}

/* A result's %rax is free until there is one. */
static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	const unsigned int words = ki_node_kids_words(n, n->nkeys);
	const uint16_t regs = regs_of(n);
	struct rm rax = rm_reg(KI_RAX);
	struct claims c = {0};

	ki_gen_claim_some(g, g->busy & regs, dest, &c);
	push_key(g, n, dest, &c);
	ki_gen_claim_some(g, regs, dest, &c);
	call(g, n, words, KI_RDI);
	if (dest != KI_RAX)
		ki_asm_mov(&g->a, 8, dest, &rax);
	ki_gen_unclaim(g, &c);
}

/* The key, then the value, which a bucket may stand for. */
static uint64_t run(const struct run *r, const struct ki_node *n)
{
	uint64_t v[KI_TABLE_KEYS] = {0}, value = 0;
	unsigned int nkeys = ki_run_words(r, n, n->nkeys, v);

	if (n->nkids > n->nkeys)
		value = ki_run_node(r, n->kid[n->nkeys]);
	if (ki_run_left_out(r, n))
		return 0;
	if (n->lowered)
		value = ki_linear_bucket(&n->linear, ki_types[n->kid[n->nkeys]->type].sign, value);
	return r->m->table ? r->m->table(r->m->arg, n->what, v, nkeys, value) : 0;
}

/* The key, and which of the row's values. */
static void write_at(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	fprintf(f, "%s", n->var.name);
	for (unsigned int i = 0; i < n->nkeys; i++) {
		fputs(i ? ", " : "[", f);
		ki_format_expr(f, n->kid[i], 0);
	}
	fprintf(f, "].%u", n->what & 0xffff);
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	static const char *const ops[KI_TABLE_OPS] = {
		[KI_TABLE_SET] = "set",	    [KI_TABLE_DELETE] = "delete", [KI_TABLE_ADD] = "add",
		[KI_TABLE_MIN] = "min",	    [KI_TABLE_MAX] = "max",	  [KI_TABLE_UMIN] = "umin",
		[KI_TABLE_UMAX] = "umax",   [KI_TABLE_COUNT] = "count",	  [KI_TABLE_LOG2] = "log2",
		[KI_TABLE_STATS] = "stats",
	};

	write_at(f, n, outside);
	fprintf(f, ".%s(", n->lowered ? "linear" : ops[ki_what_op(n->what)]);
	if (n->nkids > n->nkeys)
		ki_format_expr(f, n->kid[n->nkeys], 0);
	if (n->lowered)
		fprintf(f, ", %" PRId64 ", %" PRId64 ", %" PRIu64, n->linear.low, n->linear.high,
			n->linear.step);
	fputc(')', f);
}

const struct ki_node_ops ki_node_table = {
	.takes = TAKES_STRINGS_TOO,
	.can_be_left_out = ki_node_yes,
	.foreign = "a table",
	.fixed = fixed,
	.action = action,
	.run = run,
	.write = write,
};

const struct ki_node_ops ki_node_table_get = {
	.takes = TAKES_STRINGS_TOO,
	.foreign = "a table",
	.fixed = fixed,
	.in_rax = ki_node_yes,
	.value = value,
	.run = run,
	.write = write_at,
};
