// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Compiling a snippet for a place: what is free there, and the flags.
 *
 * Flags that are live are kept as ki_snippet_count does it: in %ah (lahf) and %al (seto). They stay
 * there if the code can do without %rax, else on the stack. Code that writes no flags keeps none.
 */
#include <errno.h>

#include "snippet/node.h"

static const uint8_t save_flags[] = {0x9f, 0x0f, 0x90, 0xc0};
static const uint8_t add_127[] = {0x04, 0x7f};
static const uint8_t sahf[] = {0x9e};

/* Never written: traces may need the frame pointer, and the driver refuses it. */
#define KEPT (REG_BIT(KI_RSP) | REG_BIT(KI_RBP))

uint16_t ki_gen_fixed_args(unsigned int n)
{
	uint16_t regs = REG_BIT(KI_RAX);

	while (n--)
		regs |= REG_BIT(ki_param_regs[n]);
	return regs;
}

/* What a node is by itself; forgets what an earlier compilation has left in it. */
static void begin_node(struct ki_node *n)
{
	const struct ki_node_ops *ops = ki_ops(n);

	n->scope[0] = n->scope[1] = 0;
	n->fixed = n->konst || !ops->fixed ? 0 : ops->fixed(n);
	n->calls = ops->calls;
	n->words = ops->has_var && n->var.kind == KI_VAR_THREAD;
	n->locals = ops->has_var && n->var.kind == KI_VAR_LOCAL ? UINT64_C(1) << n->var.first : 0;
	n->locals |= n->unless ? UINT64_C(1) << (n->unless - 1) : 0;
}

static uint16_t gather(struct ki_node *n);

static uint16_t gather_kid(struct ki_node *n, struct ki_node *kid)
{
	uint16_t reads = gather(kid);

	n->fixed |= kid->fixed;
	n->calls |= kid->calls;
	n->locals |= kid->locals;
	n->words = (uint8_t)(n->words + kid->words > 255 ? 255 : n->words + kid->words);
	return reads;
}

/* Returns the registers of the place that are read. */
static uint16_t gather(struct ki_node *n)
{
	int reg = ki_gen_place_reg(n);
	uint16_t reads = reg >= 0 ? REG_BIT(reg) : 0;

	begin_node(n);
	for (unsigned int i = 0; i < n->nkids; i++)
		reads |= gather_kid(n, n->kid[i]);
	for (struct ki_node *k = n->first; k; k = k->next)
		reads |= gather_kid(n, k);
	if (n->lowered)
		reads |= gather_kid(n, n->lowered);
	return reads;
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
static void set_order(struct gen *g, uint16_t fixed, uint16_t reads)
{
	const uint16_t all = (uint16_t)~KEPT, dead = g->dead;
	const uint16_t classes[] = {dead & (uint16_t)~fixed, dead & fixed,
				    (uint16_t)~dead & fixed & (uint16_t)~reads,
				    (uint16_t)~dead & (uint16_t)~fixed & (uint16_t)~reads, all};
	unsigned int seen = 0;

	for (size_t c = 0; c < sizeof(classes) / sizeof(*classes); c++) {
		for (unsigned int left = classes[c] & all & ~seen; left; left &= left - 1)
			g->order[g->norder++] = (uint8_t)__builtin_ctz(left);
		seen |= classes[c];
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

/* Go below, or back from there. */
static void pass_red_zone(struct gen *g, bool back)
{
	const unsigned int words = back ? 0 : RED_ZONE;

	g->a.line = 0;
	ki_asm_lea_stack(&g->a, KI_RSP, 8 * ((int32_t)g->below - (int32_t)words));
	g->depth += words - g->below;
	g->below = words;
}

static void generate(struct gen *g, const struct ki_snippet *s)
{
	bool flags_dead = (g->site->dead & KI_REGSET_FLAGS) == KI_REGSET_FLAGS, keep, below;
	struct asm_mark mark = ki_asm_mark(&g->a);
	uint16_t reads = gather(s->body);

	g->dead = dead_registers(g->site) & (uint16_t)~reads;
	set_order(g, s->body->fixed, reads);
	ki_gen_scope(g, s->body);
	keep = !flags_dead && g->a.writes_flags;
	below = g->site->user && (keep || g->a.uses_stack);
	if (g->failed || !(keep || below))
		return;
	ki_asm_back(&g->a, &mark);
	gather(s->body);
	g->need = g->inside = 0;
	if (below)
		pass_red_zone(g, false);
	if (keep)
		body_keeping_flags(g, s->body, s->body->fixed & REG_BIT(KI_RAX));
	else
		ki_gen_scope(g, s->body);
	if (below)
		pass_red_zone(g, true);
}

static int compile(const struct ki_snippet *s, const struct ki_site_regs *site, bool frugal,
		   struct ki_long_code *out, struct ki_err *err)
{
	struct gen g = {.site = site, .err = err, .frugal = frugal};
	int ret;

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

int ki_snippet_compile(const struct ki_snippet *s, const struct ki_site_regs *site,
		       struct ki_long_code *out, struct ki_err *err)
{
	static const struct ki_site_regs nowhere;
	int ret;

	if (!site)
		site = &nowhere;
	*out = (struct ki_long_code){0};
	ret = ki_snippet_check(s, site, err);
	if (ret)
		return ret;
	ret = compile(s, site, false, out, err);
	if (ret == -E2BIG && (s->body->words || s->body->locals)) {
		ki_err_clear(err);
		ret = compile(s, site, true, out, err);
	}
	return ret;
}
