// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Operations on strings of the session's table.
 */
#include <errno.h>

#include "snippet/node.h"

#define TEXT_ARGS 3

static bool is_number(enum ki_text_op op)
{
	return op == KI_TEXT_FIRST || op == KI_TEXT_LAST || op == KI_TEXT_COMPARE ||
	       op == KI_TEXT_VALUE || op == KI_TEXT_LENGTH;
}

struct ki_node *ki_expr_text(struct ki_snippet *s, uint32_t table, enum ki_text_op op,
			     struct ki_node *const *args, unsigned int nargs)
{
	struct ki_node *n = ki_tree_node(s, NODE_TEXT);

	if (!n)
		return NULL;
	if ((unsigned int)op >= KI_TEXT_OPS || nargs > TEXT_ARGS || table > UINT32_MAX >> 8)
		return ki_tree_fail(s, -EINVAL, "no such operation on strings");
	if (!ki_node_adopt_all(n, args, nargs))
		return NULL;
	n->what = KI_TEXT(table, op);
	n->type = is_number(op) ? KI_I64 : KI_U64;
	n->effects = true;
	return n;
}

static uint16_t fixed(const struct ki_node *n)
{
	(void)n;
	return ki_gen_fixed_args(4);
}

/* %edi says what is done, and is written the moment before the call. */
static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	struct claims c = {0};
	struct rm rax = rm_reg(KI_RAX);

	ki_gen_lend(g, dest);
	for (unsigned int i = 0; i < n->nkids; i++) {
		ki_gen_claim(g, ki_param_regs[i + 1], dest, &c);
		ki_gen_expr(g, n->kid[i], ki_param_regs[i + 1]);
	}
	ki_gen_take_back(g, dest);
	ki_gen_claim(g, KI_RDI, dest, &c);
	ki_gen_claim(g, KI_RAX, dest, &c);
	ki_gen_number(g, KI_RDI, n->what);
	ki_asm_call(&g->a, KI_FIX_HELPER, KI_HELPER_TEXT);
	if (dest != KI_RAX)
		ki_asm_mov(&g->a, 8, dest, &rax);
	ki_gen_unclaim(g, &c);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	uint64_t args[TEXT_ARGS] = {0};

	ki_run_args(r, n, args);
	return r->m->text ? r->m->text(r->m->arg, n->what, args) : 0;
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	(void)outside;
	fprintf(f, "text%u", n->what & 0xff);
	ki_format_args(f, n);
}

const struct ki_node_ops ki_node_text = {
	.foreign = "a string",
	.fixed = fixed,
	.in_rax = ki_node_yes,
	.value = value,
	.run = run,
	.write = write,
};
