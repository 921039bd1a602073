// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Code of expressions: each into the register that is asked for, which the caller has taken. It may
 * be used on the way; all others that are taken are as they were.
 */
#include "snippet/gen.h"

static void copy(struct gen *g, unsigned int dest, const struct opnd *o)
{
	ki_asm_mov(&g->a, 8, dest, &o->m);
}

uint32_t ki_gen_bound(struct gen *g, unsigned int index, uint32_t count)
{
	uint32_t out = ki_asm_label(&g->a);
	struct rm m = rm_reg(index);

	ki_asm_alu_imm(&g->a, ALU_CMP, 8, &m, (int32_t)(count - 1), false);
	ki_asm_branch(&g->a, CC_A, out);
	return out;
}

static void indexed(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	struct opnd i = ki_gen_reg_operand(g, n->kid[0]);
	struct rm m = {
		.mode = RM_GS_AT, .reg = i.m.reg, .fix = KI_FIX_PERCPU, .target = n->var.first};
	uint32_t out;

	ki_asm_const(&g->a, dest, 0);
	out = ki_gen_bound(g, i.m.reg, n->var.count);
	ki_asm_mov(&g->a, 8, dest, &m);
	ki_asm_here(&g->a, out);
	ki_gen_drop(g, &i);
}

static void variable(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	struct rm m;

	if (n->nkids && !n->kid[0]->konst) {
		indexed(g, n, dest);
	} else if (n->nkids && n->kid[0]->value >= n->var.count) {
		ki_asm_const(&g->a, dest, 0);
	} else if (n->var.kind == KI_VAR_THREAD && g->words != WORDS_HERE) {
		ki_gen_word_read(g, &n->var, dest);
	} else {
		m = ki_gen_var(g, &n->var, n->nkids ? n->kid[0]->value : 0);
		ki_asm_extend(&g->a, n->type, dest, &m);
	}
}

/* A field of the current task. That with base %r12 would have another form: not in %r12. */
static void task_field(struct gen *g, unsigned int size, uint64_t field, unsigned int dest)
{
	unsigned int reg = dest == KI_R12 ? ki_gen_alloc(g, REG_BIT(KI_R12)) : dest;
	const struct rm task = {.mode = RM_GS, .fix = KI_FIX_SELF, .target = KI_SELF_TASK};
	const struct rm m = {
		.mode = RM_FIELD, .reg = (uint8_t)reg, .fix = KI_FIX_FIELD, .target = field};

	ki_asm_mov(&g->a, 8, reg, &task);
	ki_asm_mov(&g->a, size, reg, &m);
	if (reg == dest)
		return;
	ki_asm_mov(&g->a, 8, dest, &(struct rm){.mode = RM_REG, .reg = (uint8_t)reg});
	ki_gen_release(g, reg);
}

/* Facts that are fields of the task. */
static const struct {
	uint8_t size;
	uint64_t field;
} fields[KI_FACTS] = {
	[KI_FACT_PID] = {4, KI_FIELD_PID},	 [KI_FACT_TGID] = {4, KI_FIELD_TGID},
	[KI_FACT_COMM0] = {8, KI_FIELD_COMM},	 [KI_FACT_COMM1] = {8, KI_FIELD_COMM | 8ull << 32},
	[KI_FACT_MINFLT] = {8, KI_FIELD_MINFLT}, [KI_FACT_MAJFLT] = {8, KI_FIELD_MAJFLT},
	[KI_FACT_NVCSW] = {8, KI_FIELD_NVCSW},	 [KI_FACT_NIVCSW] = {8, KI_FIELD_NIVCSW},
};

bool ki_gen_task_number(struct gen *g, const struct ki_node *n, struct opnd *o)
{
	const struct rm task = {.mode = RM_GS, .fix = KI_FIX_SELF, .target = KI_SELF_TASK};

	if (n->konst || n->kind != NODE_FACT || fields[n->op].size != 4)
		return false;
	*o = (struct opnd){.kind = OPND_MEM, .own = true};
	o->m.mode = RM_FIELD;
	o->m.reg = (uint8_t)ki_gen_alloc(g, REG_BIT(KI_R12)); /* that would have another form */
	o->m.fix = KI_FIX_FIELD;
	o->m.target = fields[n->op].field;
	ki_asm_mov(&g->a, 8, o->m.reg, &task);
	return true;
}

