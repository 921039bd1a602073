// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Builders of statements.
 */
#include <errno.h>

#include "snippet/tree.h"

struct ki_node *ki_stmt_append(struct ki_snippet *s, struct ki_node *list, struct ki_node *stmt)
{
	if (!list)
		list = ki_tree_node(s, NODE_LIST);
	if (!list || s->err.code)
		return NULL;
	if (list->snippet != s || list->kind != NODE_LIST || list->used)
		return ki_tree_fail(s, -EINVAL, "no list of this snippet, or in use already");
	if (stmt == list || !ki_tree_adopt(list, 0, stmt, true))
		return ki_tree_fail(s, -EINVAL, "a list in itself");
	if (list->last)
		list->last->next = stmt;
	else
		list->first = stmt;
	list->last = stmt;
	return list;
}

struct ki_node *ki_stmt_if(struct ki_snippet *s, struct ki_node *cond, struct ki_node *then,
			   struct ki_node *otherwise)
{
	struct ki_node *n = ki_tree_node(s, NODE_IF);

	if (!n || !ki_tree_adopt(n, 0, cond, false) || !ki_tree_adopt(n, 1, then, true))
		return NULL;
	return !otherwise || ki_tree_adopt(n, 2, otherwise, true) ? n : NULL;
}

struct ki_node *ki_stmt_update(struct ki_snippet *s, enum ki_update op, const struct ki_var *v,
			       struct ki_node *index, struct ki_node *value)
{
	struct ki_node *n = ki_tree_node(s, NODE_UPDATE);

	if (!n)
		return NULL;
	if ((unsigned int)op >= KI_UPDATES)
		return ki_tree_fail(s, -EINVAL, "no such update: %u", op);
	if (!ki_tree_var(n, v, index != NULL))
		return NULL;
	n->op = op;
	if (!ki_tree_adopt(n, 0, value, false))
		return NULL;
	return !index || ki_tree_adopt(n, 1, index, false) ? n : NULL;
}

struct ki_node *ki_stmt_unless(struct ki_snippet *s, struct ki_node *stmt, const struct ki_var *v)
{
	struct ki_node *look = ki_expr_var(s, v);

	if (!stmt || !look || s->err.code)
		return NULL;
	if (v->kind != KI_VAR_LOCAL || ki_types[v->type].size != 8)
		return ki_tree_fail(s, -EINVAL, "only a local variable of 64 bits can be asked");
	if (stmt->snippet != s || stmt->used ||
	    (stmt->kind != NODE_RECORD && stmt->kind != NODE_TABLE &&
	     (stmt->kind != NODE_UPDATE || stmt->op == KI_UPDATE_MIN || stmt->op == KI_UPDATE_MAX)))
		return ki_tree_fail(s, -EINVAL, "a statement that cannot be left out");
	stmt->unless = (uint8_t)(1 + v->first);
	return stmt;
}

struct ki_node *ki_stmt_eval(struct ki_snippet *s, struct ki_node *expr)
{
	struct ki_node *n = ki_tree_node(s, NODE_EVAL);

	return n && ki_tree_adopt(n, 0, expr, false) ? n : NULL;
}

struct ki_node *ki_stmt_log2(struct ki_snippet *s, const struct ki_var *v, struct ki_node *value)
{
	struct ki_node *n = ki_tree_node(s, NODE_LOG2);

	if (!n || !ki_tree_var(n, v, true))
		return NULL;
	if (v->count != KI_LOG2_BUCKETS)
		return ki_tree_fail(s, -EINVAL, "%s: %u buckets, not %d", n->var.name, v->count,
				    KI_LOG2_BUCKETS);
	return ki_tree_adopt(n, 0, value, false) ? n : NULL;
}

unsigned int ki_node_kids_words(const struct ki_node *parent, unsigned int n)
{
	unsigned int words = 0;

	for (unsigned int i = 0; i < n; i++)
		words += ki_node_words(parent->kid[i]);
	return words;
}

struct ki_node *ki_stmt_record(struct ki_snippet *s, uint32_t ring, uint32_t id,
			       struct ki_node *const *values, unsigned int nvalues)
{
	struct ki_node *n = ki_tree_node(s, NODE_RECORD);

