// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Statements one after the other, and where locals live meanwhile.
 *
 * A local is somewhere from the first statement of a list that uses it to the last one: in a
 * register, as long as enough of them are left, else in a word on the stack. If all its uses are in
 * branches of one `if`, each branch has its own: only one of them runs, and it begins with 0. The
 * register is none that these statements claim, so nothing has to save it; but a local that begins
 * as what is left in %rax may stay there as long as nobody else wants it.
 */
#include "snippet/node.h"

/* What a run has given a home to. */
struct tenants {
	uint64_t regs; /* bits of locals */
	uint64_t stack;
	unsigned int words;
};

struct ki_node *ki_gen_user(struct ki_node *first, const struct ki_node *end, uint64_t locals)
{
	struct ki_node *last = NULL;

	for (struct ki_node *k = first; k != end; k = k->next)
		if (k->locals & locals)
			last = k;
	return last;
}

static bool is_used(const struct ki_node *first, const struct ki_node *end, uint64_t local)
{
	for (const struct ki_node *k = first; k != end; k = k->next)
		if (k->locals & local)
			return true;
	return false;
}

static bool is_first_set(const struct ki_node *n, unsigned int local)
{
	return ki_ops(n)->sets && ki_ops(n)->sets(n, local);
}

/* Registers that are claimed from here until the local is not needed any more. */
static uint16_t fixed_until(struct ki_node *first, const struct ki_node *end, uint64_t bit)
{
	const struct ki_node *last = ki_gen_user(first, end, bit);
	uint16_t fixed = 0;

	for (const struct ki_node *k = first; last; k = k->next) {
		fixed |= k->fixed;
		if (k == last)
			break;
	}
	return fixed;
}

static unsigned int choose(struct gen *g, struct ki_node *n, const struct ki_node *end,
			   unsigned int local)
{
	const uint64_t bit = UINT64_C(1) << local;
	uint16_t but = fixed_until(n, end, bit);

	if (is_first_set(n, local) && ki_gen_comes_in_rax(n->kid[0]) &&
	    !(g->busy & REG_BIT(KI_RAX)) && !(fixed_until(n->next, end, bit) & REG_BIT(KI_RAX)))
		but = (uint16_t)~REG_BIT(KI_RAX);
	return ki_gen_take(g, but);
}

static void begin_local(struct gen *g, struct ki_node *n, const struct ki_node *end,
			unsigned int local, struct tenants *t)
{
	unsigned int reg = choose(g, n, end, local);
	struct home *h = &g->home[local];
	struct rm m;

	*h = (struct home){.stack = reg == REGS, .at = (uint8_t)reg};
	if (h->stack) {
		ki_gen_push(g, KI_RAX);
		h->at = (uint8_t)g->depth;
		t->words++;
		t->stack |= UINT64_C(1) << local;
	} else {
		t->regs |= UINT64_C(1) << local;
	}
	g->homed |= UINT64_C(1) << local;
	if (is_first_set(n, local))
		return;
	m = (struct rm){.mode = RM_STACK};
	if (h->stack)
		ki_asm_mov_imm(&g->a, 8, &m, 0);
	else
		ki_asm_const(&g->a, reg, 0);
}

/* Must it be somewhere around this statement, or only inside? */
static bool is_around(struct ki_node *n, const struct ki_node *end, uint64_t bit)
{
	if (is_used(n->next, end, bit))
		return true;
	return !ki_ops(n)->own_locals || ki_ops(n)->own_locals(n) & bit;
}

static void begin_locals(struct gen *g, struct ki_node *n, const struct ki_node *end,
			 struct tenants *t)
{
	uint64_t new = n->locals & ~g->homed;

	for (; new; new &= new - 1)
		if (is_around(n, end, new & -new))
			begin_local(g, n, end, (unsigned int)__builtin_ctzll(new), t);
}

static void end_locals(struct gen *g, struct ki_node *next, const struct ki_node *end,
		       struct tenants *t)
{
	for (uint64_t left = t->regs; left; left &= left - 1) {
		const uint64_t bit = left & -left;

		if (is_used(next, end, bit))
			continue;
		ki_gen_release(g, g->home[__builtin_ctzll(bit)].at);
		g->homed &= ~bit;
		t->regs &= ~bit;
	}
}

static void end_stack(struct gen *g, const struct tenants *t)
{
	unsigned int reg;

	if (!t->words)
		return;
	reg = ki_gen_alloc(g, 0);
	for (unsigned int i = 0; i < t->words; i++)
		ki_gen_pop(g, reg);
	ki_gen_release(g, reg);
	g->homed &= ~t->stack;
}

static void one(struct gen *g, struct ki_node *n)
{
	if (n->line) /* a list has none of its own */
		g->a.line = n->line;
	ki_gen_simple(g, n);
}

void ki_gen_run(struct gen *g, struct ki_node *first, const struct ki_node *end)
{
	struct tenants t = {0};
	struct ki_node *k = first;

	while (k != end && !g->failed) {
		if (!ki_gen_words_shared(g, k, end, &k)) {
			begin_locals(g, k, end, &t);
			one(g, k);
			k = k->next;
		}
		end_locals(g, k, end, &t);
	}
	end_stack(g, &t);
}

void ki_gen_stmt(struct gen *g, struct ki_node *n)
{
	ki_gen_run(g, n, n->next);
}
