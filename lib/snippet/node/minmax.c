// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Minimum and maximum of a variable: compare, and where it would change call helper MINMAX, which
 * compares again, so that nobody's update is lost. That is rare, so it is paid for there: registers
 * that somebody needs are pushed after the comparison, not where the scope begins.
 */
#include "snippet/node.h"

/* The condition under which the old value stays, of `cmp new, old`. */
static unsigned int stays(const struct ki_node *n)
{
	bool sign = ki_types[n->var.type].sign;

	if (n->op == KI_UPDATE_MIN)
		return sign ? CC_LE : CC_BE;
	return sign ? CC_GE : CC_AE;
}

static uint32_t what_of(const struct ki_node *n, uint32_t number, bool indexed)
{
	static const uint8_t of[KI_VAR_KINDS] = {[KI_VAR_CPU] = KI_MINMAX_CPU,
						 [KI_VAR_GLOBAL] = KI_MINMAX_GLOBAL,
						 [KI_VAR_THREAD] = KI_MINMAX_THREAD};
	static const uint8_t sizes[] = {[1] = 0, [2] = 1, [4] = 2, [8] = 3};
	uint32_t flags = (n->op == KI_UPDATE_MAX ? KI_MINMAX_MAX : 0u) |
			 (ki_types[n->var.type].sign ? KI_MINMAX_SIGNED : 0u) |
			 (indexed ? KI_MINMAX_INDEXED : 0u);

	return KI_MINMAX(number, of[n->var.kind], sizes[ki_types[n->var.type].size], flags);
}

/* %rdx and %rsi may each be where the other one's value is: by way of the stack. */
static void pass(struct gen *g, const struct opnd *v, const struct opnd *index)
{
	bool is_reg = v->kind != OPND_IMM;

	if (is_reg && index)
		ki_gen_push(g, v->m.reg);
	else if (is_reg)
		ki_asm_mov(&g->a, 8, KI_RSI, &v->m);
	if (index) {
		ki_gen_push(g, index->m.reg);
		ki_gen_pop(g, KI_RDX);
	}
	if (is_reg && index)
		ki_gen_pop(g, KI_RSI);
	if (!is_reg)
		ki_asm_const(&g->a, KI_RSI, (uint64_t)(int64_t)v->imm);
}

static void call(struct gen *g, const struct ki_node *n, uint32_t number, const struct opnd *v,
		 const struct opnd *index)
{
	uint16_t kept = g->busy | (uint16_t) ~(g->dead | g->pushed);
	uint32_t out = 0;

	kept &= ki_gen_minmax_fixed(n);
	for (unsigned int r = 0; r < REGS; r++)
		if (kept & REG_BIT(r))
			ki_gen_push(g, r);
	pass(g, v, index);
	if (index)
		out = ki_gen_bound(g, KI_RDX, n->var.count);
	ki_gen_number(g, KI_RDI, what_of(n, number, index));
	ki_asm_call(&g->a, KI_FIX_HELPER, KI_HELPER_MINMAX);
	if (index)
		ki_asm_here(&g->a, out);
	for (unsigned int r = REGS; r--;)
		if (kept & REG_BIT(r))
			ki_gen_pop(g, r);
}

uint16_t ki_gen_minmax_fixed(const struct ki_node *n)
{
	return REG_BIT(KI_RSI) | REG_BIT(KI_RDI) | (n->nkids > 1 ? REG_BIT(KI_RDX) : 0);
}

void ki_gen_minmax(struct gen *g, const struct ki_node *n, const struct rm *m, const struct opnd *v,
		   const struct opnd *index)
{
	bool local = n->var.kind == KI_VAR_LOCAL;
	unsigned int size = ki_types[n->var.type].size;
	uint32_t skip = ki_asm_label(&g->a);

	if (v->kind == OPND_IMM)
		ki_asm_alu_imm(&g->a, ALU_CMP, size, m, v->imm, false);
	else
		ki_asm_alu_store(&g->a, ALU_CMP, size, m, v->m.reg, false);
	ki_asm_branch(&g->a, stays(n), skip);
	if (local)
		ki_gen_store(g, m->mode == RM_REG ? 8 : size, m, v);
	else
		call(g, n, (uint32_t)m->target, v, index);
	ki_asm_here(&g->a, skip);
}
