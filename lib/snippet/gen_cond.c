// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Conditions: comparisons go into branches without becoming numbers.
 */
#include "snippet/node.h"

/* Values of a node lie in what 32 bits hold, signed or unsigned. */
#define IN_S32 1
#define IN_U32 2

static unsigned int range_of(const struct ki_node *n)
{
	uint64_t v;

	n = ki_node_bare(n, 8); /* which has it as 64 bits already */
	v = n->value;
	if (n->konst)
		return (ki_fits_s32(v) ? IN_S32 : 0) | (v <= UINT32_MAX ? IN_U32 : 0);
	if (ki_ops(n)->is_truth && ki_ops(n)->is_truth(n))
		return IN_S32 | IN_U32;
	return (ki_type_covers(KI_I32, n->type) ? IN_S32 : 0) |
	       (ki_type_covers(KI_U32, n->type) ? IN_U32 : 0);
}

static bool is_compare(const struct ki_node *n)
{
	return ki_ops(n)->is_compare && ki_ops(n)->is_compare(n);
}

/* How two operands are compared. */
struct compare {
	const struct ki_node *l, *r; /* r NULL: with 0 */
	uint8_t op;
	uint8_t size;
	bool sign;
};

static uint8_t mirrored(uint8_t op)
{
	static const uint8_t to[KI_BINARIES] = {[KI_EQ] = KI_EQ, [KI_NE] = KI_NE, [KI_LT] = KI_GT,
						[KI_LE] = KI_GE, [KI_GT] = KI_LT, [KI_GE] = KI_LE};

	return to[op];
}

static unsigned int condition(const struct compare *c)
{
	static const uint8_t codes[KI_BINARIES][2] = {
		[KI_EQ] = {CC_E, CC_E},	  [KI_NE] = {CC_NE, CC_NE}, [KI_LT] = {CC_B, CC_L},
		[KI_LE] = {CC_BE, CC_LE}, [KI_GT] = {CC_A, CC_G},   [KI_GE] = {CC_AE, CC_GE},
	};

	return codes[c->op][c->sign];
}

/*
 * Numbers that 32 bits hold are compared in 32: as unsigned ones if they are that; if they are
 * signed ones, extending has kept the order, taken as signed and as unsigned.
 */
static struct compare compare_of(const struct ki_node *n)
{
	struct compare c = {.l = n->kid[0], .op = KI_EQ, .size = 8};
	unsigned int range;

	if (n->nkids < 2) {
		c.size = range_of(c.l) ? 4 : 8;
		return c;
	}
	c.r = n->kid[1];
	c.op = n->op;
	c.sign = ki_node_is_signed(n);
	if (c.l->konst) {
		c.l = n->kid[1];
		c.r = n->kid[0];
		c.op = mirrored(c.op);
	}
	range = range_of(c.l) & range_of(c.r);
	if (range) {
		c.size = 4;
		c.sign &= range == IN_S32;
	}
	return c;
}

/* In 32 bits, a cast to 32 bits changes nothing. */
static const struct ki_node *stripped(const struct ki_node *n, unsigned int size)
{
	return size == 4 ? ki_node_bare(n, 4) : n;
}

static struct opnd operand(struct gen *g, const struct ki_node *n, unsigned int size)
{
	if (n->konst && size == 4)
		return (struct opnd){.kind = OPND_IMM, .imm = (int32_t)n->value};
	return ki_gen_operand(g, n);
}

static void load_operand(struct gen *g, struct opnd *o)
{
	unsigned int reg = ki_gen_alloc(g, 0);

	ki_asm_mov(&g->a, 8, reg, &o->m);
	*o = (struct opnd){.kind = OPND_REG, .own = true, .m = rm_reg(reg)};
}

static void emit(struct gen *g, const struct compare *c, const struct opnd *l, const struct opnd *r)
{
	if (r->kind == OPND_IMM && !r->imm && l->kind == OPND_REG)
		ki_asm_test(&g->a, c->size, l->m.reg, l->m.reg);
	else if (r->kind == OPND_IMM)
		ki_asm_alu_imm(&g->a, ALU_CMP, c->size, &l->m, r->imm, false);
	else if (r->kind == OPND_REG)
		ki_asm_alu_store(&g->a, ALU_CMP, c->size, &l->m, r->m.reg, false);
	else
		ki_asm_alu_load(&g->a, ALU_CMP, c->size, l->m.reg, &r->m);
}

/* Compare with a number of 32 bits what is in memory as such. */
static bool in_memory(struct gen *g, const struct ki_node *n, struct opnd *o)
{
	return !n->konst && ki_ops(n)->memory && ki_ops(n)->memory(g, n, o);
}

/* Returns a condition code. */
static unsigned int compare(struct gen *g, const struct ki_node *n)
{
	struct compare c = compare_of(n);
	const struct ki_node *l = stripped(c.l, c.size), *r = c.r ? stripped(c.r, c.size) : NULL;
	struct opnd lo, ro = {.kind = OPND_IMM};

	if (c.size == 4 && r && r->konst && in_memory(g, l, &lo)) {
		ro = operand(g, r, c.size);
	} else if (r && ki_gen_swaps(l, r)) {
		ro = operand(g, r, c.size);
		lo = operand(g, l, c.size);
	} else {
		lo = operand(g, l, c.size);
		if (r)
			ro = operand(g, r, c.size);
	}
	if (lo.kind == OPND_IMM || (lo.kind == OPND_MEM && ro.kind == OPND_MEM))
		load_operand(g, &lo);
	emit(g, &c, &lo, &ro);
	ki_gen_drop(g, &lo);
	ki_gen_drop(g, &ro);
	return condition(&c);
}

void ki_gen_cond(struct gen *g, const struct ki_node *n, bool sense, uint32_t label)
{
	struct ki_node is_zero = {.kind = n->kind, .nkids = 1};
	unsigned int cc;

	if (g->failed)
		return;
	if (n->konst) {
		if (!n->value == !sense)
			ki_asm_branch(&g->a, ASM_JMP, label);
		return;
	}
	if (ki_ops(n)->branch && ki_ops(n)->branch(g, n, sense, label))
		return;
	if (is_compare(n)) {
		cc = compare(g, n);
	} else {
		is_zero.kid[0] = (struct ki_node *)(uintptr_t)n;
		cc = compare(g, &is_zero) ^ 1;
	}
	ki_asm_branch(&g->a, sense ? cc : cc ^ 1, label);
}

void ki_gen_truth(struct gen *g, const struct ki_node *n, unsigned int dest)
{
	uint32_t no;

	if (is_compare(n)) {
		ki_asm_setcc(&g->a, compare(g, n), dest);
		return;
	}
	no = ki_asm_label(&g->a);
	ki_asm_const(&g->a, dest, 0);
	ki_gen_cond(g, n, false, no);
	ki_asm_const(&g->a, dest, 1);
	ki_asm_here(&g->a, no);
}
