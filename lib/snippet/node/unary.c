// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * -, ~ and !
 */
#include <errno.h>

#include "snippet/node.h"

struct ki_node *ki_expr_unary(struct ki_snippet *s, enum ki_unary op, struct ki_node *x)
{
	struct ki_node *n = ki_tree_node(s, NODE_UNARY);

	if (!n)
		return NULL;
	if ((unsigned int)op >= KI_UNARIES)
		return ki_tree_fail(s, -EINVAL, "no such operator: %u", op);
	n->op = op;
	if (!ki_tree_adopt(n, 0, x, false))
		return NULL;
	n->type = op == KI_LNOT ? KI_I64 : ki_type_common(x->type, x->type);
	if (x->konst)
		ki_node_set_konst(n, ki_arith_unary(op, x->value));
	return n;
}

static bool wordless(const struct ki_node *n, uint64_t *value)
{
	*value = ki_arith_unary(n->op, n->kid[0]->value);
	return n->kid[0]->konst;
}

static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	if (n->op == KI_LNOT) {
		ki_gen_truth(g, n, dest);
		return;
	}
	ki_gen_expr(g, n->kid[0], dest);
	ki_asm_unary(&g->a, n->op == KI_NEG ? 3 : 2, dest);
}

/* It compares with 0. */
static bool is_not(const struct ki_node *n)
{
	return n->op == KI_LNOT;
}

static bool branch(struct gen *g, const struct ki_node *n, bool sense, uint32_t label)
{
	if (!is_not(n))
		return false;
	ki_gen_cond(g, n->kid[0], !sense, label);
	return true;
}

static const struct ki_node *asked_first(const struct ki_node *n)
{
	return is_not(n) ? n->kid[0] : NULL;
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	return ki_arith_unary(n->op, ki_run_node(r, n->kid[0]));
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	fputc("-~!"[n->op], f);
	ki_format_expr(f, n->kid[0], BINDS_UNARY);
}

const struct ki_node_ops ki_node_unary = {
	.facts = ki_node_kids_facts,
	.in_rax = ki_node_kid_in_rax,
	.wordless = wordless,
	.value = value,
	.is_truth = is_not,
	.is_compare = is_not,
	.branch = branch,
	.asked_first = asked_first,
	.run = run,
	.write = write,
};
