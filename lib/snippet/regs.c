// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Registers: see gen.h.
 */
#include <errno.h>

#include "snippet/gen.h"

#define LEFT 7 /* registers that what is taken for long leaves to expressions */

int ki_gen_fail(struct gen *g, int code, const char *what)
{
	if (!g->failed)
		g->failed = ki_err_set(g->err, code, 0, "snippet: line %u: %s", g->a.line, what);
	return g->failed;
}

static void touch(struct gen *g, unsigned int reg)
{
	if (!((g->dead | g->pushed) & REG_BIT(reg)))
		g->need |= REG_BIT(reg);
}

unsigned int ki_gen_alloc(struct gen *g, uint16_t but)
{
	for (unsigned int i = 0; i < g->norder; i++) {
		unsigned int r = g->order[i];

		if ((g->busy | but) & REG_BIT(r))
			continue;
		g->busy |= REG_BIT(r);
		touch(g, r);
		return r;
	}
	ki_gen_fail(g, -E2BIG, "too many values at once for the registers that there are");
	return KI_RAX;
}

unsigned int ki_gen_alloc_first(struct gen *g, unsigned int preferred)
{
	if (g->busy & REG_BIT(preferred))
		return ki_gen_alloc(g, 0);
	g->busy |= REG_BIT(preferred);
	touch(g, preferred);
	return preferred;
}

unsigned int ki_gen_take(struct gen *g, uint16_t but)
{
	unsigned int left = 0, found = REGS;

	for (unsigned int i = 0; i < g->norder; i++) {
		unsigned int r = g->order[i];

		if (g->busy & REG_BIT(r))
			continue;
		left++;
		if (found == REGS && !(but & REG_BIT(r)))
			found = r;
	}
	if (found == REGS || left <= LEFT || g->frugal)
		return REGS;
	g->busy |= REG_BIT(found);
	touch(g, found);
	return found;
}

void ki_gen_release(struct gen *g, unsigned int reg)
{
	g->busy &= (uint16_t)~REG_BIT(reg);
}

void ki_gen_push(struct gen *g, unsigned int reg)
{
	ki_asm_push(&g->a, reg);
	if (++g->depth - g->below > KI_LONG_DEPTH)
		ki_gen_fail(g, -E2BIG, "too many words on the stack");
}

void ki_gen_pop(struct gen *g, unsigned int reg)
{
	ki_asm_pop(&g->a, reg);
	g->depth--;
}

void ki_gen_claim(struct gen *g, unsigned int reg, unsigned int dest, struct claims *c)
{
	if (reg == dest || (c->taken | c->pushed) & REG_BIT(reg))
		return;
	if (g->busy & REG_BIT(reg)) {
		touch(g, reg); /* an argument that was in its place: it may be read once more */
		ki_gen_push(g, reg);
		c->saved[c->nsaved++] = (uint8_t)reg;
		c->pushed |= REG_BIT(reg);
		return;
	}
	g->busy |= REG_BIT(reg);
	touch(g, reg);
	c->taken |= REG_BIT(reg);
}

void ki_gen_claim_some(struct gen *g, uint16_t which, unsigned int dest, struct claims *c)
{
	static const uint8_t regs[] = {KI_RAX, KI_RSI, KI_RDI};

	for (unsigned int i = 0; i < sizeof(regs); i++)
		if (which & REG_BIT(regs[i]))
			ki_gen_claim(g, regs[i], dest, c);
}

void ki_gen_unclaim(struct gen *g, const struct claims *c)
{
	for (unsigned int i = c->nsaved; i--;)
		ki_gen_pop(g, c->saved[i]);
	g->busy &= (uint16_t)~c->taken;
}

bool ki_gen_intact(const struct gen *g, unsigned int reg)
{
	return !(g->pushed & REG_BIT(reg));
}

struct rm ki_gen_slot(const struct gen *g, unsigned int reg)
{
	return (struct rm){.mode = RM_STACK, .disp = 8 * (int32_t)(g->depth - g->slot[reg])};
}

static void push_all(struct gen *g, uint16_t regs)
{
	for (unsigned int r = 0; r < REGS; r++) {
		if (!(regs & REG_BIT(r)))
			continue;
		ki_gen_push(g, r);
		g->slot[r] = (uint8_t)g->depth;
	}
	g->pushed |= regs;
}

static void pop_all(struct gen *g, uint16_t regs)
{
	for (unsigned int r = REGS; r--;)
		if (regs & REG_BIT(r))
			ki_gen_pop(g, r);
	g->pushed &= (uint16_t)~regs;
}

/*
 * Once more with what the last time has lacked. The node remembers what it pushes: when a scope
 * around it is done again, it begins with that.
 */
void ki_gen_scope(struct gen *g, struct ki_node *body)
{
	const uint16_t need = g->need, inside = g->inside;
	struct asm_mark mark = ki_asm_mark(&g->a);
	const uint32_t line = g->a.line;
	uint16_t *scope = &body->scope[g->words == WORDS_NONE], regs;

	do {
		ki_asm_back(&g->a, &mark);
		g->a.line = line;
		regs = *scope & (uint16_t) ~(g->dead | g->pushed);
		g->need = g->inside = 0;
		push_all(g, regs);
		ki_gen_stmt(g, body);
		g->a.line = line;
		pop_all(g, regs);
		*scope = regs | g->need;
	} while (g->need && !g->failed);
	g->need = need;
	g->inside |= regs;
	/* pushed here and in another scope of the same one: let that do it */
	g->need |= inside & g->inside;
	g->inside |= inside;
}
