/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * How many entries a jump table has: a comparison of the index, a mask, or a byte's size tells.
 */
#include <string.h>

#include "code/function/tables.h"

#define BACK_TO_BOUND	24 /* from the load to the comparison */
#define BACK_TO_COMPARE 8  /* from a conditional jump */

/* The jump by the flags that instruction i sets, or NULL. */
static const struct ki_insn *jump_behind(const struct ki_analysis *a, uint32_t i)
{
	uint32_t end = i + BACK_TO_COMPARE < a->fn->ninsns ? i + BACK_TO_COMPARE : a->fn->ninsns;

	while (++i < end) {
		if (a->fn->insns[i].kind == KI_INSN_JCC)
			return &a->fn->insns[i];
		if (a->fn->insns[i].kind != KI_INSN_PLAIN || a->extra[i].def & KI_REGSET_FLAGS)
			break;
	}
	return NULL;
}

/* ja, jae after instruction i: how many values pass a comparison with imm. */
static uint64_t passing(const struct ki_analysis *a, uint32_t i, int64_t imm)
{
	const struct ki_insn *in = jump_behind(a, i);
	const uint8_t *p;

	if (!in || imm < 0)
		return 0;
	p = a->fn->bytes + (in->addr - a->fn->start);
	if (in->len == 2 && (*p == 0x77 || *p == 0x73))
		return (uint64_t)imm + (*p == 0x77);
	if (in->len == 6 && *p == 0x0f && (p[1] == 0x87 || p[1] == 0x83))
		return (uint64_t)imm + (p[1] == 0x87);
	return 0;
}

/* Where the index is while it is followed back: in a register, or in memory. */
struct place {
	uint8_t reg;
	bool memory;
	struct ki_form form; /* of an instruction with that operand */
};

static bool is_place(const struct place *x, const struct ki_form *f)
{
	if (!x->memory)
		return f->rm == x->reg;
	return f->rm == KI_NO_REG && f->base == x->form.base && f->index == x->form.index &&
	       f->scale == x->form.scale && f->disp == x->form.disp && f->rip == x->form.rip;
}

/* How many values pass the comparison or mask f of place x, at instruction `at`; 0: not known. */
static uint64_t bound_at(const struct ki_analysis *a, uint32_t at, const struct place *x,
			 const struct ki_form *f)
{
	static const uint8_t opcodes[] = {0x80, 0x81, 0x83, 0x3c, 0x3d};
	bool byte = f->opcode == 0x80 || f->opcode == 0x3c;

	if (f->opcode > 0xff || !memchr(opcodes, f->opcode, sizeof(opcodes)) || !is_place(x, f))
		return 0;
	if (f->reg == 7 && !f->rip)
		return passing(a, at, byte ? (uint8_t)f->imm : f->imm);
	return f->reg == 4 && !x->memory && f->imm >= 0 ? (uint64_t)f->imm + 1 : 0;
}

/* Instruction f writes the index: where was it before? */
static bool came_from(struct place *x, const struct ki_form *f)
{
	switch (f->opcode) {
	case 0x0fb6:
	case 0x0fb7:
	case 0x63:
	case 0x8b:
		if (f->reg != x->reg)
			return false;
		*x = (struct place){f->rm, f->rm == KI_NO_REG, *f};
		return true;
	case 0x89:
		x->reg = f->reg;
		return true;
	}
	return false;
}

static bool is_written(const struct ki_analysis *a, uint32_t i, const struct place *x)
{
	if (!x->memory)
		return ki_table_writes(a, i, x->reg);
	return (x->form.base != KI_NO_REG && ki_table_writes(a, i, x->form.base)) ||
	       (x->form.index != KI_NO_REG && ki_table_writes(a, i, x->form.index));
}

void ki_table_bound(const struct ki_analysis *a, struct ki_jump_table *t)
{
	const struct ki_function *fn = a->fn;
	struct place x = {.reg = t->index};

	for (uint32_t back = 1; back <= BACK_TO_BOUND && back <= t->load; back++) {
		uint32_t at = t->load - back;
		struct ki_form f;
		bool known;
		uint64_t n;

		if (ki_table_leaves(&fn->insns[at]))
			return;
		known = fn->insns[at].kind == KI_INSN_PLAIN &&
			ki_form_parse(fn, &fn->insns[at], &f);
		n = known ? bound_at(a, at, &x, &f) : 0;
		if (n) {
			t->count = n;
			t->exact = true;
			return;
		}
		if (!is_written(a, at, &x))
			continue;
		if (!known || x.memory || !came_from(&x, &f))
			return;
		if (f.opcode == 0x0fb6)
			t->count = 256;
	}
}