static void fact(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	struct rm self = {.mode = RM_GS, .fix = KI_FIX_SELF, .target = KI_SELF_TASK};

	switch (n->op) {
	case KI_FACT_TSC:
		ki_gen_tsc(g, dest);
		break;
	case KI_FACT_CLOCK:
		ki_gen_clock(g, dest);
		break;
	case KI_FACT_NANOTIME:
	case KI_FACT_UID:
	case KI_FACT_CGROUP:
		ki_gen_helper(g, ki_fact_helper(n->op), NULL, 0, dest);
		break;
	case KI_FACT_CPU:
		if (g->site->user) {
			ki_gen_user_cpu(g, dest);
			break;
		}
		self.target = KI_SELF_CPU;
		ki_asm_mov(&g->a, 4, dest, &self);
		break;
	case KI_FACT_TASK:
		ki_asm_mov(&g->a, 8, dest, &self);
		break;
	case KI_FACT_ADDR:
		ki_asm_const(&g->a, dest, g->site->addr);
		break;
	case KI_FACT_PLACE:
		ki_asm_const(&g->a, dest, g->site->place);
		break;
	default:
		task_field(g, fields[n->op].size, fields[n->op].field, dest);
	}
}

static void cast(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	struct opnd o;
	struct rm m = rm_reg(dest);

	if (ki_type_covers(n->type, n->kid[0]->type)) {
		ki_gen_expr(g, n->kid[0], dest);
	} else if (ki_gen_leaf(g, n->kid[0], &o)) {
		ki_asm_extend(&g->a, n->type, dest, &o.m);
	} else {
		ki_gen_expr(g, n->kid[0], dest);
		ki_asm_extend(&g->a, n->type, dest, &m);
	}
}

static void load(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	static const uint8_t helpers[9] = {[1] = KI_HELPER_LOAD8,
					   [2] = KI_HELPER_LOAD16,
					   [4] = KI_HELPER_LOAD32,
					   [8] = KI_HELPER_LOAD64};
	struct rm m = rm_reg(dest);

	ki_gen_helper(g, helpers[ki_types[n->type].size], n->kid, 1, dest);
	if (ki_types[n->type].sign)
		ki_asm_extend(&g->a, n->type, dest, &m);
}

/* ---- operators ---- */

/* dest op= r, for what has a memory form. */
static void alu_with(struct gen *g, enum alu op, unsigned int dest, const struct opnd *r)
{
	struct rm m = rm_reg(dest);

	if (r->kind == OPND_IMM)
		ki_asm_alu_imm(&g->a, op, op == ALU_AND && r->imm >= 0 ? 4 : 8, &m, r->imm, false);
	else
		ki_asm_alu_load(&g->a, op, 8, dest, &r->m);
}

static void alu(struct gen *g, enum alu op, const struct ki_node *l, const struct ki_node *r,
		unsigned int dest)
{
	bool swap = l->konst || ki_gen_swaps(l, r);
	struct opnd o;

	ki_gen_expr(g, swap ? r : l, dest);
	o = ki_gen_operand(g, swap ? l : r);
	if (swap && op == ALU_SUB) { /* l - r = -r + l */
		ki_asm_unary(&g->a, 3, dest);
		op = ALU_ADD;
	}
	alu_with(g, op, dest, &o);
	ki_gen_drop(g, &o);
}

static bool is_power(uint64_t v)
{
	return v && !(v & (v - 1));
}

static unsigned int log2_of(uint64_t v)
{
	return (unsigned int)__builtin_ctzll(v);
}

static void shift_by(struct gen *g, enum shift op, unsigned int dest, unsigned int count)
{
	if (count)
		ki_asm_shift_imm(&g->a, op, dest, count);
}

static void multiply(struct gen *g, const struct ki_node *l, const struct ki_node *r,
		     unsigned int dest)
{
	struct opnd o;

	if (l->konst || (!r->konst && ki_gen_swaps(l, r))) {
		const struct ki_node *other = l;

		l = r;
		r = other;
	}
	ki_gen_expr(g, l, dest);
	if (r->konst && is_power(r->value)) {
		shift_by(g, SHIFT_SHL, dest, log2_of(r->value));
	} else if (r->konst && ki_fits_s32(r->value)) {
		ki_asm_imul_imm(&g->a, dest, dest, (int32_t)r->value);
	} else {
		o = ki_gen_reg_operand(g, r);
		ki_asm_imul(&g->a, dest, o.m.reg);
		ki_gen_drop(g, &o);
	}
}

static void divide(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	const struct ki_node *r = n->kid[1];
	bool sign = ki_node_is_signed(n), mod = n->op == KI_MOD;
	struct opnd o = {.kind = OPND_IMM, .imm = (int32_t)(r->value - 1)};

	if (!sign && r->konst && is_power(r->value) && ki_fits_s32(r->value - 1)) {
		ki_gen_expr(g, n->kid[0], dest);
		if (mod)
			alu_with(g, ALU_AND, dest, &o);
		else
			shift_by(g, SHIFT_SHR, dest, log2_of(r->value));
		return;
	}
	if (mod)
		ki_gen_helper(g, sign ? KI_HELPER_MOD : KI_HELPER_UMOD, n->kid, 2, dest);
	else
		ki_gen_helper(g, sign ? KI_HELPER_DIV : KI_HELPER_UDIV, n->kid, 2, dest);
}

