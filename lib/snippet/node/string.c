// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Code of strings and stacks.
 *
 * A string is words on the stack: pushed, then filled by the helper, which the driver wants to see
 * told how many there are the moment before. In a record they stay there as its values. Compared
 * ones are compared word by word, and popped on both ways.
 */
#include <string.h>

#include "snippet/gen.h"

static void push_string(struct gen *g, const struct ki_node *n, unsigned int dest, struct claims *c)
{
	ki_gen_claim(g, KI_RDI, dest, c);
	ki_gen_expr(g, n->kid[0], KI_RDI);
	ki_gen_claim(g, KI_RSI, dest, c);
	ki_gen_claim(g, KI_RAX, dest, c);
	for (unsigned int i = 0; i < n->width; i++)
		ki_gen_push(g, KI_RAX);
	ki_gen_number(g, KI_RSI, n->width);
	ki_asm_call(&g->a, KI_FIX_HELPER, n->op ? KI_HELPER_USTRING : KI_HELPER_STRING);
}

/* What a string takes is given back, so that those behind it may have it. */
static void push_string_value(struct gen *g, const struct ki_node *n, unsigned int dest,
			      struct claims *c)
{
	const uint16_t taken = c->taken;

	push_string(g, n, dest, c);
	g->busy &= (uint16_t) ~(c->taken & ~taken);
	c->taken = taken;
}

void ki_gen_push_value(struct gen *g, const struct ki_node *n, unsigned int dest, struct claims *c)
{
	struct opnd o;

	if (n->width) {
		push_string_value(g, n, dest, c);
		return;
	}
	o = ki_gen_reg_operand(g, n);
	ki_gen_push(g, o.m.reg);
	ki_gen_drop(g, &o);
}

/* Words of text that must be looked at: with its 0, if all of the string is compared. */
static unsigned int words_of(const struct ki_node *n)
{
	size_t len = strlen(n->name) + !n->op;

	return (unsigned int)((len + 7) / 8);
}

/* Word i of the string, which is uppermost on the stack, and of the text; different ones: out. */
static void compare_word(struct gen *g, const struct ki_node *n, unsigned int i, unsigned int a,
			 unsigned int b, uint32_t out)
{
	size_t len = strlen(n->name), left = len > 8 * i ? len - 8 * i : 0;
	struct rm m = {.mode = RM_STACK, .disp = 8 * (int32_t)(n->kid[0]->width - 1 - i)};
	struct rm rb = rm_reg(b);
	unsigned int drop = n->op && left < 8 ? 64 - 8 * (unsigned int)left : 0;
	uint64_t word = 0;

	memcpy(&word, n->name + 8 * i, left < 8 ? left : 8);
	ki_asm_mov(&g->a, 8, a, &m);
	if (drop)
		ki_asm_shift_imm(&g->a, SHIFT_SHL, a, drop);
	ki_asm_const(&g->a, b, word << drop);
	ki_asm_alu_load(&g->a, ALU_CMP, 8, a, &rb);
	ki_asm_branch(&g->a, CC_NE, out);
}

/* Two of the three that the helper's call has taken, but dest. */
void ki_gen_string_is(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	const struct ki_node *string = n->kid[0];
	unsigned int a = dest == KI_RDI ? KI_RAX : KI_RDI, b = dest == KI_RSI ? KI_RAX : KI_RSI;
	uint32_t out = ki_asm_label(&g->a);
	struct claims c = {0};

	push_string(g, string, dest, &c);
	ki_asm_const(&g->a, dest, 0);
	for (unsigned int i = 0; i < words_of(n); i++)
		compare_word(g, n, i, a, b, out);
	ki_asm_const(&g->a, dest, 1);
	ki_asm_here(&g->a, out);
	for (unsigned int i = 0; i < string->width; i++)
		ki_gen_pop(g, a);
	ki_gen_unclaim(g, &c);
}

void ki_gen_stack(struct gen *g, const struct ki_node *n, unsigned int dest)
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
