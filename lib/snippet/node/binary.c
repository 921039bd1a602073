// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Operators with two operands.
 */
#include <errno.h>

#include "snippet/node.h"

/* How an operator is written, and how strongly it binds, as in C. */
static const struct {
	const char *text;
	uint8_t binds;
} binaries[KI_BINARIES] = {
	[KI_ADD] = {"+", 10},  [KI_SUB] = {"-", 10}, [KI_MUL] = {"*", 11}, [KI_DIV] = {"/", 11},
	[KI_MOD] = {"%", 11},  [KI_AND] = {"&", 6},  [KI_OR] = {"|", 4},   [KI_XOR] = {"^", 5},
	[KI_SHL] = {"<<", 9},  [KI_SHR] = {">>", 9}, [KI_EQ] = {"==", 7},  [KI_NE] = {"!=", 7},
	[KI_LT] = {"<", 8},    [KI_LE] = {"<=", 8},  [KI_GT] = {">", 8},   [KI_GE] = {">=", 8},
	[KI_LAND] = {"&&", 3}, [KI_LOR] = {"||", 2},
};

struct ki_node *ki_expr_binary(struct ki_snippet *s, enum ki_binary op, struct ki_node *l,
			       struct ki_node *r)
{
	struct ki_node *n = ki_tree_node(s, NODE_BINARY);

	if (!n)
		return NULL;
	if ((unsigned int)op >= KI_BINARIES)
		return ki_tree_fail(s, -EINVAL, "no such operator: %u", op);
	n->op = op;
	if (!ki_tree_adopt(n, 0, l, false) || !ki_tree_adopt(n, 1, r, false))
		return NULL;
	n->type = op >= KI_EQ ? KI_I64 : ki_type_common(l->type, r->type);
	if (l->konst && r->konst)
		ki_node_set_konst(n, ki_arith_binary(op, ki_node_is_signed(n), l->value, r->value));
	return n;
}

static struct ki_node *again(struct ki_snippet *s, const struct ki_node *n)
{
	struct ki_node *l = ki_node_again(s, n->kid[0]);

	return ki_expr_binary(s, n->op, l, ki_node_again(s, n->kid[1]));
}

bool ki_node_is_and(const struct ki_node *n)
{
	return n->kind == NODE_BINARY && n->op == KI_LAND;
}

static bool is_division(const struct ki_node *n)
{
	return n->op == KI_DIV || n->op == KI_MOD;
}

static const char *foreign(const struct ki_node *n)
{
	const struct ki_node *r = n->kid[1];
	const bool power = r->konst && r->value && !(r->value & (r->value - 1));

	if (!is_division(n) || n->konst ||
	    (power && !ki_node_is_signed(n) && r->value <= INT32_MAX))
		return NULL;
	return "a division, but of unsigned numbers by powers of two";
}

static uint16_t fixed(const struct ki_node *n)
{
	if (is_division(n))
		return ki_gen_fixed_args(2);
	return (n->op == KI_SHL || n->op == KI_SHR) && !n->kid[1]->konst ? REG_BIT(KI_RCX) : 0;
}

static bool in_rax(const struct ki_node *n)
{
	return is_division(n) || (!n->konst && ki_gen_comes_in_rax(n->kid[0]));
}

static bool wordless(const struct ki_node *n, uint64_t *value)
{
	const struct ki_node *l = n->kid[0], *r = n->kid[1];

	if (!l->konst)
		return false;
	if ((n->op == KI_LAND && !l->value) || (n->op == KI_LOR && l->value)) {
		*value = n->op == KI_LOR;
		return true;
	}
	*value = ki_arith_binary(n->op, ki_node_is_signed(n), l->value, r->value);
	return r->konst;
}

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

static void value(struct gen *g, const struct ki_node *n, unsigned int dest)
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
			ki_gen_truth(g, n, dest);
		else
			alu(g, alus[n->op], n->kid[0], n->kid[1], dest);
	}
}

static bool is_truth(const struct ki_node *n)
{
	return n->op >= KI_EQ;
}

static bool is_compare(const struct ki_node *n)
{
	return n->op >= KI_EQ && n->op <= KI_GE;
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

static bool branch(struct gen *g, const struct ki_node *n, bool sense, uint32_t label)
{
	if (n->op < KI_LAND)
		return false;
	both(g, n, sense, label);
	return true;
}

static const struct ki_node *asked_first(const struct ki_node *n)
{
	return n->op >= KI_LAND ? n->kid[0] : NULL;
}

static uint64_t run(const struct run *r, const struct ki_node *n)
{
	uint64_t l = ki_run_node(r, n->kid[0]);

	if (n->op == KI_LAND && !l)
		return 0;
	if (n->op == KI_LOR && l)
		return 1;
	return ki_arith_binary(n->op, ki_node_is_signed(n), l, ki_run_node(r, n->kid[1]));
}

static void write(FILE *f, const struct ki_node *n, unsigned int outside)
{
	unsigned int binds = binaries[n->op].binds;

	if (binds <= outside)
		fputc('(', f);
	ki_format_expr(f, n->kid[0], binds - 1);
	fprintf(f, " %s ", binaries[n->op].text);
	ki_format_expr(f, n->kid[1], binds);
	if (binds <= outside)
		fputc(')', f);
}

const struct ki_node_ops ki_node_binary = {
	.again = again,
	.facts = ki_node_kids_facts,
	.foreign_of = foreign,
	.fixed = fixed,
	.in_rax = in_rax,
	.wordless = wordless,
	.value = value,
	.is_truth = is_truth,
	.is_compare = is_compare,
	.branch = branch,
	.asked_first = asked_first,
	.run = run,
	.write = write,
};
