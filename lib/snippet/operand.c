// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Operands: what can stand in an instruction as it is, and what must be evaluated first.
 */
#include "snippet/gen.h"

bool ki_fits_s32(uint64_t v)
{
	return (int64_t)v == (int32_t)v;
}

int ki_gen_place_reg(const struct ki_node *n)
{
	if (n->kind == NODE_REG)
		return n->op == KI_RSP ? -1 : n->op;
	if (n->kind == NODE_PARAM && n->value < 6)
		return ki_param_regs[n->value];
	if (n->kind == NODE_FACT && n->op == KI_FACT_RETVAL)
		return KI_RAX;
	return -1;
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

/* A variable of 64 bits at a place known now. */
static bool is_plain_var(const struct gen *g, const struct ki_node *n)
{
	if (n->kind != NODE_VAR || ki_types[n->type].size != 8 ||
	    (n->var.kind == KI_VAR_THREAD && g->words != WORDS_HERE))
		return false;
	return !n->nkids || (n->kid[0]->konst && n->kid[0]->value < n->var.count);
}

bool ki_gen_leaf(const struct gen *g, const struct ki_node *n, struct opnd *o)
{
	int reg = ki_gen_place_reg(n);

	if (n->kind == NODE_HELD)
		reg = (int)g->held;
	else if (n->kind == NODE_VAR && ki_gen_local_reg(g, &n->var) >= 0)
		reg = ki_gen_local_reg(g, &n->var);
	else if (reg >= 0 && !ki_gen_intact(g, (unsigned int)reg)) {
		*o = (struct opnd){.kind = OPND_MEM, .m = ki_gen_slot(g, (unsigned int)reg)};
		return true;
	}
	if (reg >= 0) {
		*o = (struct opnd){.kind = OPND_REG, .m = rm_reg((unsigned int)reg)};
		return true;
	}
	if (!is_plain_var(g, n))
		return false;
	*o = (struct opnd){.kind = OPND_MEM,
			   .m = ki_gen_var(g, &n->var, n->nkids ? n->kid[0]->value : 0)};
	return true;
}

bool ki_gen_comes_in_rax(const struct ki_node *n)
{
	switch (n->kind) {
	case NODE_LOAD:
	case NODE_HELPER:
	case NODE_CALL:
	case NODE_TABLE_GET:
	case NODE_STACK:
	case NODE_TEXT:
		return true;
	case NODE_FACT:
		return n->op == KI_FACT_TSC || n->op == KI_FACT_CLOCK || ki_fact_helper(n->op);
	case NODE_BINARY:
		return n->op == KI_DIV || n->op == KI_MOD ||
		       (!n->konst && ki_gen_comes_in_rax(n->kid[0]));
	case NODE_UNARY:
	case NODE_CAST:
		return ki_gen_comes_in_rax(n->kid[0]);
	default:
		return false;
	}
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
