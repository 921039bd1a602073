// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Builders of what is done with tables.
 */
#include <errno.h>
#include <stdio.h>

#include "snippet/tree.h"

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
	for (unsigned int i = 0; i < v->nkeys; i++)
		if (!ki_tree_adopt(n, i, v->keys[i], false))
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
