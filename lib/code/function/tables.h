/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A jump table while it is looked for (tables.c). */
#ifndef KI_CODE_TABLES_H
#define KI_CODE_TABLES_H

#include "code/function/form.h"

struct ki_jump_table {
	uint32_t load; /* number of the instruction that reads it, or jumps by it, or scales its
			  index */
	uint8_t scale; /* 4: offsets from base; 8: addresses */
	uint8_t index; /* register */
	uint64_t base;
	uint64_t count; /* 0: not known */
	bool exact;	/* the count is from a comparison or a mask, not a byte's size */
};

/* tables_bound.c: fill in count and exact. */
void ki_table_bound(const struct ki_analysis *a, struct ki_jump_table *t);

static inline bool ki_table_writes(const struct ki_analysis *a, uint32_t i, uint8_t reg)
{
	return a->extra[i].def & KI_REGSET_REG(reg);
}

/* Does control not come from here to the next instruction, or only by way of other code? */
static inline bool ki_table_leaves(const struct ki_insn *in)
{
	switch (in->kind) {
	case KI_INSN_JMP:
	case KI_INSN_JMP_INDIRECT:
	case KI_INSN_CALL:
	case KI_INSN_CALL_INDIRECT:
	case KI_INSN_RET:
	case KI_INSN_BAD:
		return true;
	}
	return false;
}

#endif
