// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The number of a stack, or how deep it is.
 */
#include <errno.h>

#include "snippet/node.h"

#define SKIP_MOST 255

static struct ki_node *stack(struct ki_snippet *s, uint32_t table, unsigned int skip,
			     enum ki_helper helper)
{
	struct ki_node *n = ki_tree_node(s, NODE_STACK);

	if (!n)
		return NULL;
	if (s->thread && helper != KI_HELPER_USTACK)
		return ki_tree_fail(
			s, -EOPNOTSUPP,
			"a thread in its process has no stack of the kernel's: use ustack");
	if (skip > SKIP_MOST || table > UINT32_MAX >> 8)
		return ki_tree_fail(s, -EINVAL, "no such table, or more than %d frames left out",
				    SKIP_MOST);
	n->op = helper;
	n->value = KI_STACK(table, skip);
	n->effects = true;
	return n;
}

struct ki_node *ki_expr_stack(struct ki_snippet *s, uint32_t table, unsigned int skip, bool user)
{
	return stack(s, table, skip, user ? KI_HELPER_USTACK : KI_HELPER_STACK);
}

struct ki_node *ki_expr_depth(struct ki_snippet *s, uint32_t table, unsigned int skip)
{
	return stack(s, table, skip, KI_HELPER_DEPTH);
}

static uint16_t fixed(const struct ki_node *n)
{
	(void)n;
	return ki_gen_fixed_args(2);
}

static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	struct claims c = {0};
	struct rm rax = rm_reg(KI_RAX);

	ki_gen_claim(g, KI_RDI, dest, &c);
	if (n->op != KI_HELPER_USTACK) {
		ki_gen_claim(g, KI_RSI, dest, &c);
		ki_asm_const(&g->a, KI_RSI, g->site->addr);
	}
	ki_gen_claim(g, KI_RAX, dest, &c);
	ki_gen_number(g, KI_RDI, (uint32_t)n->value);
	ki_asm_call(&g->a, KI_FIX_HELPER, n->op);
	if (dest != KI_RAX)
		ki_asm_mov(&g->a, 8, dest, &rax);
	ki_gen_unclaim(g, &c);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	uint32_t table = (uint32_t)(n->value >> 8);

	return r->m->stack ? r->m->stack(r->m->arg, table, n->value & 0xff, (enum ki_helper)n->op)
			   : 0;
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	const unsigned int all = n->value & 0xff,
			   skip = n->op == KI_HELPER_USTACK ? all & ~KI_STACK_TOP : all;

	(void)outside;
	fputs(n->op == KI_HELPER_USTACK	 ? "ustack"
	      : n->op == KI_HELPER_DEPTH ? "stackdepth"
					 : "stack",
	      f);
	if (skip)
		fprintf(f, "(%u)", skip);
}

const struct ki_node_ops ki_node_stack = {
	.foreign = "a stack",
	.fixed = fixed,
	.in_rax = ki_node_yes,
	.value = value,
	.run = run,
	.write = write,
};
