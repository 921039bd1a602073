// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * An expression, for its effect.
 */
#include "snippet/node.h"

struct ki_node *ki_stmt_eval(struct ki_snippet *s, struct ki_node *expr)
{
	struct ki_node *n = ki_tree_node(s, NODE_EVAL);

	return n && ki_tree_adopt(n, 0, expr, false) ? n : NULL;
}

void ki_gen_effect(struct gen *g, const struct ki_node *n)
{
	struct opnd o;

	if (!n->effects)
		return;
	o = ki_gen_reg_operand(g, n);
	ki_gen_drop(g, &o);
}

static void action(struct gen *g, struct ki_node *n)
{
	ki_gen_effect(g, n->kid[0]);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	ki_run_node(r, n->kid[0]);
	return 0;
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	ki_format_expr(f, n->kid[0], 0);
}

const struct ki_node_ops ki_node_eval = {
	.action = action,
	.run = run,
	.write = write,
};
