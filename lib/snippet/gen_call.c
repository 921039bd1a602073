// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calls of helpers, and what other calls share with them.
 *
 * Arguments are evaluated right into their registers, from left to right. A call in a later one
 * finds the earlier ones taken and keeps them on the stack.
 */
#include "snippet/node.h"

void ki_gen_move(struct gen *g, unsigned int dest, unsigned int from)
{
	struct rm m = rm_reg(from);

	ki_asm_mov(&g->a, 8, dest, &m);
}

/* The argument is there already, and a helper leaves it there. */
static bool in_place(struct gen *g, const struct ki_node *arg, unsigned int reg, struct claims *c)
{
	if (arg->konst || ki_gen_place_reg(arg) != (int)reg || !ki_gen_intact(g, reg) ||
	    (g->busy | g->dead) & REG_BIT(reg))
		return false;
	g->busy |= REG_BIT(reg);
	c->taken |= REG_BIT(reg);
	return true;
}

void ki_gen_lend(struct gen *g, unsigned int dest)
{
	if (dest == KI_RAX)
		ki_gen_release(g, dest);
}

void ki_gen_take_back(struct gen *g, unsigned int dest)
{
	if (dest == KI_RAX)
		g->busy |= REG_BIT(dest);
}

void ki_gen_finish_helper(struct gen *g, enum ki_helper h, unsigned int dest, struct claims *c)
{
	ki_gen_take_back(g, dest);
	ki_gen_claim(g, KI_RAX, dest, c);
	ki_asm_call(&g->a, KI_FIX_HELPER, h);
	if (dest != KI_RAX)
		ki_gen_move(g, dest, KI_RAX);
	ki_gen_unclaim(g, c);
}

void ki_gen_helper(struct gen *g, enum ki_helper h, struct ki_node *const *args, unsigned int n,
		   unsigned int dest)
{
	struct claims c = {0};

	ki_gen_lend(g, dest);
	for (unsigned int i = 0; i < n; i++) {
		if (in_place(g, args[i], ki_param_regs[i], &c))
			continue;
		ki_gen_claim(g, ki_param_regs[i], dest, &c);
		ki_gen_expr(g, args[i], ki_param_regs[i]);
	}
	ki_gen_finish_helper(g, h, dest, &c);
}
