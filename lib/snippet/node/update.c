// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Code of statements. A change of a per-CPU variable is one instruction, so nothing can come
 * between; of a global one, the same with a lock prefix; of a word of the thread, the same as soon
 * as it is known where that is. Minimum and maximum: node/extreme.c.
 */
#include "snippet/gen.h"

/* Where a variable is: at a place known now, or at an index in a register. */
struct access {
	const struct ki_node *n;
	struct opnd index;
	bool indexed;
	struct rm m;
	uint32_t out;
};

/* Of words that threads share: the address of the one whose index is in a register, which changes.
 */
static struct rm shared_at_index(struct gen *g, const struct ki_node *n, unsigned int reg)
{
	const struct rm first = ki_gen_var(g, &n->var, 0);
	unsigned int base = ki_gen_alloc(g, REG_BIT(KI_R12));
	struct rm index = rm_reg(reg);

	ki_asm_lea(&g->a, base, &first);
	ki_asm_shift_imm(&g->a, SHIFT_SHL, reg, 3);
	ki_asm_alu_load(&g->a, ALU_ADD, 8, base, &index);
	ki_gen_release(g, base);
	return (struct rm){.mode = RM_AT, .reg = (uint8_t)base};
}

/* What comes next may use the access's operand. */
static void begin(struct gen *g, struct access *a)
{
	if (!a->indexed)
		return;
	a->out = ki_gen_bound(g, a->index.m.reg, a->n->var.count);
	if (g->site->user)
		a->m = shared_at_index(g, a->n, a->index.m.reg);
}

static void end(struct gen *g, const struct access *a)
{
	if (a->indexed)
		ki_asm_here(&g->a, a->out);
}

static struct rm at_index(const struct ki_node *n, unsigned int reg)
{
	return (struct rm){.mode = RM_GS_AT,
			   .reg = (uint8_t)reg,
			   .fix = KI_FIX_PERCPU,
			   .target = n->var.first};
}

static struct opnd own_copy(struct gen *g, const struct ki_node *n)
{
	struct opnd o = {.kind = OPND_REG, .own = true, .m = rm_reg(ki_gen_alloc(g, 0))};

	ki_gen_expr(g, n, o.m.reg);
	return o;
}

static struct access access_of(struct gen *g, const struct ki_node *n)
{
	const struct ki_node *index = n->nkids > 1 ? n->kid[1] : NULL;
	struct access a = {.n = n, .indexed = index && !index->konst};

	if (a.indexed) {
		a.index = g->site->user ? own_copy(g, index) : ki_gen_reg_operand(g, index);
		a.m = at_index(n, a.index.m.reg);
	} else {
		a.m = ki_gen_var(g, &n->var, index ? index->value : 0);
	}
	return a;
}

/* The value to be written, in a register or as an immediate of the variable's size. */
static struct opnd value_of(struct gen *g, const struct ki_node *n)
{
	const struct ki_node *v = n->kid[0];
	unsigned int size = ki_types[n->var.type].size, drop = 64 - 8 * size;
	struct opnd o;

	if (v->konst && size < 8)
		return (struct opnd){.kind = OPND_IMM,
				     .imm = (int32_t)((int64_t)(v->value << drop) >> drop)};
	while (!v->konst && v->kind == NODE_CAST && ki_types[v->type].size >= size)
		v = v->kid[0];
	o = ki_gen_operand(g, v);
	return o.kind == OPND_MEM ? ki_gen_reg_operand(g, v) : o;
}

void ki_gen_store(struct gen *g, unsigned int size, const struct rm *m, const struct opnd *v)
{
	if (v->kind == OPND_IMM && m->mode == RM_REG)
		ki_asm_const(&g->a, m->reg, (uint64_t)(int64_t)v->imm);
	else if (v->kind == OPND_IMM)
		ki_asm_mov_imm(&g->a, size, m, v->imm);
	else
		ki_asm_mov_store(&g->a, size, m, v->m.reg);
}

/* Of what is written: all of a register. */
static unsigned int size_of(const struct access *a)
{
	return a->m.mode == RM_REG ? 8 : ki_types[a->n->var.type].size;
}

