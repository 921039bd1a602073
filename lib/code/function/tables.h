/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A jump table while it is looked for (tables.c). */
#ifndef KI_CODE_TABLES_H
#define KI_CODE_TABLES_H

#include "code/function/form.h"

struct ki_jump_table {
	uint32_t load;	  /* number of the instruction that reads it, or jumps by it, or scales its
			  index */
	uint8_t scale;	  /* 4: offsets from origin; 8: addresses; 0: no table, a label */
	uint8_t index;	  /* register */
	bool exact;	  /* the count is from a comparison or a mask, not a byte's size */
	bool by_register; /* its address is a register's value and disp */
	bool apart;	  /* origin is a place in the function, not base */
	uint64_t base, origin, disp;
	uint64_t length; /* of a piece of code; there is no table. 0: there is one */
	uint64_t count;	 /* 0: not known */
};

/* An indirect jump that may be by a table of this form; base and origin are not known. */
struct ki_unknown_jump {
	uint32_t insn;
	bool sure; /* it is by one; else it may be a call through an array of functions */
	struct ki_jump_table table;
};

enum ki_found { KI_NOT_A_TABLE, KI_A_TABLE, KI_UNKNOWN_TABLE };

/*
 * tables_form.c: is indirect jump i by a table? *t: its form, all zero at first; with by_register
 * also if it is not known, or not even sure to be one.
 */
enum ki_found ki_table_form(const struct ki_analysis *a, uint32_t i, struct ki_jump_table *t);

/* Does instruction i put a constant address into a register? */
bool ki_table_address(const struct ki_analysis *a, uint32_t i, uint8_t *reg, uint64_t *address);

/*
 * Add a way by entry n of the table, wherever in the text it leads, but not into the middle of one
 * of the function's instructions. 0; -ENOENT: it does not lead to code; -ENOMEM.
 */
int ki_table_add_way(struct ki_analysis *a, uint32_t jump, const struct ki_jump_table *t,
		     uint64_t n);

/* Of the ways of one jump, from number `first` on, keep each place once, in order. */
void ki_table_finish_ways(struct ki_analysis *a, size_t first);

/* Have more entries been read than a real function's tables have? Then none is believed. */
bool ki_table_exhausted(const struct ki_analysis *a);

/*
 * tables_candidates.c: add ways of jumps by tables of all constant addresses in the function.
 * *found: all that are sure have some, and all code is reached; else none are added. Orders the
 * jumps. 0, or -ENOMEM.
 */
int ki_table_candidates(struct ki_analysis *a, struct ki_unknown_jump *jumps, size_t n,
			bool *found);

/*
 * tables_steps.c: instruction `sum` adds the two registers, and their sum is jumped to. Is it the
 * place of a piece of code, of several of equal length?
 */
bool ki_table_pieces(const struct ki_analysis *a, uint32_t sum, const uint8_t reg[2],
		     struct ki_jump_table *t);

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
