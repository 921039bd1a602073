/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_CODE_FORM_H
#define KI_CODE_FORM_H

#include "code/function/function.h"

#define KI_NO_REG 0xff

/* Opcode and operands of those few instructions that jumps by tables are made of. */
struct ki_form {
	uint16_t opcode; /* 0x0f00 | second byte, for two-byte ones */
	uint8_t reg;	 /* of ModRM, extended */
	uint8_t rm;	 /* register, or KI_NO_REG: memory */
	uint8_t base, index, scale;
	bool rip;
	int64_t disp, imm;
};

/*
 * false: it is none of them. The operands are right for instructions with ModRM, moves of
 * constants into registers and a few of the accumulator; the opcode is right for others too.
 */
bool ki_form_parse(const struct ki_function *fn, const struct ki_insn *in, struct ki_form *f);

/*
 * depth.c: how many bytes the function has pushed when instruction i is reached. 0, -ENOENT: not
 * known, -ENOMEM.
 */
int ki_stack_depth(struct ki_analysis *a, uint32_t i, int32_t *depth);

/* What changes the stack last before instruction i, on any way to it, takes something off it. */
bool ki_stack_is_given_back(const struct ki_analysis *a, uint32_t i);

#endif