static void change(struct gen *g, const struct access *a, const struct opnd *v)
{
	static const uint8_t ops[KI_UPDATES] = {[KI_UPDATE_ADD] = ALU_ADD,
						[KI_UPDATE_SUB] = ALU_SUB,
						[KI_UPDATE_OR] = ALU_OR,
						[KI_UPDATE_AND] = ALU_AND};
	unsigned int size = size_of(a), op = a->n->op;
	bool lock = a->m.mode == RM_GLOBAL || (a->indexed && g->site->user);
	bool sum = op == KI_UPDATE_ADD || op == KI_UPDATE_SUB;

	if (op == KI_SET)
		ki_gen_store(g, size, &a->m, v);
	else if (v->kind == OPND_IMM && sum && (v->imm == 1 || v->imm == -1))
		ki_asm_inc(&g->a, size, &a->m, (op == KI_UPDATE_SUB) == (v->imm == 1), lock);
	else if (v->kind == OPND_IMM)
		ki_asm_alu_imm(&g->a, ops[op], size, &a->m, v->imm, lock);
	else
		ki_asm_alu_store(&g->a, ops[op], size, &a->m, v->m.reg, lock);
}

uint32_t ki_gen_unless(struct gen *g, const struct ki_node *n)
{
	const struct ki_var v = {.kind = KI_VAR_LOCAL, .first = n->unless - 1u};
	uint32_t out;
	struct rm m;

	if (!n->unless)
		return KI_GEN_ALWAYS;
	out = ki_asm_label(&g->a);
	m = ki_gen_var(g, &v, 0);
	ki_asm_alu_imm(&g->a, ALU_CMP, 8, &m, 0, false);
	ki_asm_branch(&g->a, CC_NE, out);
	return out;
}

void ki_gen_unless_end(struct gen *g, uint32_t label)
{
	if (label != KI_GEN_ALWAYS)
		ki_asm_here(&g->a, label);
}

static bool is_extreme(const struct ki_node *n)
{
	return n->op == KI_UPDATE_MIN || n->op == KI_UPDATE_MAX;
}

static void change_or_keep(struct gen *g, const struct access *a, const struct opnd *v)
{
	if (is_extreme(a->n))
		ki_gen_extreme(g, a->n, &a->m, v, a->indexed ? &a->index : NULL);
	else
		change(g, a, v);
}

static void eval(struct gen *g, const struct ki_node *n)
{
	struct opnd o;

	if (!n->effects)
		return;
	o = ki_gen_reg_operand(g, n);
	ki_gen_drop(g, &o);
}

/* In a register as the type says, whatever was added to it. */
static void keep_extended(struct gen *g, const struct ki_var *v, unsigned int reg)
{
	struct rm m = rm_reg(reg);

	if (ki_types[v->type].size < 8)
		ki_asm_extend(&g->a, v->type, reg, &m);
}

static void set_local(struct gen *g, const struct ki_node *n, unsigned int home)
{
	const struct ki_node *value = n->kid[0];
	uint32_t out = KI_GEN_ALWAYS;
	struct opnd o;

	if (!n->unless && !(value->locals & n->locals)) {
		ki_gen_expr(g, value, home);
	} else {
		o = ki_gen_reg_operand(g, value);
		out = ki_gen_unless(g, n);
		ki_asm_mov(&g->a, 8, home, &o.m);
		ki_gen_drop(g, &o);
	}
	if (!ki_type_covers(n->var.type, value->type))
		keep_extended(g, &n->var, home);
	ki_gen_unless_end(g, out);
}

/* A local in a register: all of it is changed, and extended again. */
static void update_local(struct gen *g, const struct ki_node *n, unsigned int home)
{
	struct access a = {.n = n, .m = rm_reg(home)};
	struct opnd v;
	uint32_t out;

	if (n->op == KI_SET) {
		set_local(g, n, home);
		return;
	}
	v = value_of(g, n);
	out = ki_gen_unless(g, n);
	change_or_keep(g, &a, &v);
	keep_extended(g, &n->var, home);
	ki_gen_unless_end(g, out);
	ki_gen_drop(g, &v);
}

