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

static const char *misuse(const struct ki_table_var *t, unsigned int op, uint32_t value_index,
			  unsigned int nkeys)
{
	if (t->number > UINT32_MAX >> 20 || !t->keys || t->keys > KI_TABLE_KEYS || !t->values ||
	    t->values > KI_TABLE_VALUES)
		return "no such table";
	if (!nkeys || nkeys > t->keys)
		return "a key has another number of words";
	if (op >= KI_TABLE_OPS)
		return "no such operation";
	if (op <= KI_TABLE_DELETE && !t->shared)
		return "only of a shared table";
	if (value_index >= t->values || ki_table_op_words(op) > t->values - value_index)
		return "it has not so many values";
	return NULL;
}

static struct ki_node *table_node(struct ki_snippet *s, enum node_kind kind, unsigned int op,
				  const struct ki_table_var *t, uint32_t value_index,
				  struct ki_node *const *keys, unsigned int nkeys)
{
	struct ki_node *n = ki_tree_node(s, kind);
	const char *why = misuse(t, op, value_index, nkeys);
	char name[24];

	if (!n)
		return NULL;
	snprintf(name, sizeof(name), "table%u", t->number);
	if (why)
		return ki_tree_fail(s, -EINVAL, "%s: %s", t->name ? t->name : name, why);
	n->var.name = ki_tree_string(s, t->name ? t->name : name);
	n->what = KI_TABLE_OP(t->number, op, value_index);
	n->nkeys = (uint8_t)nkeys;
	for (unsigned int i = 0; i < nkeys; i++)
		if (!ki_tree_adopt(n, i, keys[i], false))
			return NULL;
	if (ki_node_kids_words(n, nkeys) != t->keys)
		return ki_tree_fail(s, -EINVAL, "%s: a key has another number of words",
				    n->var.name);
	n->effects = true;
	return n->var.name ? n : NULL;
}

struct ki_node *ki_expr_table(struct ki_snippet *s, const struct ki_table_var *t,
			      uint32_t value_index, struct ki_node *const *keys, unsigned int nkeys)
{
	return table_node(s, NODE_TABLE_GET, KI_TABLE_GET, t, value_index, keys, nkeys);
}

struct ki_node *ki_stmt_table(struct ki_snippet *s, enum ki_table_op op,
			      const struct ki_table_var *t, uint32_t value_index,
			      struct ki_node *const *keys, unsigned int nkeys,
			      struct ki_node *value)
{
	struct ki_node *n = table_node(s, NODE_TABLE, op, t, value_index, keys, nkeys);

	if (!n)
		return NULL;
	if (op == KI_TABLE_GET || (op == KI_TABLE_DELETE) != !value)
		return ki_tree_fail(s, -EINVAL,
				    "%s: GET is no statement, DELETE has no value, all "
				    "others have one",
				    n->var.name);
	if (op == KI_TABLE_DELETE && value_index)
		return ki_tree_fail(s, -EINVAL, "%s: DELETE has index 0", n->var.name);
	if (value && value->width)
		return ki_tree_fail(s, -EINVAL, "%s: a string where a number must be", n->var.name);
	return !value || ki_tree_adopt(n, nkeys, value, false) ? n : NULL;
}

struct ki_node *ki_stmt_table_linear(struct ki_snippet *s, const struct ki_table_var *t,
				     uint32_t value_index, struct ki_node *const *keys,
				     unsigned int nkeys, const struct ki_linear *l,
				     struct ki_node *value)
{
	struct ki_node *n = ki_stmt_table(s, KI_TABLE_COUNT, t, value_index, keys, nkeys, value);

	if (!n || !ki_tree_lower_linear(n, l, value))
		return NULL;
	if (ki_linear_buckets(l) > t->values - value_index)
		return ki_tree_fail(s, -EINVAL, "%s: it has not so many values", n->var.name);
	return n;
}