	if (!n)
		return NULL;
	if (nvalues > KI_RECORD_WORDS)
		return ki_tree_fail(s, -EINVAL, "a record with %u values: at most %d", nvalues,
				    KI_RECORD_WORDS);
	if (ring > UINT32_MAX >> 8)
		return ki_tree_fail(s, -EINVAL, "no ring has the number %u", ring);
	n->ring = ring;
	n->value = id;
	for (unsigned int i = 0; i < nvalues; i++)
		if (!ki_tree_adopt(n, i, values[i], false))
			return NULL;
	if (ki_node_kids_words(n, nvalues) > KI_RECORD_WORDS)
		return ki_tree_fail(s, -EINVAL, "a record of %u words: at most %d",
				    ki_node_kids_words(n, nvalues), KI_RECORD_WORDS);
	return n;
}

static struct ki_node *held(struct ki_snippet *s, enum ki_type type)
{
	struct ki_node *n = ki_tree_node(s, NODE_HELD);

	if (n)
		n->type = type;
	return n;
}

static struct ki_node *number(struct ki_snippet *s, enum ki_type type, uint64_t value)
{
	return ki_expr_const(s, type, value);
}

/* The bucket's number as an expression of the value, which is held. */
static struct ki_node *lower_linear(struct ki_snippet *s, const struct ki_linear *l, bool sign)
{
	enum ki_type type = sign ? KI_I64 : KI_U64;
	uint64_t low = (uint64_t)l->low, high = (uint64_t)l->high;
	struct ki_node *off, *bucket;

	off = ki_expr_binary(s, KI_SUB, held(s, type), number(s, type, low));
	if (l->step > 1)
		off = ki_expr_binary(s, KI_DIV, off, number(s, KI_U64, l->step));
	bucket = ki_expr_binary(s, KI_ADD, off, number(s, KI_U64, 1));
	bucket = ki_expr_cond(s, ki_expr_binary(s, KI_GE, held(s, type), number(s, type, high)),
			      number(s, KI_U64, ki_linear_buckets(l) - 1), bucket);
	if (!sign && !low)
		return bucket;
	return ki_expr_cond(s, ki_expr_binary(s, KI_LT, held(s, type), number(s, type, low)),
			    number(s, KI_U64, 0), bucket);
}

struct ki_node *ki_tree_lower_linear(struct ki_node *n, const struct ki_linear *l,
				     const struct ki_node *value)
{
	bool sign = ki_types[value->type].sign;

	if (!ki_linear_buckets(l) || (!sign && l->low < 0))
		return ki_tree_fail(n->snippet, -EINVAL, "%s: bounds or step cannot be so",
				    n->var.name);
	n->linear = *l;
	n->lowered = lower_linear(n->snippet, l, sign);
	if (n->lowered && n->depth <= n->lowered->depth)
		n->depth = n->lowered->depth + 1;
	return n->lowered;
}

struct ki_node *ki_stmt_linear(struct ki_snippet *s, const struct ki_var *v,
			       const struct ki_linear *l, struct ki_node *value)
{
	struct ki_node *n = ki_tree_node(s, NODE_LINEAR);

	if (!n || !ki_tree_var(n, v, true) || !ki_tree_adopt(n, 0, value, false) ||
	    !ki_tree_lower_linear(n, l, value))
		return NULL;
	if (v->count != ki_linear_buckets(l))
		return ki_tree_fail(s, -EINVAL, "%s: %u buckets, not %u", n->var.name, v->count,
				    ki_linear_buckets(l));
	return n;
}

/* Lines as ki_snippet_format makes them: see there. */
static uint32_t number_lines(struct ki_node *n, uint32_t line)
{
	if (n->kind == NODE_LIST) {
		for (struct ki_node *k = n->first; k; k = k->next)
			line = number_lines(k, line);
		return line;
	}
	n->line = line++;
	if (n->kind != NODE_IF)
		return line;
	line = number_lines(n->kid[1], line);
	if (n->nkids > 2)
		line = number_lines(n->kid[2], line + 1);
	return line + 1;
}

void ki_snippet_body(struct ki_snippet *s, struct ki_node *stmt)
{
	struct ki_node root = {.snippet = s, .kind = NODE_IF};

	if (s->err.code)
		return;
	if (s->body) {
		ki_tree_fail(s, -EINVAL, "a snippet has one body");
		return;
	}
	if (!ki_tree_adopt(&root, 1, stmt, true))
		return;
	s->body = stmt;
	number_lines(stmt, 1);
}