/* A word of the thread that has not been looked for yet. */
static void update_word(struct gen *g, const struct ki_node *n)
{
	struct opnd v = value_of(g, n);
	uint32_t none = ki_asm_label(&g->a), out = ki_gen_unless(g, n);
	struct access a = {.n = n, .m = ki_gen_word_look(g, &n->var, none)};

	change_or_keep(g, &a, &v);
	ki_gen_release(g, a.m.reg);
	ki_asm_here(&g->a, none);
	ki_gen_unless_end(g, out);
	ki_gen_drop(g, &v);
}

/* Is there nothing to be written, or elsewhere? */
static bool update_special(struct gen *g, const struct ki_node *n)
{
	const struct ki_node *index = n->nkids > 1 ? n->kid[1] : NULL;

	if ((index && index->konst && index->value >= n->var.count) ||
	    (n->var.kind == KI_VAR_THREAD && g->words == WORDS_NONE))
		eval(g, n->kid[0]);
	else if (n->var.kind == KI_VAR_THREAD && g->words != WORDS_HERE)
		update_word(g, n);
	else if (ki_gen_local_reg(g, &n->var) >= 0)
		update_local(g, n, (unsigned int)ki_gen_local_reg(g, &n->var));
	else
		return false;
	return true;
}

static void update(struct gen *g, struct ki_node *n)
{
	struct access a;
	struct opnd v;
	uint32_t out;

	if (update_special(g, n))
		return;
	a = access_of(g, n);
	v = value_of(g, n);
	out = ki_gen_unless(g, n);
	begin(g, &a);
	change_or_keep(g, &a, &v);
	end(g, &a);
	ki_gen_unless_end(g, out);
	ki_gen_drop(g, &v);
	if (a.indexed)
		ki_gen_drop(g, &a.index);
}

/* Add one to the bucket whose number is in a register, which changes. */
static void count(struct gen *g, const struct ki_node *n, unsigned int bucket)
{
	struct rm m = at_index(n, bucket);
	uint32_t out = ki_gen_bound(g, bucket, n->var.count);

	if (g->site->user)
		m = shared_at_index(g, n, bucket);
	ki_asm_inc(&g->a, 8, &m, false, g->site->user);
	ki_asm_here(&g->a, out);
}

static void count_konst(struct gen *g, const struct ki_node *n, uint32_t bucket)
{
	struct rm m = ki_gen_var(g, &n->var, bucket);

	ki_asm_inc(&g->a, 8, &m, false, g->site->user);
}

/*
 * bsr leaves its destination alone if there is no bit: -1 then, as it does on every CPU with 64
 * bits, though one vendor's manual long called it undefined.
 */
static void count_log2(struct gen *g, struct ki_node *n)
{
	struct opnd v;
	unsigned int t;
	struct rm m;

	if (n->kid[0]->konst) {
		count_konst(g, n, ki_log2_bucket(n->kid[0]->value));
		return;
	}
	v = ki_gen_reg_operand(g, n->kid[0]);
	t = ki_gen_alloc(g, 0);
	m = rm_reg(t);
	ki_asm_alu_imm(&g->a, ALU_OR, 8, &m, -1, false);
	ki_asm_bsr(&g->a, t, v.m.reg);
	ki_asm_alu_imm(&g->a, ALU_ADD, 8, &m, 1, false);
	count(g, n, t);
	ki_gen_release(g, t);
	ki_gen_drop(g, &v);
}

static void count_linear(struct gen *g, struct ki_node *n)
{
	const struct ki_node *value = n->kid[0];
	struct opnd v;
	unsigned int t;

	if (value->konst) {
		count_konst(g, n,
			    ki_linear_bucket(&n->linear, ki_types[value->type].sign, value->value));
		return;
	}
	v = ki_gen_reg_operand(g, value);
	g->held = v.m.reg;
	t = ki_gen_alloc(g, 0);
	ki_gen_expr(g, n->lowered, t);
	count(g, n, t);
	ki_gen_release(g, t);
	ki_gen_drop(g, &v);
}

void ki_gen_simple(struct gen *g, struct ki_node *n)
{
	switch (n->kind) {
	case NODE_UPDATE:
		update(g, n);
		break;
	case NODE_LOG2:
		count_log2(g, n);
		break;
	case NODE_LINEAR:
		count_linear(g, n);
		break;
	case NODE_RECORD:
		ki_gen_record(g, n);
		break;
	case NODE_TABLE:
		ki_gen_table(g, n);
		break;
	default:
		eval(g, n->kid[0]);
	}
}
