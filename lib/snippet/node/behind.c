// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A value, after a statement.
 */
#include <errno.h>

#include "snippet/node.h"

struct ki_node *ki_expr_behind(struct ki_snippet *s, struct ki_node *stmt, struct ki_node *value)
{
	struct ki_node *n = ki_tree_node(s, NODE_BEHIND);

	if (!n || !ki_tree_adopt(n, 0, stmt, true) || !ki_tree_adopt(n, 1, value, false))
		return NULL;
	if (ki_ops(stmt)->lines)
		return ki_tree_fail(s, -EINVAL, "a list or an `if` inside of an expression");
	n->type = value->type;
	n->effects = true;
	return n;
}

static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	ki_gen_simple(g, n->kid[0]);
	ki_gen_expr(g, n->kid[1], dest);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	ki_run_node(r, n->kid[0]);
	return ki_run_node(r, n->kid[1]);
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	fputc('(', f);
	ki_format_simple(f, n->kid[0], ", ");
	ki_format_expr(f, n->kid[1], 0);
	fputc(')', f);
}

const struct ki_node_ops ki_node_behind = {
	.value = value,
	.run = run,
	.write = write,
};
