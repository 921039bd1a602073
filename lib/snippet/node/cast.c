// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A value as one of another type: cut to its size, and extended.
 */
#include <errno.h>

#include "snippet/node.h"

struct ki_node *ki_expr_cast(struct ki_snippet *s, enum ki_type type, struct ki_node *x)
{
	struct ki_node *n = ki_tree_node(s, NODE_CAST);

	if (!n)
		return NULL;
	if ((unsigned int)type >= KI_TYPES)
		return ki_tree_fail(s, -EINVAL, "no such type: %u", type);
	n->type = type;
	if (!ki_tree_adopt(n, 0, x, false))
		return NULL;
	if (x->konst)
		ki_node_set_konst(n, ki_type_extend(type, x->value));
	return n;
}

static struct ki_node *again(struct ki_snippet *s, const struct ki_node *n)
{
	return ki_expr_cast(s, n->type, ki_node_again(s, n->kid[0]));
}

static bool wordless(const struct ki_node *n, uint64_t *value)
{
	*value = ki_type_extend(n->type, n->kid[0]->value);
	return n->kid[0]->konst;
}

static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	struct opnd o;
	struct rm m = rm_reg(dest);

	if (ki_type_covers(n->type, n->kid[0]->type)) {
		ki_gen_expr(g, n->kid[0], dest);
	} else if (ki_gen_leaf(g, n->kid[0], &o)) {
		ki_asm_extend(&g->a, n->type, dest, &o.m);
	} else {
		ki_gen_expr(g, n->kid[0], dest);
		ki_asm_extend(&g->a, n->type, dest, &m);
	}
}

static const struct ki_node *bare(const struct ki_node *n, unsigned int size)
{
	return ki_types[n->type].size >= size ? n->kid[0] : NULL;
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	return ki_type_extend(n->type, ki_run_node(r, n->kid[0]));
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	fprintf(f, "(%s)", ki_types[n->type].name);
	ki_format_expr(f, n->kid[0], BINDS_UNARY - 1);
}

const struct ki_node_ops ki_node_cast = {
	.again = again,
	.facts = ki_node_kids_facts,
	.in_rax = ki_node_kid_in_rax,
	.wordless = wordless,
	.value = value,
	.bare = bare,
	.run = run,
	.write = write,
};
