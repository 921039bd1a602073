// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Conditions: comparisons go into branches without becoming numbers.
 */
#include "snippet/gen.h"

/* Values of a node lie in what 32 bits hold, signed or unsigned. */
#define IN_S32 1
#define IN_U32 2

static unsigned int range_of(const struct ki_node *n)
{
	uint64_t v;

	while (!n->konst && n->kind == NODE_CAST && ki_types[n->type].size == 8)
		n = n->kid[0]; /* which has it as 64 bits already */
	v = n->value;
	if (n->konst)
		return (ki_fits_s32(v) ? IN_S32 : 0) | (v <= UINT32_MAX ? IN_U32 : 0);
	if ((n->kind == NODE_BINARY && n->op >= KI_EQ) ||
	    (n->kind == NODE_UNARY && n->op == KI_LNOT))
		return IN_S32 | IN_U32;
	return (ki_type_covers(KI_I32, n->type) ? IN_S32 : 0) |
	       (ki_type_covers(KI_U32, n->type) ? IN_U32 : 0);
}

bool ki_gen_is_compare(const struct ki_node *n)
{
	return (n->kind == NODE_UNARY && n->op == KI_LNOT) ||
	       (n->kind == NODE_BINARY && n->op >= KI_EQ && n->op <= KI_GE);
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

	if (n->kind == NODE_UNARY) {
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
	while (size == 4 && !n->konst && n->kind == NODE_CAST && ki_types[n->type].size >= 4)
		n = n->kid[0];
	return n;
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

unsigned int ki_gen_compare(struct gen *g, const struct ki_node *n)
{
	struct compare c = compare_of(n);
	const struct ki_node *l = stripped(c.l, c.size), *r = c.r ? stripped(c.r, c.size) : NULL;
	struct opnd lo, ro = {.kind = OPND_IMM};

	if (c.size == 4 && r && r->konst && ki_gen_task_number(g, l, &lo)) {
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

static void both(struct gen *g, const struct ki_node *n, bool sense, uint32_t label)
{
	bool is_and = n->op == KI_LAND;
	uint32_t other;

	/* a false one decides `&&`, a true one `||` */
	if (sense != is_and) {
		ki_gen_cond(g, n->kid[0], sense, label);
		ki_gen_cond(g, n->kid[1], sense, label);
		return;
	}
	other = ki_asm_label(&g->a);
	ki_gen_cond(g, n->kid[0], !sense, other);
	ki_gen_cond(g, n->kid[1], sense, label);
	ki_asm_here(&g->a, other);
}

void ki_gen_cond(struct gen *g, const struct ki_node *n, bool sense, uint32_t label)
{
	struct ki_node zero = {.kind = NODE_UNARY, .op = KI_LNOT, .kid = {NULL}};
	unsigned int cc;

	if (g->failed)
		return;
	if (n->konst) {
		if (!n->value == !sense)
			ki_asm_branch(&g->a, ASM_JMP, label);
	} else if (n->kind == NODE_BINARY && n->op >= KI_LAND) {
		both(g, n, sense, label);
	} else if (n->kind == NODE_UNARY && n->op == KI_LNOT) {
		ki_gen_cond(g, n->kid[0], !sense, label);
	} else if (ki_gen_is_compare(n)) {
		cc = ki_gen_compare(g, n);
		ki_asm_branch(&g->a, sense ? cc : cc ^ 1, label);
	} else {
		zero.kid[0] = (struct ki_node *)(uintptr_t)n;
		cc = ki_gen_compare(g, &zero);
		ki_asm_branch(&g->a, sense ? cc ^ 1 : cc, label);
	}
}