/* By a count in %cl; dest is not %rcx. */
static void shift_cl(struct gen *g, enum shift op, const struct ki_node *n, unsigned int dest)
{
	struct claims c = {0};

	ki_gen_expr(g, n->kid[0], dest);
	ki_gen_claim(g, KI_RCX, dest, &c);
	ki_gen_expr(g, n->kid[1], KI_RCX);
	ki_asm_shift_cl(&g->a, op, dest);
	ki_gen_unclaim(g, &c);
}

static void shift(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	enum shift op = n->op == KI_SHL ? SHIFT_SHL : ki_node_is_signed(n) ? SHIFT_SAR : SHIFT_SHR;
	unsigned int t;

	if (n->kid[1]->konst) {
		ki_gen_expr(g, n->kid[0], dest);
		shift_by(g, op, dest, n->kid[1]->value & 63);
	} else if (dest != KI_RCX) {
		shift_cl(g, op, n, dest);
	} else {
		t = ki_gen_alloc(g, REG_BIT(KI_RCX));
		shift_cl(g, op, n, t);
		ki_asm_mov(&g->a, 8, dest, &(struct rm){.mode = RM_REG, .reg = (uint8_t)t});
		ki_gen_release(g, t);
	}
}

/* 0 or 1. */
static void truth(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	uint32_t no;

	if (ki_gen_is_compare(n)) {
		ki_asm_setcc(&g->a, ki_gen_compare(g, n), dest);
		return;
	}
	no = ki_asm_label(&g->a);
	ki_asm_const(&g->a, dest, 0);
	ki_gen_cond(g, n, false, no);
	ki_asm_const(&g->a, dest, 1);
	ki_asm_here(&g->a, no);
}

static void binary(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	static const uint8_t alus[KI_BINARIES] = {[KI_ADD] = ALU_ADD,
						  [KI_SUB] = ALU_SUB,
						  [KI_AND] = ALU_AND,
						  [KI_OR] = ALU_OR,
						  [KI_XOR] = ALU_XOR};

	switch (n->op) {
	case KI_MUL:
		multiply(g, n->kid[0], n->kid[1], dest);
		break;
	case KI_DIV:
	case KI_MOD:
		divide(g, n, dest);
		break;
	case KI_SHL:
	case KI_SHR:
		shift(g, n, dest);
		break;
	default:
		if (n->op >= KI_EQ)
			truth(g, n, dest);
		else
			alu(g, alus[n->op], n->kid[0], n->kid[1], dest);
	}
}

static void conditional(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	uint32_t no = ki_asm_label(&g->a), end = ki_asm_label(&g->a);

	ki_gen_cond(g, n->kid[0], false, no);
	ki_gen_expr(g, n->kid[1], dest);
	ki_asm_branch(&g->a, ASM_JMP, end);
	ki_asm_here(&g->a, no);
	ki_gen_expr(g, n->kid[2], dest);
	ki_asm_here(&g->a, end);
}

static void unary(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	if (n->op == KI_LNOT) {
		truth(g, n, dest);
		return;
	}
	ki_gen_expr(g, n->kid[0], dest);
	ki_asm_unary(&g->a, n->op == KI_NEG ? 3 : 2, dest);
}

static void behind(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	ki_gen_simple(g, n->kid[0]);
	ki_gen_expr(g, n->kid[1], dest);
}

void ki_gen_expr(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	static void (*const each[NODE_KINDS])(struct gen *, const struct ki_node *,
					      unsigned int) = {
		[NODE_VAR] = variable,
		[NODE_FACT] = fact,
		[NODE_LOAD] = load,
		[NODE_CAST] = cast,
		[NODE_UNARY] = unary,
		[NODE_BINARY] = binary,
		[NODE_CALL] = ki_gen_call,
		[NODE_COND] = conditional,
		[NODE_TABLE_GET] = ki_gen_table_get,
		[NODE_STRING_IS] = ki_gen_string_is,
		[NODE_STACK] = ki_gen_stack,
		[NODE_TEXT] = ki_gen_text,
		[NODE_BEHIND] = behind,
	};
	struct opnd o;

	if (g->failed)
		return;
	if (n->konst)
		ki_asm_const(&g->a, dest, n->value);
	else if (ki_gen_leaf(g, n, &o))
		copy(g, dest, &o);
	else if (n->kind == NODE_REG)
		ki_asm_lea_stack(&g->a, dest, 8 * (int32_t)g->depth);
	else if (n->kind == NODE_PARAM)
		ki_gen_stack_param(g, (unsigned int)n->value, dest);
	else if (n->kind == NODE_HELPER)
		ki_gen_helper(g, n->op, n->kid, n->nkids, dest);
	else
		each[n->kind](g, n, dest);
}
