// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * c ? x : y
 */
#include "snippet/node.h"

struct ki_node *ki_expr_cond(struct ki_snippet *s, struct ki_node *c, struct ki_node *yes,
			     struct ki_node *no)
{
	struct ki_node *n = ki_tree_node(s, NODE_COND);

	if (!n || !ki_tree_adopt(n, 0, c, false) || !ki_tree_adopt(n, 1, yes, false) ||
	    !ki_tree_adopt(n, 2, no, false))
		return NULL;
	n->type = ki_type_common(yes->type, no->type);
	if (c->konst && yes->konst && no->konst)
		ki_node_set_konst(n, c->value ? yes->value : no->value);
	return n;
}

static bool wordless(const struct ki_node *n, uint64_t *value)
{
	const struct ki_node *k = n->kid[0];

	if (!k->konst)
		return false;
	k = n->kid[k->value ? 1 : 2];
	*value = k->value;
	return k->konst;
}

static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	uint32_t no = ki_asm_label(&g->a), end = ki_asm_label(&g->a);

	ki_gen_cond(g, n->kid[0], false, no);
	ki_gen_expr(g, n->kid[1], dest);
	ki_asm_branch(&g->a, ASM_JMP, end);
	ki_asm_here(&g->a, no);
	ki_gen_expr(g, n->kid[2], dest);
	ki_asm_here(&g->a, end);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	return ki_run_node(r, n->kid[ki_run_node(r, n->kid[0]) ? 1 : 2]);
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	if (outside >= BINDS_COND)
		fputc('(', f);
	ki_format_expr(f, n->kid[0], BINDS_COND);
	fputs(" ? ", f);
	ki_format_expr(f, n->kid[1], BINDS_COND);
	fputs(" : ", f);
	ki_format_expr(f, n->kid[2], BINDS_COND);
	if (outside >= BINDS_COND)
		fputc(')', f);
}

const struct ki_node_ops ki_node_cond = {
	.facts = ki_node_kids_facts,
	.wordless = wordless,
	.value = value,
	.run = run,
	.write = write,
};
