// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The value of a variable.
 */
#include "snippet/node.h"

struct ki_node *ki_expr_var(struct ki_snippet *s, const struct ki_var *v)
{
	struct ki_node *n = ki_tree_node(s, NODE_VAR);

	return n && ki_tree_var(n, v, false) ? n : NULL;
}

struct ki_node *ki_expr_index(struct ki_snippet *s, const struct ki_var *v, struct ki_node *index)
{
	struct ki_node *n = ki_tree_node(s, NODE_VAR);

	return n && ki_tree_var(n, v, true) && ki_tree_adopt(n, 0, index, false) ? n : NULL;
}

static const char *foreign(const struct ki_node *n)
{
	return n->nkids && !n->kid[0]->konst ? "a vector's value by its index" : NULL;
}

static bool wordless(const struct ki_node *n, uint64_t *value)
{
	*value = 0;
	return n->var.kind == KI_VAR_THREAD;
}

/* A variable of 64 bits at a place known now. */
static bool is_plain(const struct gen *g, const struct ki_node *n)
{
	if (ki_types[n->type].size != 8 || (n->var.kind == KI_VAR_THREAD && g->words != WORDS_HERE))
		return false;
	return !n->nkids || (n->kid[0]->konst && n->kid[0]->value < n->var.count);
}

static bool leaf(const struct gen *g, const struct ki_node *n, struct opnd *o)
{
	int reg = ki_gen_local_reg(g, &n->var);

	if (reg >= 0) {
		*o = (struct opnd){.kind = OPND_REG, .m = rm_reg((unsigned int)reg)};
		return true;
	}
	if (!is_plain(g, n))
		return false;
	*o = (struct opnd){.kind = OPND_MEM,
			   .m = ki_gen_var(g, &n->var, n->nkids ? n->kid[0]->value : 0)};
	return true;
}

static void indexed(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	struct opnd i = ki_gen_reg_operand(g, n->kid[0]);
	struct rm m = ki_gen_at_index(n, i.m.reg);
	uint32_t out;

	ki_asm_const(&g->a, dest, 0);
	out = ki_gen_bound(g, i.m.reg, n->var.count);
	ki_asm_mov(&g->a, 8, dest, &m);
	ki_asm_here(&g->a, out);
	ki_gen_drop(g, &i);
}

static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	struct rm m;

	if (n->nkids && !n->kid[0]->konst) {
		indexed(g, n, dest);
	} else if (n->nkids && n->kid[0]->value >= n->var.count) {
		ki_asm_const(&g->a, dest, 0);
	} else if (n->var.kind == KI_VAR_THREAD && g->words != WORDS_HERE) {
		ki_gen_word_read(g, &n->var, dest);
	} else {
		m = ki_gen_var(g, &n->var, n->nkids ? n->kid[0]->value : 0);
		ki_asm_extend(&g->a, n->type, dest, &m);
	}
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	const uint64_t *slot = ki_run_slot(r, n, n->nkids ? ki_run_node(r, n->kid[0]) : 0);

	return slot ? ki_type_extend(n->var.type, *slot) : 0;
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	ki_format_var(f, n, n->nkids ? n->kid[0] : NULL);
}

const struct ki_node_ops ki_node_var = {
	.has_var = true,
	.foreign_of = foreign,
	.wordless = wordless,
	.leaf = leaf,
	.value = value,
	.run = run,
	.write = write,
};
