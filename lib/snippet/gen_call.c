// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What needs registers of its own: helpers, calls of the kernel's functions, rdtsc.
 *
 * Arguments are evaluated right into their registers, from left to right. A call in a later one
 * finds the earlier ones taken and keeps them on the stack.
 */
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

/*
 * Registers that are taken already are saved below the words, all others are not held before. The
 * words are pushed as they are evaluated; behind the call %rax takes them away again. The driver
 * wants to see %edi written the moment before.
 */
void ki_gen_record(struct gen *g, const struct ki_node *n)
{
	unsigned int words = ki_node_kids_words(n, n->nkids);
	struct claims c = {0};
	uint32_t out;

	ki_gen_claim_some(g, g->busy, REGS, &c);
	for (unsigned int i = 0; i < n->nkids; i++)
		ki_gen_push_value(g, n->kid[i], REGS, &c);
	ki_gen_claim_some(g, UINT16_MAX, REGS, &c);
	out = ki_gen_unless(g, n);
	ki_asm_const(&g->a, KI_RSI, n->value);
	ki_gen_number(g, KI_RDI, KI_RECORD(n->ring, words));
	ki_asm_call(&g->a, KI_FIX_HELPER, KI_HELPER_RECORD);
	ki_gen_unless_end(g, out);
	for (unsigned int i = 0; i < words; i++)
		ki_gen_pop(g, KI_RAX);
	ki_gen_unclaim(g, &c);
}

void ki_gen_stack_param(struct gen *g, unsigned int param, unsigned int dest)
{
	struct rm word = {.mode = RM_STACK};
	struct claims c = {0};

	if (!g->site->user) {
		ki_gen_claim(g, KI_RDI, dest, &c);
		ki_gen_claim(g, KI_RAX, dest, &c);
	}
	word.disp = 8 * (int32_t)(g->depth + g->site->pushed + param - 5);
	if (g->site->user) {
		ki_asm_mov(&g->a, 8, dest, &word);
		return;
	}
	ki_asm_lea_stack(&g->a, KI_RDI, word.disp);
	finish_helper(g, KI_HELPER_LOAD64, dest, &c);
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

/* For a function that writes records the driver wants to see %eax written the moment before. */
static void enter(struct gen *g, const struct ki_node *n)
{
	if (n->op)
		ki_gen_number(g, KI_RAX, n->ring);
	ki_asm_call(&g->a, KI_FIX_HELPER, n->op ? KI_HELPER_ENTER_RECORD : KI_HELPER_ENTER);
}

/* %edi says what is done, and is written the moment before the call. */
void ki_gen_text(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	struct claims c = {0};
	struct rm rax = rm_reg(KI_RAX);

	lend(g, dest);
	for (unsigned int i = 0; i < n->nkids; i++) {
		ki_gen_claim(g, ki_param_regs[i + 1], dest, &c);
		ki_gen_expr(g, n->kid[i], ki_param_regs[i + 1]);
	}
	take_back(g, dest);
	ki_gen_claim(g, KI_RDI, dest, &c);
	ki_gen_claim(g, KI_RAX, dest, &c);
	ki_gen_number(g, KI_RDI, n->what);
	ki_asm_call(&g->a, KI_FIX_HELPER, KI_HELPER_TEXT);
	if (dest != KI_RAX)
		ki_asm_mov(&g->a, 8, dest, &rax);
	ki_gen_unclaim(g, &c);
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
	enter(g, n);
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

/* The clock into dest, %rdx or %rax, of which dest's own is free and the others are claimed. */
static unsigned int read_tsc(struct gen *g, unsigned int dest)
{
	unsigned int low = dest == KI_RDX ? KI_RDX : KI_RAX;
	struct rm other = rm_reg(dest == KI_RDX ? KI_RAX : KI_RDX);
	static const uint8_t rdtsc[] = {0x0f, 0x31};

	ki_asm_bytes(&g->a, rdtsc, sizeof(rdtsc), false);
	ki_asm_shift_imm(&g->a, SHIFT_SHL, KI_RDX, 32);
	ki_asm_alu_load(&g->a, ALU_OR, 8, low, &other);
	return low;
}

void ki_gen_tsc(struct gen *g, unsigned int dest)
{
	struct claims c = {0};

	ki_gen_claim(g, KI_RAX, dest, &c);
	ki_gen_claim(g, KI_RDX, dest, &c);
	move(g, dest, read_tsc(g, dest));
	ki_gen_unclaim(g, &c);
}

/* rdtscp leaves in %ecx what the kernel has put there: the CPU below, its node in bits 12 on. */
void ki_gen_user_cpu(struct gen *g, unsigned int dest)
{
	static const uint8_t rdtscp[] = {0x0f, 0x01, 0xf9};
	const struct rm rcx = rm_reg(KI_RCX), result = rm_reg(dest);
	struct claims c = {0};

	ki_gen_claim(g, KI_RAX, dest, &c);
	ki_gen_claim(g, KI_RDX, dest, &c);
	ki_gen_claim(g, KI_RCX, dest, &c);
	ki_asm_bytes(&g->a, rdtscp, sizeof(rdtscp), false);
	ki_asm_mov(&g->a, 8, dest, &rcx);
	ki_asm_alu_imm(&g->a, ALU_AND, 4, &result, 0xfff, false);
	ki_gen_unclaim(g, &c);
}

static const struct rm offset = {.mode = RM_GS, .fix = KI_FIX_SELF, .target = KI_SELF_CLOCK};

static unsigned int read_clock(struct gen *g, unsigned int dest, unsigned int off)
{
	struct rm m = rm_reg(off);
	unsigned int low;

	ki_asm_mov(&g->a, 8, off, &offset);
	low = read_tsc(g, dest);
	ki_asm_alu_load(&g->a, ALU_SUB, 8, low, &m);
	return low;
}

/*
 * What is subtracted belongs to this CPU and this thread's turn on it. If another thread had a turn
 * between the two readings, or this one is elsewhere now, it has changed, so it is read a second
 * time; and then both are read once more, so soon behind a switch that another one would be a
 * marvel.
 */
void ki_gen_clock(struct gen *g, unsigned int dest)
{
	uint32_t same = ki_asm_label(&g->a);
	struct claims c = {0};
	unsigned int off, low;

	ki_gen_claim(g, KI_RAX, dest, &c);
	ki_gen_claim(g, KI_RDX, dest, &c);
	off = ki_gen_alloc(g, REG_BIT(KI_RAX) | REG_BIT(KI_RDX));
	low = read_clock(g, dest, off);
	ki_asm_alu_load(&g->a, ALU_CMP, 8, off, &offset);
	ki_asm_branch(&g->a, CC_E, same);
	read_clock(g, dest, off);
	ki_asm_here(&g->a, same);
	ki_gen_release(g, off);
	move(g, dest, low);
	ki_gen_unclaim(g, &c);
}
