// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Operands: what can stand in an instruction as it is, and what must be evaluated first.
 */
#include "snippet/node.h"

bool ki_fits_s32(uint64_t v)
{
	return (int64_t)v == (int32_t)v;
}

int ki_gen_place_reg(const struct ki_node *n)
{
	return ki_ops(n)->place_reg ? ki_ops(n)->place_reg(n) : -1;
}

int ki_gen_local_reg(const struct gen *g, const struct ki_var *v)
{
	if (v->kind != KI_VAR_LOCAL || g->home[v->first].stack)
		return -1;
	return g->home[v->first].at;
}

static struct rm at_home(const struct gen *g, const struct home *h)
{
	if (!h->stack)
		return rm_reg(h->at);
	return (struct rm){.mode = RM_STACK, .disp = 8 * (int32_t)(g->depth - h->at)};
}

struct rm ki_gen_var(const struct gen *g, const struct ki_var *v, uint64_t index)
{
	if (v->kind == KI_VAR_LOCAL)
		return at_home(g, &g->home[v->first]);
	if (v->kind == KI_VAR_THREAD)
		return ki_gen_word(g, v);
	if (v->kind == KI_VAR_GLOBAL || g->site->user)
		return (struct rm){
			.mode = RM_GLOBAL, .fix = KI_FIX_GLOBAL, .target = v->first + index};
	return (struct rm){.mode = RM_GS, .fix = KI_FIX_PERCPU, .target = v->first + index};
}

bool ki_gen_leaf(const struct gen *g, const struct ki_node *n, struct opnd *o)
{
	int reg = ki_gen_place_reg(n);

	if (reg < 0)
		return ki_ops(n)->leaf && ki_ops(n)->leaf(g, n, o);
	if (ki_gen_intact(g, (unsigned int)reg))
		*o = (struct opnd){.kind = OPND_REG, .m = rm_reg((unsigned int)reg)};
	else
		*o = (struct opnd){.kind = OPND_MEM, .m = ki_gen_slot(g, (unsigned int)reg)};
	return true;
}

bool ki_gen_comes_in_rax(const struct ki_node *n)
{
	return ki_ops(n)->in_rax && ki_ops(n)->in_rax(n);
}

static struct opnd evaluated(struct gen *g, const struct ki_node *n)
{
	struct opnd o = {.kind = OPND_REG, .own = true};

	o.m = rm_reg(ki_gen_comes_in_rax(n) ? ki_gen_alloc_first(g, KI_RAX) : ki_gen_alloc(g, 0));
	ki_gen_expr(g, n, o.m.reg);
	return o;
}

struct opnd ki_gen_operand(struct gen *g, const struct ki_node *n)
{
	struct opnd o;

	if (n->konst && ki_fits_s32(n->value))
		return (struct opnd){.kind = OPND_IMM, .imm = (int32_t)n->value};
	if (!n->konst && ki_gen_leaf(g, n, &o))
		return o;
	return evaluated(g, n);
}

struct opnd ki_gen_reg_operand(struct gen *g, const struct ki_node *n)
{
	struct opnd o;

	if (!n->konst && ki_gen_leaf(g, n, &o) && o.kind == OPND_REG)
		return o;
	return evaluated(g, n);
}

void ki_gen_drop(struct gen *g, const struct opnd *o)
{
	if (o->own)
		ki_gen_release(g, o->m.reg);
}

bool ki_gen_swaps(const struct ki_node *l, const struct ki_node *r)
{
	return r->need > l->need && !l->effects && !r->effects;
}

void ki_gen_push_value(struct gen *g, const struct ki_node *n, unsigned int dest, struct claims *c)
{
	struct opnd o;

	if (n->width) {
		ki_ops(n)->push(g, n, dest, c);
		return;
	}
	o = ki_gen_reg_operand(g, n);
	ki_gen_push(g, o.m.reg);
	ki_gen_drop(g, &o);
}

void ki_gen_expr(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	struct opnd o;

	if (g->failed)
		return;
	if (n->konst)
		ki_asm_const(&g->a, dest, n->value);
	else if (ki_gen_leaf(g, n, &o))
		ki_asm_mov(&g->a, 8, dest, &o.m);
	else
		ki_ops(n)->value(g, n, dest);
}

void ki_gen_simple(struct gen *g, struct ki_node *n)
{
	ki_ops(n)->action(g, n);
}
