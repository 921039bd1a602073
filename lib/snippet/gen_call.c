// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What needs registers of its own: helpers, calls of the kernel's functions, rdtsc.
 *
 * Arguments are evaluated right into their registers, from left to right. A call in a later one
 * finds the earlier ones taken and keeps them on the stack.
 */
#include <string.h>

#include "snippet/gen.h"

/* All that a C function may change. */
static const uint8_t volatile_regs[] = {KI_RAX, KI_RCX, KI_RDX, KI_RSI, KI_RDI,
					KI_R8,	KI_R9,	KI_R10, KI_R11};

static void move(struct gen *g, unsigned int dest, unsigned int from)
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

/* A result's %rax is free until there is one. */
static void lend(struct gen *g, unsigned int dest)
{
	if (dest == KI_RAX)
		ki_gen_release(g, dest);
}

static void take_back(struct gen *g, unsigned int dest)
{
	if (dest == KI_RAX)
		g->busy |= REG_BIT(dest);
}

static void finish_helper(struct gen *g, enum ki_helper h, unsigned int dest, struct claims *c)
{
	take_back(g, dest);
	ki_gen_claim(g, KI_RAX, dest, c);
	ki_asm_call(&g->a, KI_FIX_HELPER, h);
	if (dest != KI_RAX)
		move(g, dest, KI_RAX);
	ki_gen_unclaim(g, c);
}

void ki_gen_helper(struct gen *g, enum ki_helper h, struct ki_node *const *args, unsigned int n,
		   unsigned int dest)
{
	struct claims c = {0};

	lend(g, dest);
	for (unsigned int i = 0; i < n; i++) {
		if (in_place(g, args[i], ki_param_regs[i], &c))
			continue;
		ki_gen_claim(g, ki_param_regs[i], dest, &c);
		ki_gen_expr(g, args[i], ki_param_regs[i]);
	}
	finish_helper(g, h, dest, &c);
}

void ki_gen_stack_param(struct gen *g, unsigned int param, unsigned int dest)
{
	struct claims c = {0};

	ki_gen_claim(g, KI_RDI, dest, &c);
	ki_gen_claim(g, KI_RAX, dest, &c);
	ki_asm_lea_stack(&g->a, KI_RDI, 8 * (int32_t)(g->depth + g->site->pushed + param - 5));
	finish_helper(g, KI_HELPER_LOAD64, dest, &c);
}

/* The driver wants to see the variable's number: `mov $, %edi`, and the call right behind. */
static void call_thread(struct gen *g, enum ki_helper h, const struct ki_var *v)
{
	uint8_t mov[5] = {0xbf};

	memcpy(mov + 1, &v->first, 4);
	ki_asm_bytes(&g->a, mov, sizeof(mov), false);
	ki_asm_call(&g->a, KI_FIX_HELPER, h);
}

void ki_gen_thread_get(struct gen *g, const struct ki_var *v, unsigned int dest)
{
	struct claims c = {0};
	struct rm m = rm_reg(dest);

	take_back(g, dest);
	ki_gen_claim(g, KI_RDI, dest, &c);
	ki_gen_claim(g, KI_RAX, dest, &c);
	call_thread(g, KI_HELPERS, v);
	move(g, dest, KI_RAX);
	ki_gen_unclaim(g, &c);
	if (ki_types[v->type].size < 8)
		ki_asm_extend(&g->a, v->type, dest, &m);
}

/* The value's register is the caller's, and is extended on the way. */
void ki_gen_thread_set(struct gen *g, const struct ki_var *v, unsigned int value)
{
	struct claims c = {0};
	struct rm m = rm_reg(value);

	ki_gen_claim(g, KI_RSI, value, &c);
	ki_asm_extend(&g->a, v->type, KI_RSI, &m);
	ki_gen_claim(g, KI_RDI, REGS, &c);
	ki_gen_claim(g, KI_RAX, REGS, &c);
	call_thread(g, KI_HELPERS, v);
	ki_gen_unclaim(g, &c);
}

/* What a C function may change, but for the arguments' registers. */
static void claim_volatile(struct gen *g, unsigned int nargs, unsigned int dest, struct claims *c)
{
	uint16_t args = 0;

	for (unsigned int i = 0; i < nargs; i++)
		args |= REG_BIT(ki_param_regs[i]);
	for (unsigned int i = 0; i < sizeof(volatile_regs); i++)
		if (!(args & REG_BIT(volatile_regs[i])))
			ki_gen_claim(g, volatile_regs[i], dest, c);
}

/* What ENTER refuses is 0, which %rax is then. %rdi holds the result while LEAVE is called. */
void ki_gen_call(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	uint32_t out = ki_asm_label(&g->a);
	struct claims c = {0};
	struct rm rax = rm_reg(KI_RAX);

	lend(g, dest);
	for (unsigned int i = 0; i < n->nkids; i++) {
		ki_gen_claim(g, ki_param_regs[i], dest, &c);
		ki_gen_expr(g, n->kid[i], ki_param_regs[i]);
	}
	take_back(g, dest);
	claim_volatile(g, n->nkids, dest, &c);
	ki_asm_call(&g->a, KI_FIX_HELPER, KI_HELPER_ENTER);
	ki_asm_test(&g->a, 4, KI_RAX, KI_RAX);
	ki_asm_branch(&g->a, CC_E, out);
	ki_asm_call(&g->a, KI_FIX_CALLEE, n->value);
	move(g, KI_RDI, KI_RAX);
	ki_asm_call(&g->a, KI_FIX_HELPER, KI_HELPER_LEAVE);
	move(g, KI_RAX, KI_RDI);
	ki_asm_here(&g->a, out);
	if (dest != KI_RAX || ki_types[n->type].size < 8)
		ki_asm_extend(&g->a, n->type, dest, &rax);
	ki_gen_unclaim(g, &c);
}

void ki_gen_tsc(struct gen *g, unsigned int dest)
{
	unsigned int low = dest == KI_RDX ? KI_RDX : KI_RAX;
	struct rm other = rm_reg(dest == KI_RDX ? KI_RAX : KI_RDX);
	static const uint8_t rdtsc[] = {0x0f, 0x31};
	struct claims c = {0};

	ki_gen_claim(g, KI_RAX, dest, &c);
	ki_gen_claim(g, KI_RDX, dest, &c);
	ki_asm_bytes(&g->a, rdtsc, sizeof(rdtsc), false);
	ki_asm_shift_imm(&g->a, SHIFT_SHL, KI_RDX, 32);
	ki_asm_alu_load(&g->a, ALU_OR, 8, low, &other);
	if (dest != low)
		move(g, dest, low);
	ki_gen_unclaim(g, &c);
}
