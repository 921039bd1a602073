// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * All kinds of nodes, and what is asked of any of them.
 */
#include <errno.h>

#include "snippet/node.h"

const struct ki_node_ops *const ki_nodes[NODE_KINDS] = {
#define KI_NODE(tag, ops, what) [NODE_##tag] = &ki_node_##ops,
#include "snippet/nodes.def"
#undef KI_NODE
};

bool ki_node_is_statement(const struct ki_node *n)
{
	return ki_ops(n)->action != NULL;
}

bool ki_node_yes(const struct ki_node *n)
{
	(void)n;
	return true;
}

bool ki_node_kid_in_rax(const struct ki_node *n)
{
	return ki_gen_comes_in_rax(n->kid[0]);
}

uint64_t ki_node_no_facts(const struct ki_node *n)
{
	(void)n;
	return 0;
}

uint64_t ki_node_kids_facts(const struct ki_node *n)
{
	uint64_t facts = 0;

	for (unsigned int i = 0; i < n->nkids; i++)
		facts |= ki_node_facts(n->kid[i]);
	return facts;
}

uint64_t ki_node_facts(const struct ki_node *n)
{
	return ki_ops(n)->facts ? ki_ops(n)->facts(n) : KI_FACTS_AND_MORE;
}

struct ki_node *ki_node_again(struct ki_snippet *s, const struct ki_node *n)
{
	if (!n || s->err.code)
		return NULL;
	return ki_ops(n)->again ? ki_ops(n)->again(s, n) : ki_node_not_again(s);
}

struct ki_node *ki_node_not_again(struct ki_snippet *s)
{
	return ki_tree_fail(s, -EINVAL, "a timer's clock is a fact, or arithmetic with it");
}

const struct ki_node *ki_node_bare(const struct ki_node *n, unsigned int size)
{
	const struct ki_node *inner = n;

	while (inner) {
		n = inner;
		inner = !n->konst && ki_ops(n)->bare ? ki_ops(n)->bare(n, size) : NULL;
	}
	return n;
}

void ki_node_set_konst(struct ki_node *n, uint64_t value)
{
	n->konst = true;
	n->value = value;
	n->need = 0;
}

bool ki_node_adopt_all(struct ki_node *n, struct ki_node *const *kids, unsigned int nkids)
{
	for (unsigned int i = 0; i < nkids; i++)
		if (!ki_tree_adopt(n, i, kids[i], false))
			return false;
	return true;
}

unsigned int ki_node_kids_words(const struct ki_node *parent, unsigned int n)
{
	unsigned int words = 0;

	for (unsigned int i = 0; i < n; i++)
		words += ki_node_words(parent->kid[i]);
	return words;
}

uint32_t ki_node_number(struct ki_node *n, uint32_t line)
{
	if (ki_ops(n)->number)
		return ki_ops(n)->number(n, line);
	n->line = line;
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
	ki_node_number(stmt, 1);
}

struct ki_node *ki_stmt_unless(struct ki_snippet *s, struct ki_node *stmt, const struct ki_var *v)
{
	struct ki_node *look = ki_expr_var(s, v);

	if (!stmt || !look || s->err.code)
		return NULL;
	if (v->kind != KI_VAR_LOCAL || ki_types[v->type].size != 8)
		return ki_tree_fail(s, -EINVAL, "only a local variable of 64 bits can be asked");
	if (stmt->snippet != s || stmt->used || !ki_ops(stmt)->can_be_left_out ||
	    !ki_ops(stmt)->can_be_left_out(stmt))
		return ki_tree_fail(s, -EINVAL, "a statement that cannot be left out");
	stmt->unless = (uint8_t)(1 + v->first);
	return stmt;
}
