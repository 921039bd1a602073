/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Jumps without a table, to one of several pieces of code of equal length, as memcpy by SSSE3 has
 * them: a piece for each distance of two addresses from a multiple of 16.
 *
 *	and $15, I				the bound is always a mask
 *	...
 *	shl $6, I				the length of a piece
 *	lea pieces(%rip), B
 *	add B, I
 *	jmp *I
 *
 *	shl $5, I; lea (I,I,2), J		the same of 96 bytes
 *	lea pieces(%rip), B; add J, B; jmp *B
 *
 * It is followed backwards on the only way there is: by instructions to which nothing jumps, and
 * from one to which a single jump leads, and before which control goes elsewhere, to that jump.
 */
#include "code/function/tables.h"

#define MOST_BACK   40
#define MOST_PIECES 256
#define MOST_LENGTH 4096

/* What has been found so far, from the end on: label + index * length. */
struct pieces {
	uint8_t index, label; /* registers; KI_NO_REG: it has been found */
	uint64_t start, length, count;
};

static bool is_nop(const struct ki_analysis *a, uint32_t i)
{
	struct ki_form f;

	ki_form_parse(a->fn, &a->fn->insns[i], &f);
	return f.opcode == 0x90 || f.opcode == 0x0f1f;
}

/* Control does not come to instruction i from what stands before it. */
static bool is_apart(const struct ki_analysis *a, uint32_t i)
{
	while (i && is_nop(a, i - 1))
		i--;
	return i && ki_table_leaves(&a->fn->insns[i - 1]) &&
	       a->fn->insns[i - 1].kind != KI_INSN_CALL &&
	       a->fn->insns[i - 1].kind != KI_INSN_CALL_INDIRECT;
}

/* Where control comes from to instruction i: *from. false: not from one place only. */
static bool comes_from(const struct ki_analysis *a, uint32_t i, uint32_t *from)
{
	uint32_t jumps = 0;

	for (uint32_t k = 0; k < a->fn->ninsns; k++) {
		const struct ki_insn *in = &a->fn->insns[k];

		if (in->target != a->fn->insns[i].addr ||
		    (in->kind != KI_INSN_JMP && in->kind != KI_INSN_JCC &&
		     in->kind != KI_INSN_LOOP))
			continue;
		*from = k;
		jumps++;
	}
	if (jumps)
		return jumps == 1 && is_apart(a, i);
	if (!i || ki_table_leaves(&a->fn->insns[i - 1]))
		return false;
	*from = i - 1;
	return true;
}

/* An operand of 16 bits leaves the register's upper part. */
static bool is_short(const struct ki_analysis *a, const struct ki_insn *in)
{
	return a->fn->bytes[in->addr - a->fn->start] == 0x66;
}

/* Instruction i writes the index: what does it make of it? false: nothing that is known. */
static bool note_index(const struct ki_analysis *a, uint32_t i, struct pieces *p)
{
	const struct ki_insn *in = &a->fn->insns[i];
	struct ki_form f;

	if (in->kind != KI_INSN_PLAIN || is_short(a, in) || !ki_form_parse(a->fn, in, &f))
		return false;
	if (f.opcode == 0xc1 && f.reg == 4 && f.rm == p->index && f.imm > 0 && f.imm < 12) {
		p->length <<= f.imm;
	} else if (f.opcode == 0x8d && f.reg == p->index && f.base == f.index &&
		   f.base != KI_NO_REG && !f.disp) {
		p->length *= f.scale + 1u;
		p->index = f.base;
	} else if ((f.opcode == 0x83 || f.opcode == 0x81) && f.reg == 4 && f.rm == p->index &&
		   f.imm > 0 && f.imm < MOST_PIECES) {
		p->count = (uint64_t)f.imm + 1;
		p->index = KI_NO_REG;
	} else {
		return false;
	}
	return p->length <= MOST_LENGTH;
}

static bool note_label(const struct ki_analysis *a, uint32_t i, struct pieces *p)
{
	uint8_t made;

	if (!ki_table_address(a, i, &made, &p->start) || made != p->label ||
	    !ki_function_holds(a->fn, p->start))
		return false;
	p->label = KI_NO_REG;
	return true;
}

static bool follow(const struct ki_analysis *a, uint32_t i, struct pieces *p)
{
	for (uint32_t back = 0; back < MOST_BACK; back++) {
		if (!comes_from(a, i, &i))
			return false;
		if (p->label != KI_NO_REG && ki_table_writes(a, i, p->label)) {
			if (!note_label(a, i, p))
				return false;
		} else if (p->index != KI_NO_REG && ki_table_writes(a, i, p->index)) {
			if (!note_index(a, i, p))
				return false;
		}
		if (p->label == KI_NO_REG && p->index == KI_NO_REG)
			return p->length > 1;
	}
	return false;
}

bool ki_table_pieces(const struct ki_analysis *a, uint32_t sum, const uint8_t reg[2],
		     struct ki_jump_table *t)
{
	for (unsigned int label = 0; label < 2; label++) {
		struct pieces p = {.index = reg[!label], .label = reg[label], .length = 1};

		if (reg[0] == reg[1] || !follow(a, sum, &p))
			continue;
		*t = (struct ki_jump_table){.load = sum,
					    .index = KI_NO_REG,
					    .exact = true,
					    .base = p.start,
					    .origin = p.start,
					    .length = p.length,
					    .count = p.count};
		return true;
	}
	return false;
}
