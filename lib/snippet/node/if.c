// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * `if`, with `else` or without.
 */
#include "snippet/node.h"

struct ki_node *ki_stmt_if(struct ki_snippet *s, struct ki_node *cond, struct ki_node *then,
			   struct ki_node *otherwise)
{
	struct ki_node *n = ki_tree_node(s, NODE_IF);

	if (!n || !ki_tree_adopt(n, 0, cond, false) || !ki_tree_adopt(n, 1, then, true))
		return NULL;
	return !otherwise || ki_tree_adopt(n, 2, otherwise, true) ? n : NULL;
}

static void action(struct gen *g, struct ki_node *n)
{
	uint16_t inside, then;
	uint32_t no, out;

	if (n->kid[0]->konst) {
		if (n->kid[0]->value || n->nkids > 2)
			ki_gen_scope(g, n->kid[n->kid[0]->value ? 1 : 2]);
		return;
	}
	no = ki_asm_label(&g->a);
	out = ki_asm_label(&g->a);
	if (ki_gen_words_behind(g, n, no)) {
		ki_asm_here(&g->a, no);
		return;
	}
	ki_gen_cond(g, n->kid[0], false, no);
	inside = g->inside;
	ki_gen_scope(g, n->kid[1]);
	if (n->nkids > 2) {
		then = g->inside;
		ki_asm_branch(&g->a, ASM_JMP, out);
		ki_asm_here(&g->a, no);
		g->inside = inside; /* one of the two runs */
		ki_gen_scope(g, n->kid[2]);
		g->inside |= then;
	} else {
		ki_asm_here(&g->a, no);
	}
	ki_asm_here(&g->a, out);
}

static uint64_t own_locals(const struct ki_node *n)
{
	return n->kid[0]->locals;
}

static bool always_words(const struct ki_node *n)
{
	return ki_gen_asked_first(n->kid[0])->words ||
	       (n->nkids > 2 && ki_gen_words_always(n->kid[1]) && ki_gen_words_always(n->kid[2]));
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	if (ki_run_node(r, n->kid[0]))
		ki_run_node(r, n->kid[1]);
	else if (n->nkids > 2)
		ki_run_node(r, n->kid[2]);
	return 0;
}

static void lines(FILE *f, const struct ki_node *n, unsigned int depth)
{
	ki_format_indent(f, depth);
	fputs("if (", f);
	ki_format_expr(f, n->kid[0], 0);
	fputs(") {\n", f);
	ki_format_stmt(f, n->kid[1], depth + 1);
	if (n->nkids > 2) {
		ki_format_indent(f, depth);
		fputs("} else {\n", f);
		ki_format_stmt(f, n->kid[2], depth + 1);
	}
	ki_format_indent(f, depth);
	fputs("}\n", f);
}

static uint32_t number(struct ki_node *n, uint32_t line)
{
	n->line = line;
	line = ki_node_number(n->kid[1], line + 1);
	if (n->nkids > 2)
		line = ki_node_number(n->kid[2], line + 1);
	return line + 1;
}

const struct ki_node_ops ki_node_if = {
	.action = action,
	.own_locals = own_locals,
	.always_words = always_words,
	.run = run,
	.lines = lines,
	.number = number,
};
