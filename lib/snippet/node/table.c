// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calls of helper TABLE. The key is pushed word by word as it is evaluated, the value goes to %rsi,
 * and %edi is written the moment before the call, as the driver wants to see it. Registers that are
 * taken already are saved below the key.
 */
#include "snippet/gen.h"

static void push_key(struct gen *g, const struct ki_node *n, unsigned int dest, struct claims *c)
{
	for (unsigned int i = 0; i < n->nkeys; i++)
		ki_gen_push_value(g, n->kid[i], dest, c);
}

/* What the call writes, and what is needed for a value or a string. */
static uint16_t regs_of(const struct ki_node *n)
{
	bool rsi = n->nkids > n->nkeys;

	for (unsigned int i = 0; i < n->nkeys; i++)
		rsi |= n->kid[i]->width > 0;
	return (uint16_t)(REG_BIT(KI_RAX) | REG_BIT(KI_RDI) | (rsi ? REG_BIT(KI_RSI) : 0));
}

/* %rsi is claimed, so the value that is held is elsewhere. */
static void value_to_rsi(struct gen *g, const struct ki_node *n)
{
	const struct ki_node *value = n->kid[n->nkeys];
	struct opnd v;

	if (!n->lowered) {
		ki_gen_expr(g, value, KI_RSI);
	} else if (value->konst) {
		ki_asm_const(
			&g->a, KI_RSI,
			ki_linear_bucket(&n->linear, ki_types[value->type].sign, value->value));
	} else {
		v = ki_gen_reg_operand(g, value);
		g->held = v.m.reg;
		ki_gen_expr(g, n->lowered, KI_RSI);
		ki_gen_drop(g, &v);
	}
}

/* The words of the key are taken away with `scratch`. */
static void call(struct gen *g, const struct ki_node *n, unsigned int words, unsigned int scratch)
{
	uint32_t out = ki_gen_unless(g, n);

	ki_gen_number(g, KI_RDI, n->what);
	ki_asm_call(&g->a, KI_FIX_HELPER, KI_HELPER_TABLE);
	ki_gen_unless_end(g, out);
	while (words--)
		ki_gen_pop(g, scratch);
}

void ki_gen_table(struct gen *g, const struct ki_node *n)
{
	const unsigned int words = ki_node_kids_words(n, n->nkeys);
	const uint16_t regs = regs_of(n);
	struct claims c = {0};

	ki_gen_claim_some(g, g->busy & regs, REGS, &c);
	push_key(g, n, REGS, &c);
	if (n->nkids > n->nkeys) {
		ki_gen_claim_some(g, REG_BIT(KI_RSI), REGS, &c);
		value_to_rsi(g, n);
	}
	ki_gen_claim_some(g, regs, REGS, &c);
	call(g, n, words, KI_RAX);
	ki_gen_unclaim(g, &c);
}

/* A result's %rax is free until there is one. */
void ki_gen_table_get(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	const unsigned int words = ki_node_kids_words(n, n->nkeys);
	const uint16_t regs = regs_of(n);
	struct rm rax = rm_reg(KI_RAX);
	struct claims c = {0};

	ki_gen_claim_some(g, g->busy & regs, dest, &c);
	push_key(g, n, dest, &c);
	ki_gen_claim_some(g, regs, dest, &c);
	call(g, n, words, KI_RDI);
	if (dest != KI_RAX)
		ki_asm_mov(&g->a, 8, dest, &rax);
	ki_gen_unclaim(g, &c);
}
