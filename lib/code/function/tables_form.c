/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The form of an indirect jump, by the instructions in front of it: which table it reads, and how.
 * tables.c says what compilers write.
 */
#include "code/function/tables.h"

#define BACK_TO_LOAD 16	 /* instructions between a jump and its load */
#define BACK_TO_BASE 512 /* from the load to the lea */

/* Two registers whose sum is jumped to. */
struct sum {
	bool is;
	uint32_t at; /* number of the instruction that adds them */
	uint8_t reg[2];
};

bool ki_table_address(const struct ki_analysis *a, uint32_t i, uint8_t *reg, uint64_t *address)
{
	const struct ki_insn *in = &a->fn->insns[i];
	struct ki_form f;

	if (!ki_form_parse(a->fn, in, &f))
		return false;
	if (f.opcode == 0x8d && f.rip) {
		*reg = f.reg;
		*address = in->target;
		return true;
	}
	if (((f.opcode & ~7) != 0xb8 && (f.opcode != 0xc7 || f.reg)) || f.rm == KI_NO_REG || !f.imm)
		return false;
	*reg = f.rm;
	*address = f.opcode == 0xc7 || in->len > 6 ? (uint64_t)f.imm : (uint32_t)f.imm;
	return true;
}

/* The address that register `reg` holds at instruction i: the nearest lea or mov before it. */
static bool find_base(const struct ki_analysis *a, uint32_t i, uint8_t reg, uint64_t *base)
{
	for (uint32_t back = 1; back <= BACK_TO_BASE && back <= i; back++) {
		uint8_t made;

		if (ki_table_writes(a, i - back, reg))
			return ki_table_address(a, i - back, &made, base) && made == reg;
	}
	return false;
}

/* A table's address and index from the memory operand of instruction i. */
static bool by_operand(const struct ki_analysis *a, uint32_t i, const struct ki_form *f,
		       struct ki_jump_table *t)
{
	*t = (struct ki_jump_table){
		.load = i, .scale = f->scale, .index = f->index, .disp = (uint64_t)f->disp};
	if (f->index == KI_NO_REG)
		return false;
	t->by_register = f->base != KI_NO_REG;
	if (t->by_register && !find_base(a, i, f->base, &t->base))
		return false;
	t->base += t->disp;
	t->origin = t->base;
	return true;
}

/* Is the register between instructions i and `end` as it was? */
static bool is_kept(const struct ki_analysis *a, uint32_t i, uint32_t end, uint8_t reg)
{
	while (++i < end)
		if (ki_table_writes(a, i, reg))
			return false;
	return true;
}

/*
 * Somebody has calculated with what instruction f leaves in a register: that is no pointer to a
 * function, which is only loaded. (Pointers that are kept encrypted are rotated and xored.)
 */
static bool calculates(const struct ki_form *f)
{
	switch (f->opcode) {
	case 0x01:
	case 0x03:
	case 0x05:
	case 0x29:
	case 0x2b:
	case 0x2d:
	case 0x63:
	case 0x8d:
	case 0x98:
		return true;
	case 0x81:
	case 0x83:
		return f->reg == 0 || f->reg == 5;
	}
	return false;
}

/* A copy of a register: which one. */
static bool copies(const struct ki_form *f, uint8_t *reg)
{
	if (f->rm == KI_NO_REG || (f->opcode != 0x89 && f->opcode != 0x8b))
		return false;
	*reg = f->opcode == 0x89 ? f->reg : f->rm;
	return true;
}

/* The index that has been multiplied by 4 into register `reg`, at instruction i. */
static bool find_scaling(const struct ki_analysis *a, uint32_t i, uint8_t reg,
			 struct ki_jump_table *t)
{
	for (uint32_t back = 1; back <= BACK_TO_LOAD && back <= i; back++) {
		struct ki_form f;

		if (!ki_table_writes(a, i - back, reg))
			continue;
		if (!ki_form_parse(a->fn, &a->fn->insns[i - back], &f) || f.opcode != 0x8d ||
		    f.rip || f.base != KI_NO_REG || f.index == KI_NO_REG || f.scale != 4 || f.disp)
			return false;
		t->load = i - back;
		t->index = f.index;
		return true;
	}
	return false;
}

/* A load of 4 bytes from the sum of two registers: one is the table's address, the other 4 times
   the index. */
static bool by_sum(const struct ki_analysis *a, uint32_t i, const struct ki_form *f,
		   struct ki_jump_table *t)
{
	*t = (struct ki_jump_table){.scale = 4};
	if (f->base == KI_NO_REG || f->disp)
		return false;
	if ((find_base(a, i, f->base, &t->base) && find_scaling(a, i, f->index, t)) ||
	    (find_base(a, i, f->index, &t->base) && find_scaling(a, i, f->base, t))) {
		t->origin = t->base;
		return true;
	}
	return false;
}

