/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where an argument of a probe that is written into a program is, as the assembler that made the
 * program says: "-4@%eax", "8@$5", "8@-16(%rbp)", "4@8(%rax,%rdx,4)".
 */
#ifndef KI_DLANG_OPERAND_H
#define KI_DLANG_OPERAND_H

#include <stdbool.h>
#include <stdint.h>

enum ki_d_operand_kind {
	KI_D_NO_OPERAND, /* there is none, or it is not known where it is */
	KI_D_REGISTER,	 /* base */
	KI_D_IMMEDIATE,	 /* disp */
	KI_D_IN_MEMORY,	 /* at base + index * scale + disp */
};

struct ki_d_operand {
	uint8_t kind;
	uint8_t size; /* bytes: 1, 2, 4, 8 */
	bool is_signed;
	int8_t base, index; /* rax rcx rdx rbx rsp rbp rsi rdi r8 ... r15; -1: none */
	uint8_t shift;	    /* of the register: 8 of %ah and its like */
	uint8_t scale;
	int64_t disp;
};

/* At most `most` operands of a text, which are separated by blanks; those behind it are none. */
void ki_d_operands(const char *text, struct ki_d_operand *out, unsigned int most);

#endif
