// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Compiling a snippet for a place: what is free there, and the flags.
 *
 * Flags that are live are kept as ki_snippet_count does it: in %ah (lahf) and %al (seto). They stay
 * there if the code can do without %rax, else on the stack. Code that writes no flags keeps none.
 */
#include <errno.h>

#include "snippet/gen.h"

static const uint8_t save_flags[] = {0x9f, 0x0f, 0x90, 0xc0};
static const uint8_t add_127[] = {0x04, 0x7f};
static const uint8_t sahf[] = {0x9e};

/* Never written: traces may need the frame pointer, and the driver refuses it. */
#define KEPT (REG_BIT(KI_RSP) | REG_BIT(KI_RBP))

/* What a tree asks of the registers. */
struct wants {
	uint16_t reads; /* those of the place */
	uint16_t fixed; /* those that it must have for itself */
};

static uint16_t args_of(unsigned int n)
{
	uint16_t regs = REG_BIT(KI_RAX);

	while (n--)
		regs |= REG_BIT(ki_param_regs[n]);
	return regs;
}

static uint16_t fixed_of(const struct ki_node *n)
{
	switch (n->kind) {
	case NODE_CALL:
		return 0x0fc7; /* rax rcx rdx rsi rdi r8-r11 */
	case NODE_HELPER:
		return args_of(n->nkids);
	case NODE_LOAD:
		return args_of(1);
	case NODE_PARAM:
		return n->value < 6 ? 0 : args_of(1);
	case NODE_VAR:
	case NODE_UPDATE:
		return n->var.kind == KI_VAR_THREAD ? args_of(2) : 0;
	case NODE_FACT:
		if (n->op == KI_FACT_TSC)
			return REG_BIT(KI_RAX) | REG_BIT(KI_RDX);
		return n->op == KI_FACT_NANOTIME ? args_of(0) : 0;
	case NODE_BINARY:
		if (n->op == KI_DIV || n->op == KI_MOD)
			return args_of(2);
		return n->op == KI_SHL || n->op == KI_SHR ? REG_BIT(KI_RCX) : 0;
	default:
		return 0;
	}
}

/* Also forgets what an earlier compilation has left in the nodes. */
static void gather(struct ki_node *n, struct wants *w)
{
	int reg = ki_gen_place_reg(n);

	n->scope = 0;
	if (reg >= 0)
		w->reads |= REG_BIT(reg);
	if (!n->konst)
		w->fixed |= fixed_of(n);
	for (unsigned int i = 0; i < n->nkids; i++)
		gather(n->kid[i], w);
	for (struct ki_node *k = n->first; k; k = k->next)
		gather(k, w);
	if (n->lowered)
		gather(n->lowered, w);
}

static uint16_t dead_registers(const struct ki_site_regs *site)
{
	uint16_t dead = 0;

	for (unsigned int r = 0; r < REGS; r++)
		if ((site->dead & KI_REGSET_REG(r)) == KI_REGSET_REG(r))
			dead |= REG_BIT(r);
	return dead & (uint16_t)~KEPT;
}

/* Free ones first; of these what is not needed for itself. Those that are read come last. */
static void set_order(struct gen *g, const struct wants *w)
{
	const uint16_t all = (uint16_t)~KEPT, dead = g->dead, fixed = w->fixed;
	const uint16_t classes[] = {dead & (uint16_t)~fixed, dead & fixed,
				    (uint16_t)~dead & fixed & (uint16_t)~w->reads,
				    (uint16_t)~dead & (uint16_t)~fixed & (uint16_t)~w->reads, all};
	uint16_t seen = 0;

	for (size_t c = 0; c < sizeof(classes) / sizeof(*classes); c++)
		for (unsigned int r = 0; r < REGS; r++) {
			if (!(classes[c] & all & (uint16_t)~seen & REG_BIT(r)))
				continue;
			g->order[g->norder++] = (uint8_t)r;
			seen |= REG_BIT(r);
		}
}

static void body_keeping_flags(struct gen *g, struct ki_node *body, bool uses_rax)
{
	bool push = !(g->dead & REG_BIT(KI_RAX));

	g->a.line = 0;
	if (push) {
		ki_gen_push(g, KI_RAX);
		g->slot[KI_RAX] = (uint8_t)g->depth;
		g->pushed |= REG_BIT(KI_RAX);
	}
	ki_asm_bytes(&g->a, save_flags, 1, false);
	ki_asm_bytes(&g->a, save_flags + 1, 3, false);
	if (uses_rax)
		ki_gen_push(g, KI_RAX);
	else
		g->busy |= REG_BIT(KI_RAX);
	ki_gen_scope(g, body);
	g->a.line = 0;
	if (uses_rax)
		ki_gen_pop(g, KI_RAX);
	ki_asm_bytes(&g->a, add_127, sizeof(add_127), true);
	ki_asm_bytes(&g->a, sahf, sizeof(sahf), true);
	if (push)
		ki_gen_pop(g, KI_RAX);
}

static void generate(struct gen *g, const struct ki_snippet *s)
{
	bool flags_dead = (g->site->dead & KI_REGSET_FLAGS) == KI_REGSET_FLAGS;
	struct asm_mark mark = ki_asm_mark(&g->a);
	struct wants w = {0};

	gather(s->body, &w);
	g->dead = dead_registers(g->site) & (uint16_t)~w.reads;
	set_order(g, &w);
	ki_gen_scope(g, s->body);
	if (g->failed || flags_dead || !g->a.writes_flags)
		return;
	ki_asm_back(&g->a, &mark);
	gather(s->body, &w);
	g->need = g->inside = 0;
	body_keeping_flags(g, s->body, w.fixed & REG_BIT(KI_RAX));
}

int ki_snippet_compile(const struct ki_snippet *s, const struct ki_site_regs *site,
		       struct ki_long_code *out, struct ki_err *err)
{
	static const struct ki_site_regs nowhere;
	struct gen g = {.site = site ? site : &nowhere, .err = err};
	int ret = ki_snippet_check(s, g.site, err);

	*out = (struct ki_long_code){0};
	if (ret)
		return ret;
	generate(&g, s);
	ret = g.failed;
	if (!ret) {
		ret = ki_asm_finish(&g.a, out);
		if (ret)
			ki_err_set(err, ret, 0, "snippet: %s",
				   ret == -E2BIG ? "its code is too long" : "out of memory");
	}
	ki_asm_free(&g.a);
	return ret;
}
