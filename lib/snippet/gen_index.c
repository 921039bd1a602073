// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Variables at an index that is known only when the code runs, and effects that are left out.
 */
#include "snippet/node.h"

uint32_t ki_gen_bound(struct gen *g, unsigned int index, uint32_t count)
{
	uint32_t out = ki_asm_label(&g->a);
	struct rm m = rm_reg(index);

	ki_asm_alu_imm(&g->a, ALU_CMP, 8, &m, (int32_t)(count - 1), false);
	ki_asm_branch(&g->a, CC_A, out);
	return out;
}

struct rm ki_gen_at_index(const struct ki_node *n, unsigned int reg)
{
	return (struct rm){.mode = RM_GS_AT,
			   .reg = (uint8_t)reg,
			   .fix = KI_FIX_PERCPU,
			   .target = n->var.first};
}

struct rm ki_gen_shared_at_index(struct gen *g, const struct ki_node *n, unsigned int reg)
{
	const struct rm first = ki_gen_var(g, &n->var, 0);
	unsigned int base = ki_gen_alloc(g, REG_BIT(KI_R12));
	struct rm index = rm_reg(reg);

	ki_asm_lea(&g->a, base, &first);
	ki_asm_shift_imm(&g->a, SHIFT_SHL, reg, 3);
	ki_asm_alu_load(&g->a, ALU_ADD, 8, base, &index);
	ki_gen_release(g, base);
	return (struct rm){.mode = RM_AT, .reg = (uint8_t)base};
}

/* Add one to the bucket whose number is in a register, which changes. */
void ki_gen_count(struct gen *g, const struct ki_node *n, unsigned int bucket)
{
	struct rm m = ki_gen_at_index(n, bucket);
	uint32_t out = ki_gen_bound(g, bucket, n->var.count);

	if (g->site->user)
		m = ki_gen_shared_at_index(g, n, bucket);
	ki_asm_inc(&g->a, 8, &m, false, g->site->user);
	ki_asm_here(&g->a, out);
}

void ki_gen_count_konst(struct gen *g, const struct ki_node *n, uint32_t bucket)
{
	struct rm m = ki_gen_var(g, &n->var, bucket);

	ki_asm_inc(&g->a, 8, &m, false, g->site->user);
}

uint32_t ki_gen_unless(struct gen *g, const struct ki_node *n)
{
	const struct ki_var v = {.kind = KI_VAR_LOCAL, .first = n->unless - 1u};
	uint32_t out;
	struct rm m;

	if (!n->unless)
		return KI_GEN_ALWAYS;
	out = ki_asm_label(&g->a);
	m = ki_gen_var(g, &v, 0);
	ki_asm_alu_imm(&g->a, ALU_CMP, 8, &m, 0, false);
	ki_asm_branch(&g->a, CC_NE, out);
	return out;
}

void ki_gen_unless_end(struct gen *g, uint32_t label)
{
	if (label != KI_GEN_ALWAYS)
		ki_asm_here(&g->a, label);
}
