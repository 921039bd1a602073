// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Changes of variables. A change of a per-CPU variable is one instruction, so nothing can come
 * between; of a global one, the same with a lock prefix; of a word of the thread, the same as soon
 * as it is known where that is. Minimum and maximum: minmax.c.
 */
#include <errno.h>
#include <string.h>

#include "snippet/node.h"

struct ki_node *ki_stmt_update(struct ki_snippet *s, enum ki_update op, const struct ki_var *v,
			       struct ki_node *index, struct ki_node *value)
{
	struct ki_node *n = ki_tree_node(s, NODE_UPDATE);

	if (!n)
		return NULL;
	if ((unsigned int)op >= KI_UPDATES)
		return ki_tree_fail(s, -EINVAL, "no such update: %u", op);
	if (!ki_tree_var(n, v, index != NULL))
		return NULL;
	n->op = op;
	if (!ki_tree_adopt(n, 0, value, false))
		return NULL;
	return !index || ki_tree_adopt(n, 1, index, false) ? n : NULL;
}

static bool is_minmax(const struct ki_node *n)
{
	return n->op == KI_UPDATE_MIN || n->op == KI_UPDATE_MAX;
}

static bool can_be_left_out(const struct ki_node *n)
{
	return !is_minmax(n);
}

static bool is_shared_minmax(const struct ki_node *n)
{
	return is_minmax(n) && n->var.kind != KI_VAR_LOCAL;
}

static const char *foreign(const struct ki_node *n)
{
	return is_shared_minmax(n) ? "a minimum or maximum" : NULL;
}

static uint16_t fixed(const struct ki_node *n)
{
	return is_shared_minmax(n) ? ki_gen_minmax_fixed(n) : 0;
}

static bool sets(const struct ki_node *n, unsigned int local)
{
	return n->op == KI_SET && !n->unless && n->var.kind == KI_VAR_LOCAL &&
	       n->var.first == local && !(n->kid[0]->locals & n->locals);
}

/* Where a variable is: at a place known now, or at an index in a register. */
struct access {
	const struct ki_node *n;
	struct opnd index;
	bool indexed;
	struct rm m;
	uint32_t out;
};

/* What comes next may use the access's operand. */
static void begin(struct gen *g, struct access *a)
{
	if (!a->indexed)
		return;
	a->out = ki_gen_bound(g, a->index.m.reg, a->n->var.count);
	if (g->site->user)
		a->m = ki_gen_shared_at_index(g, a->n, a->index.m.reg);
}

static void end(struct gen *g, const struct access *a)
{
	if (a->indexed)
		ki_asm_here(&g->a, a->out);
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
		a.m = ki_gen_at_index(n, a.index.m.reg);
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
	v = ki_node_bare(v, size);
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

static void change_or_keep(struct gen *g, const struct access *a, const struct opnd *v)
{
	if (is_minmax(a->n))
		ki_gen_minmax(g, a->n, &a->m, v, a->indexed ? &a->index : NULL);
	else
		change(g, a, v);
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
		ki_gen_effect(g, n->kid[0]);
	else if (n->var.kind == KI_VAR_THREAD && g->words != WORDS_HERE)
		update_word(g, n);
	else if (ki_gen_local_reg(g, &n->var) >= 0)
		update_local(g, n, (unsigned int)ki_gen_local_reg(g, &n->var));
	else
		return false;
	return true;
}

static void action(struct gen *g, struct ki_node *n)
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

static void slot_write(const struct ki_node *n, uint64_t *slot, uint64_t value)
{
	value = ki_type_extend(n->var.type, value);
	memcpy(slot, &value, ki_types[n->var.type].size);
}

static bool is_less(const struct ki_node *n, uint64_t a, uint64_t b)
{
	return ki_arith_binary(KI_LT, ki_types[n->var.type].sign, a, b);
}

static uint64_t updated(const struct ki_node *n, uint64_t old, uint64_t v)
{
	v = ki_type_extend(n->var.type, v);
	switch (n->op) {
	case KI_UPDATE_ADD:
		return old + v;
	case KI_UPDATE_SUB:
		return old - v;
	case KI_UPDATE_OR:
		return old | v;
	case KI_UPDATE_AND:
		return old & v;
	default:
		return v;
	}
}

/* A minimum or maximum that stays is not written. */
static bool stays(const struct ki_node *n, uint64_t old, uint64_t v)
{
	v = ki_type_extend(n->var.type, v);
	if (n->op == KI_UPDATE_MIN)
		return !is_less(n, v, old);
	return n->op == KI_UPDATE_MAX && !is_less(n, old, v);
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	uint64_t index = n->nkids > 1 ? ki_run_node(r, n->kid[1]) : 0;
	uint64_t value = ki_run_node(r, n->kid[0]);
	uint64_t *slot = ki_run_slot(r, n, index), old;

	if (!slot || ki_run_left_out(r, n))
		return 0;
	old = ki_type_extend(n->var.type, *slot);
	if (!stays(n, old, value))
		slot_write(n, slot, updated(n, old, value));
	return 0;
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	static const char *const texts[KI_UPDATES] = {
		[KI_SET] = " = ",	    [KI_UPDATE_ADD] = " += ",	[KI_UPDATE_SUB] = " -= ",
		[KI_UPDATE_MIN] = " min= ", [KI_UPDATE_MAX] = " max= ", [KI_UPDATE_OR] = " |= ",
		[KI_UPDATE_AND] = " &= ",
	};

	ki_format_var(f, n, n->nkids > 1 ? n->kid[1] : NULL);
	fputs(texts[n->op], f);
	ki_format_expr(f, n->kid[0], outside);
}

const struct ki_node_ops ki_node_update = {
	.has_var = true,
	.can_be_left_out = can_be_left_out,
	.foreign_of = foreign,
	.fixed = fixed,
	.action = action,
	.sets = sets,
	.run = run,
	.write = write,
};
