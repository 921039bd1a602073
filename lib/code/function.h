/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The analysis of one function, as it goes from step to step: instructions (function.c),
 * blocks (blocks.c), liveness of the flags (flags.c).
 */
#ifndef KI_CODE_FUNCTION_H
#define KI_CODE_FUNCTION_H

#include "code/decode.h"
#include "code/facts.h"

/* What is known of an instruction beside struct ki_insn. */
struct ki_extra {
	uint8_t read, written; /* KI_FLAG_* */
	uint8_t traits;	       /* KI_TRAIT_* */
	bool leader;	       /* something jumps here */
};

struct ki_analysis {
	struct ki_function *fn;
	struct ki_extra *extra; /* one for each of fn->insns */
	const struct ki_facts *facts;
	const struct ki_reserved_row *rows; /* those of the function, and maybe others */
	size_t nrows;
};

/* Refuse for one reason more: the one that stands first in the table is kept. */
void ki_refuse(uint16_t *reason, unsigned int why);

/* Number of the instruction that covers addr, which lies in the function. */
uint32_t ki_function_covering(const struct ki_function *fn, uint64_t addr);

static inline bool ki_function_holds(const struct ki_function *fn, uint64_t addr)
{
	return addr >= fn->start && addr < fn->end;
}

static inline bool ki_row_touches(const struct ki_reserved_row *row, uint64_t start, uint64_t end)
{
	return row->addr < end && (row->addr >= start || start - row->addr < row->len);
}

/* Something jumps to addr, which lies in the function. */
void ki_analysis_leader(struct ki_analysis *a, uint64_t addr);

/* Find the leaders that the function's own instructions and rows tell. */
void ki_blocks_leaders(struct ki_analysis *a);

/* Make the blocks; sets padding, and what of the function's reason the blocks tell. */
int ki_blocks_build(struct ki_analysis *a);

/* Set KI_INSN_FLAGS_LIVE. */
int ki_flags_live(struct ki_analysis *a);

#endif