/* Instruction i, f, adds two registers: an add to `reg`, or a lea of their sum. */
static bool adds(const struct ki_form *f, uint32_t i, uint8_t reg, struct sum *sum)
{
	if ((f->opcode == 0x01 || f->opcode == 0x03) && f->rm != KI_NO_REG) {
		*sum = (struct sum){true, i, {reg, f->reg == reg ? f->rm : f->reg}};
		return true;
	}
	if (f->opcode != 0x8d || f->rip || f->base == KI_NO_REG || f->index == KI_NO_REG ||
	    f->scale != 1 || f->disp)
		return false;
	*sum = (struct sum){true, i, {f->base, f->index}};
	return true;
}

/*
 * Instruction i, f, loads an offset of 4 bytes into one of the registers of the sum. The other one
 * says what it counts from: the table's address still, or another one. (A load without an index is
 * of the first entry.)
 */
static bool by_offset(const struct ki_analysis *a, uint32_t i, const struct ki_form *f,
		      const struct sum *sum, struct ki_jump_table *t)
{
	uint8_t from = sum->reg[f->reg == sum->reg[0]];
	bool known;

	if (f->rip) {
		*t = (struct ki_jump_table){.load = i, .scale = 4, .index = KI_NO_REG};
		t->base = a->fn->insns[i].target;
		t->count = 1;
		t->exact = true;
		return find_base(a, sum->at, from, &t->origin);
	}
	if (f->base == from && is_kept(a, i, sum->at, from))
		return by_operand(a, i, f, t);
	known = by_operand(a, i, f, t);
	t->apart = true;
	return known && find_base(a, sum->at, from, &t->origin);
}

/* The address of a place in the function. */
static bool is_label(const struct ki_analysis *a, uint32_t i, const struct ki_form *f)
{
	return f->opcode == 0x8d && f->rip && ki_function_holds(a->fn, a->fn->insns[i].target);
}

/* Instruction i, f, makes what is jumped to; or one of the registers of the sum. */
static enum ki_found by_load(const struct ki_analysis *a, uint32_t i, const struct ki_form *f,
			     const struct sum *sum, struct ki_jump_table *t)
{
	bool indexed = f->index != KI_NO_REG;

	if (!sum->is && f->opcode == 0x8b && indexed && f->scale == 8)
		return by_operand(a, i, f, t) ? KI_A_TABLE : KI_NOT_A_TABLE;
	if (sum->is && f->opcode == 0x63 && (f->rip || (indexed && f->scale == 4)))
		return by_offset(a, i, f, sum, t) ? KI_A_TABLE : KI_UNKNOWN_TABLE;
	if (sum->is && f->opcode == 0x8b && indexed && f->scale == 1)
		return by_sum(a, i, f, t) ? KI_A_TABLE : KI_UNKNOWN_TABLE;
	t->by_register = !sum->is && is_label(a, i, f);
	return sum->is || calculates(f) ? KI_UNKNOWN_TABLE : KI_NOT_A_TABLE;
}

/* The load of what instruction i jumps to by register `reg`. */
static enum ki_found find_load(const struct ki_analysis *a, uint32_t i, uint8_t reg,
			       struct ki_jump_table *t)
{
	const struct ki_function *fn = a->fn;
	struct sum sum = {.reg = {reg, KI_NO_REG}};

	for (uint32_t back = 1; back <= BACK_TO_LOAD && back <= i; back++) {
		uint32_t at = i - back;
		struct ki_form f;

		if (ki_table_leaves(&fn->insns[at]))
			break;
		if (!ki_table_writes(a, at, sum.reg[0]) &&
		    (!sum.is || !ki_table_writes(a, at, sum.reg[1])))
			continue;
		if (!ki_form_parse(fn, &fn->insns[at], &f))
			return sum.is ? KI_UNKNOWN_TABLE : KI_NOT_A_TABLE;
		if (!sum.is && (copies(&f, &sum.reg[0]) || adds(&f, at, sum.reg[0], &sum))) {
			if (sum.is && ki_table_pieces(a, at, sum.reg, t))
				return KI_A_TABLE;
			continue;
		}
		if (!sum.is || (f.opcode != 0x8d && f.opcode != 0x98))
			return by_load(a, at, &f, &sum, t);
		/* The lea of the base; or the offset becomes 8 bytes. */
	}
	t->by_register =
		!sum.is; /* as if it were a label: it comes from elsewhere in the function */
	return sum.is ? KI_UNKNOWN_TABLE : KI_NOT_A_TABLE;
}

enum ki_found ki_table_form(const struct ki_analysis *a, uint32_t i, struct ki_jump_table *t)
{
	const struct ki_insn *in = &a->fn->insns[i];
	struct ki_form f;

	if (in->target && ki_facts_thunk(a->facts, in->target) == KI_THUNK_INDIRECT) {
		uint8_t reg = ki_facts_thunk_register(a->facts, in->target);

		return reg == KI_THUNK_NO_REG ? KI_NOT_A_TABLE : find_load(a, i, reg, t);
	}
	if (!ki_form_parse(a->fn, in, &f) || f.opcode != 0xff)
		return KI_NOT_A_TABLE;
	if (f.rm != KI_NO_REG)
		return find_load(a, i, f.rm, t);
	if (f.index == KI_NO_REG || f.scale != 8)
		return KI_NOT_A_TABLE;
	return by_operand(a, i, &f, t) ? KI_A_TABLE : KI_UNKNOWN_TABLE;
}
