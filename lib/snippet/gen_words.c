// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Words of the thread.
 *
 * Where they are is in a word per CPU, which is 0 if the thread has none. So a word costs three
 * instructions before it can be used: mov, test, je. Statements that use several, or one several
 * times, pay them once: the pointer stays in a register as long as they run, and what a thread
 * without words does instead is made a second time after the je, with 0 for each word that is read
 * and nothing for each that is written. For most of what is asked that is no code at all, and the
 * je leads to the end.
 *
 * Where it is looked for: before the first of several statements that use words, if at least one of
 * them does so in any case; else inside, where it is needed, so that what a predicate refuses does
 * not pay. A condition of several parts is asked up to the first that uses words.
 *
 * The driver lets such code pass because it follows the register from the test on (vet_long.c). It
 * must not be changed, and no function of the kernel be called meanwhile: where one is, or where
 * code would become too long by being there twice, or a register be missed, each use of a word
 * looks for itself.
 */
#include "snippet/node.h"

#define CONJUNCTS 16

static struct rm at_word(unsigned int reg, uint32_t word)
{
	return (struct rm){
		.mode = RM_FIELD, .reg = (uint8_t)reg, .fix = KI_FIX_WORD, .target = word};
}

struct rm ki_gen_word(const struct gen *g, const struct ki_var *v)
{
	return at_word(g->words_reg, v->first);
}

/* In a process a routine says it, in %rax, and keeps all else but the flags. */
static void ask(struct gen *g, unsigned int reg)
{
	const struct rm rax = rm_reg(KI_RAX);

	if (reg != KI_RAX)
		ki_asm_mov(&g->a, 8, reg, &rax);
	ki_asm_call(&g->a, KI_FIX_SELF, KI_SELF_WORDS);
	if (reg != KI_RAX)
		ki_asm_xchg(&g->a, reg, KI_RAX);
}

static void look(struct gen *g, unsigned int reg, uint32_t none)
{
	const struct rm words = {.mode = RM_GS, .fix = KI_FIX_SELF, .target = KI_SELF_WORDS};

	if (g->site->user)
		ask(g, reg);
	else
		ki_asm_mov(&g->a, 8, reg, &words);
	ki_asm_test(&g->a, 8, reg, reg);
	ki_asm_branch(&g->a, CC_E, none);
}

void ki_gen_word_read(struct gen *g, const struct ki_var *v, unsigned int dest)
{
	unsigned int reg = dest == KI_R12 ? ki_gen_alloc(g, REG_BIT(KI_R12)) : dest;
	uint32_t none = ki_asm_label(&g->a);
	struct rm m = at_word(reg, v->first);

	look(g, reg, none);
	ki_asm_extend(&g->a, v->type, reg, &m);
	ki_asm_here(&g->a, none);
	if (reg == dest)
		return;
	m = rm_reg(reg);
	ki_asm_mov(&g->a, 8, dest, &m);
	ki_gen_release(g, reg);
}

struct rm ki_gen_word_look(struct gen *g, const struct ki_var *v, uint32_t none)
{
	unsigned int reg = ki_gen_alloc(g, REG_BIT(KI_R12));

	look(g, reg, none);
	return at_word(reg, v->first);
}

/* ---- a thread without words: what is known then ---- */

static bool wordless(const struct ki_node *n, uint64_t *value)
{
	return ki_ops(n)->wordless && ki_ops(n)->wordless(n, value);
}

static void assume(struct ki_node *n, bool begin)
{
	uint64_t value;

	if (!n->words)
		return;
	for (unsigned int i = 0; i < n->nkids; i++)
		assume(n->kid[i], begin);
	for (struct ki_node *k = n->first; k; k = k->next)
		assume(k, begin);
	if (!begin && n->assumed) {
		n->konst = n->assumed = false;
	} else if (begin && wordless(n, &value)) {
		n->konst = n->assumed = true;
		n->value = value;
	}
}

/* ---- statements that share one look ---- */

/* Statements, or, with conditions, the rest of an `if`: conditions, then the statement. */
struct work {
	struct ki_node *first, *end;
	struct ki_node *const *conds;
	unsigned int nconds;
};

static void emit(struct gen *g, const struct work *w)
{
	uint32_t no;

	if (!w->nconds) {
		ki_gen_run(g, w->first, w->end);
		return;
	}
	no = ki_asm_label(&g->a);
	for (unsigned int i = 0; i < w->nconds; i++)
		ki_gen_cond(g, w->conds[i], false, no);
	ki_gen_scope(g, w->first);
	ki_asm_here(&g->a, no);
}

static void emit_without(struct gen *g, const struct work *w)
{
	for (unsigned int i = 0; i < w->nconds; i++)
		assume(w->conds[i], true);
	for (struct ki_node *k = w->first; k != w->end; k = k->next)
		assume(k, true);
	emit(g, w);
	for (unsigned int i = 0; i < w->nconds; i++)
		assume(w->conds[i], false);
	for (struct ki_node *k = w->first; k != w->end; k = k->next)
		assume(k, false);
}

