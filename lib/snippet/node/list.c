// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Statements one after the other.
 */
#include <errno.h>

#include "snippet/node.h"

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

static void action(struct gen *g, struct ki_node *n)
{
	ki_gen_run(g, n->first, NULL);
}

static uint64_t own_locals(const struct ki_node *n)
{
	(void)n;
	return 0;
}

static bool always_words(const struct ki_node *n)
{
	for (const struct ki_node *k = n->first; k; k = k->next)
		if (ki_gen_words_always(k))
			return true;
	return false;
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	for (const struct ki_node *k = n->first; k; k = k->next)
		ki_run_node(r, k);
	return 0;
}

static void lines(FILE *f, const struct ki_node *n, unsigned int depth)
{
	for (const struct ki_node *k = n->first; k; k = k->next)
		ki_format_stmt(f, k, depth);
}

static uint32_t number(struct ki_node *n, uint32_t line)
{
	for (struct ki_node *k = n->first; k; k = k->next)
		line = ki_node_number(k, line);
	return line;
}

const struct ki_node_ops ki_node_list = {
	.chains = true,
	.action = action,
	.own_locals = own_locals,
	.always_words = always_words,
	.run = run,
	.lines = lines,
	.number = number,
};