static uint16_t fixed_by(const struct work *w)
{
	uint16_t fixed = 0;

	for (unsigned int i = 0; i < w->nconds; i++)
		fixed |= w->conds[i]->fixed;
	for (const struct ki_node *k = w->first; k != w->end; k = k->next)
		fixed |= k->fixed;
	return fixed;
}

static void emit_both(struct gen *g, const struct work *w)
{
	uint32_t none = ki_asm_label(&g->a), out = ki_asm_label(&g->a);
	const uint16_t inside = g->inside;
	uint16_t with;

	look(g, g->words_reg, none);
	g->words = WORDS_HERE;
	emit(g, w);
	ki_gen_release(g, g->words_reg);
	ki_asm_branch(&g->a, ASM_JMP, out);
	ki_asm_here(&g->a, none);
	with = g->inside;
	g->inside = inside; /* one of the two runs */
	g->words = WORDS_NONE;
	emit_without(g, w);
	g->inside |= with;
	ki_asm_here(&g->a, out);
}

static void share(struct gen *g, const struct work *w)
{
	unsigned int reg = ki_gen_take(g, fixed_by(w) | REG_BIT(KI_R12));

	if (reg == REGS) {
		g->words = WORDS_EACH;
		emit(g, w);
	} else {
		g->words_reg = (uint8_t)reg;
		emit_both(g, w);
	}
	g->words = WORDS_UNKNOWN;
}

const struct ki_node *ki_gen_asked_first(const struct ki_node *n)
{
	const struct ki_node *part = n;

	while (part) {
		n = part;
		part = ki_ops(n)->asked_first ? ki_ops(n)->asked_first(n) : NULL;
	}
	return n;
}

bool ki_gen_words_always(const struct ki_node *n)
{
	return n->words && (!ki_ops(n)->always_words || ki_ops(n)->always_words(n));
}

/* What begins to use a local ends to do so, too. false: a function is called meanwhile. */
static bool extend(const struct gen *g, struct ki_node *first, struct ki_node **stop,
		   const struct ki_node *end)
{
	uint64_t locals = 0;

	for (struct ki_node *k = first; k != end; k = k->next) {
		if (k == *stop) {
			struct ki_node *user = ki_gen_user(k, end, locals);

			if (!user)
				break;
			*stop = user->next;
		}
		if (k->calls)
			return false;
		locals |= k->locals & ~g->homed;
	}
	return true;
}

static struct ki_node *behind_last_word(struct ki_node *first, const struct ki_node *end)
{
	struct ki_node *stop = first;

	for (struct ki_node *k = first; k != end; k = k->next)
		if (k->words)
			stop = k->next;
	return stop;
}

/* One use looks for itself; a list by itself is looked into. */
static bool is_worth_it(const struct ki_node *first, const struct ki_node *stop)
{
	if (first->next != stop)
		return true;
	return !ki_ops(first)->chains && (first->words > 1 || ki_ops(first)->lines);
}

/* Do statements that share one look begin with this one? They end before *stop. */
static bool shares(const struct gen *g, struct ki_node *first, const struct ki_node *end,
		   struct ki_node **stop)
{
	bool any = false;

	if (g->words != WORDS_UNKNOWN || g->frugal || !first->words)
		return false;
	for (const struct ki_node *k = first; k != end; k = k->next)
		any |= ki_gen_words_always(k);
	*stop = behind_last_word(first, end);
	if (any && extend(g, first, stop, end))
		return is_worth_it(first, *stop);
	*stop = first->next;
	return ki_gen_words_always(first) && extend(g, first, stop, end) &&
	       is_worth_it(first, *stop);
}

static uint32_t line_of(const struct ki_node *n)
{
	while (n->first)
		n = n->first;
	return n->line;
}

bool ki_gen_words_shared(struct gen *g, struct ki_node *first, const struct ki_node *end,
			 struct ki_node **stop)
{
	struct work w = {.first = first};

	if (!shares(g, first, end, &w.end))
		return false;
	g->a.line = line_of(first);
	share(g, &w);
	*stop = w.end;
	return true;
}

static unsigned int conjuncts(struct ki_node *n, struct ki_node **v, unsigned int max)
{
	unsigned int k;

	if (n->konst || !ki_node_is_and(n)) {
		if (max)
			v[0] = n;
		return 1;
	}
	k = conjuncts(n->kid[0], v, max);
	return k + (k < max ? conjuncts(n->kid[1], v + k, max - k) : 1);
}

bool ki_gen_words_behind(struct gen *g, struct ki_node *n, uint32_t no)
{
	struct ki_node *v[CONJUNCTS], *cond = n->kid[0];
	unsigned int count, at = 0;
	struct work w = {.first = n->kid[1]};

	if (g->words != WORDS_UNKNOWN || g->frugal || !cond->words || n->nkids > 2 || n->calls)
		return false;
	count = conjuncts(cond, v, CONJUNCTS);
	if (count < 2 || count > CONJUNCTS)
		return false;
	while (!v[at]->words)
		ki_gen_cond(g, v[at++], false, no);
	w.conds = v + at;
	w.nconds = count - at;
	share(g, &w);
	return true;
}
