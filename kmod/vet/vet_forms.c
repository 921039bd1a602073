// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of the instructions that may run in a long chunk: whatever is not here may not.
 *
 * A row says all that there is of an instruction's encoding: which opcodes, what its ModRM may be,
 * of which sizes its operands, how long its number, whether it may have a lock prefix. What
 * encoding it is follows from the table too. After prefixes for %gs, lock and operand size, each
 * once, and a REX comes the opcode. No row's opcode begins another encoding: not VEX (c4, c5),
 * EVEX (62), XOP (8f), REX2 (d5). Nor is it a prefix, a ud2 followed by a hypervisor's name, or
 * one of the opcodes after 0f 38, 0f 3a and 0f 0f.
 *
 * Who adds a row asks: does it write memory or a register that the row does not tell of? may it
 * trap, sleep, change %rsp, flags of the system, segments? is there a ModRM, a prefix with which it
 * is another instruction? test/fuzz/vetting.c compares with another description of the same.
 */
#include <linux/kernel.h>

#include "vet/form.h"

#define ANY  (2 | 4 | 8)
#define WIDE (4 | 8)

#define REG   KI_FORM_REG
#define RM    KI_FORM_RM
#define ADDR  KI_FORM_ADDR
#define LOCK  KI_FORM_LOCK
#define OP    KI_FORM_OP
#define W_REG KI_FORM_W_REG
#define W_RM  KI_FORM_W_RM
#define W_OP  (KI_FORM_OP | KI_FORM_W_OP)
#define W_AX  KI_FORM_W_AX
#define W_DX  KI_FORM_W_DX

/* Of each: from register to the other operand, back, of %al or %rax with a number. */
#define ARITHMETIC(op, back)                                                                       \
	{(op), (op), 0, KI_IS_PLAIN, 1, 0, RM | W_RM | LOCK},                                      \
		{(op) + 1, (op) + 1, 0, KI_IS_PLAIN, ANY, 0, RM | W_RM | LOCK},                    \
		{(op) + 2, (op) + 2, 0, back, 1, 0, RM | W_REG},                                   \
		{(op) + 3, (op) + 3, 0, back, ANY, 0, RM | W_REG},                                 \
		{(op) + 4, (op) + 4, 0, KI_IS_PLAIN, 1, KI_IMM_8, W_AX},                           \
	{                                                                                          \
		(op) + 5, (op) + 5, 0, KI_IS_PLAIN, ANY, KI_IMM_Z, W_AX                            \
	}

#define NOT_ADC_SBB_CMP (0xff & ~0x8c)

static const struct ki_form ki_one_byte[] = {
	ARITHMETIC(0x00, KI_IS_PLAIN),		/* add */
	ARITHMETIC(0x08, KI_IS_PLAIN),		/* or */
	ARITHMETIC(0x20, KI_IS_PLAIN),		/* and */
	ARITHMETIC(0x28, KI_IS_SUB),		/* sub */
	ARITHMETIC(0x30, KI_IS_PLAIN),		/* xor */
	{0x38, 0x38, 0, KI_IS_PLAIN, 1, 0, RM}, /* cmp */
	{0x39, 0x39, 0, KI_IS_PLAIN, ANY, 0, RM},
	{0x3a, 0x3a, 0, KI_IS_CMP, 1, 0, RM},
	{0x3b, 0x3b, 0, KI_IS_CMP, ANY, 0, RM},
	{0x3c, 0x3c, 0, KI_IS_PLAIN, 1, KI_IMM_8, 0},
	{0x3d, 0x3d, 0, KI_IS_PLAIN, ANY, KI_IMM_Z, 0},
	{0x50, 0x57, 0, KI_IS_PUSH, 0, 0, OP},
	{0x58, 0x5f, 0, KI_IS_POP, 0, 0, W_OP},
	{0x63, 0x63, 0, KI_IS_PLAIN, 8, 0, RM | W_REG, 4},	 /* movsxd */
	{0x69, 0x69, 0, KI_IS_PLAIN, ANY, KI_IMM_Z, RM | W_REG}, /* imul */
	{0x6b, 0x6b, 0, KI_IS_PLAIN, ANY, KI_IMM_8, RM | W_REG},
	{0x70, 0x7f, 0, KI_IS_JCC, 0, KI_IMM_8, 0},
	{0x80, 0x80, NOT_ADC_SBB_CMP, KI_IS_PLAIN, 1, KI_IMM_8, RM | W_RM | LOCK},
	{0x80, 0x80, 0x80, KI_IS_CMP_IMM, 1, KI_IMM_8, RM},
	{0x81, 0x81, NOT_ADC_SBB_CMP, KI_IS_PLAIN, ANY, KI_IMM_Z, RM | W_RM | LOCK},
	{0x81, 0x81, 0x80, KI_IS_CMP_IMM, ANY, KI_IMM_Z, RM},
	{0x83, 0x83, NOT_ADC_SBB_CMP, KI_IS_PLAIN, ANY, KI_IMM_8, RM | W_RM | LOCK},
	{0x83, 0x83, 0x80, KI_IS_CMP_IMM8, ANY, KI_IMM_8, RM},
	{0x84, 0x84, 0, KI_IS_TEST, 1, 0, RM},
	{0x85, 0x85, 0, KI_IS_TEST, ANY, 0, RM},
	{0x88, 0x88, 0, KI_IS_PLAIN, 1, 0, RM | W_RM}, /* mov */
	{0x89, 0x89, 0, KI_IS_PLAIN, ANY, 0, RM | W_RM},
	{0x8a, 0x8a, 0, KI_IS_LOAD, 1, 0, RM | W_REG},
	{0x8b, 0x8b, 0, KI_IS_LOAD, ANY, 0, RM | W_REG},
	{0x8d, 0x8d, 0, KI_IS_ADDRESS, WIDE, 0, ADDR | W_REG},
	{0x90, 0x90, 0, KI_IS_NOP, 2 | 4, 0, 0},
	{0x98, 0x98, 0, KI_IS_PLAIN, ANY, 0, W_AX},   /* cbw, cwde, cdqe */
	{0x9e, 0x9e, 0, KI_IS_PLAIN, 0, 0, 0},	      /* sahf */
	{0x9f, 0x9f, 0, KI_IS_PLAIN, 0, 0, W_AX},     /* lahf */
	{0xa8, 0xa8, 0, KI_IS_PLAIN, 1, KI_IMM_8, 0}, /* test */
	{0xa9, 0xa9, 0, KI_IS_PLAIN, ANY, KI_IMM_Z, 0},
	{0xb0, 0xb7, 0, KI_IS_PLAIN, 1, KI_IMM_8, W_OP}, /* mov */
	{0xb8, 0xbf, 0, KI_IS_CONSTANT, WIDE, KI_IMM_V, W_OP},
	{0xc0, 0xc0, 0xb0, KI_IS_PLAIN, 1, KI_IMM_8, REG | W_RM}, /* shl, shr, sar */
	{0xc1, 0xc1, 0xb0, KI_IS_PLAIN, ANY, KI_IMM_8, REG | W_RM},
	{0xc6, 0xc6, 0x01, KI_IS_PLAIN, 1, KI_IMM_8, RM | W_RM}, /* mov */
	{0xc7, 0xc7, 0x01, KI_IS_PLAIN, ANY, KI_IMM_Z, RM | W_RM},
	{0xd0, 0xd0, 0xb0, KI_IS_PLAIN, 1, 0, REG | W_RM}, /* shl, shr, sar by 1 */
	{0xd1, 0xd1, 0xb0, KI_IS_PLAIN, ANY, 0, REG | W_RM},
	{0xd2, 0xd2, 0xb0, KI_IS_PLAIN, 1, 0, REG | W_RM}, /* by %cl */
	{0xd3, 0xd3, 0xb0, KI_IS_PLAIN, ANY, 0, REG | W_RM},
	{0xe8, 0xe8, 0, KI_IS_CALL, 0, KI_IMM_Z, 0},
	{0xe9, 0xe9, 0, KI_IS_JMP, 0, KI_IMM_Z, 0},
	{0xeb, 0xeb, 0, KI_IS_JMP, 0, KI_IMM_8, 0},
	{0xf6, 0xf6, 0x01, KI_IS_PLAIN, 1, KI_IMM_8, RM}, /* test */
	{0xf7, 0xf7, 0x01, KI_IS_PLAIN, ANY, KI_IMM_Z, RM},
	{0xf6, 0xf6, 0x0c, KI_IS_PLAIN, 1, 0, REG | W_RM}, /* not, neg */
	{0xf7, 0xf7, 0x0c, KI_IS_PLAIN, ANY, 0, REG | W_RM},
	{0xf6, 0xf6, 0x30, KI_IS_PLAIN, 1, 0, REG | W_AX}, /* mul, imul */
	{0xf7, 0xf7, 0x30, KI_IS_PLAIN, ANY, 0, REG | W_AX | W_DX},
	{0xfe, 0xfe, 0x03, KI_IS_PLAIN, 1, 0, RM | W_RM | LOCK}, /* inc, dec */
	{0xff, 0xff, 0x03, KI_IS_PLAIN, ANY, 0, RM | W_RM | LOCK},
};

static const struct ki_form ki_two_byte[] = {
	{0x1f, 0x1f, 0x01, KI_IS_NOP, 2 | 4, 0, REG | ADDR},
	{0x31, 0x31, 0, KI_IS_PLAIN, 0, 0, W_AX | W_DX},   /* rdtsc */
	{0x40, 0x4f, 0, KI_IS_PLAIN, ANY, 0, REG | W_REG}, /* cmov */
	{0x80, 0x8f, 0, KI_IS_JCC, 0, KI_IMM_Z, 0},
	{0x90, 0x9f, 0x01, KI_IS_PLAIN, 1, 0, REG | W_RM},   /* set */
	{0xa3, 0xa3, 0, KI_IS_PLAIN, ANY, 0, REG},	     /* bt */
	{0xaf, 0xaf, 0, KI_IS_PLAIN, ANY, 0, RM | W_REG},    /* imul */
	{0xb6, 0xb6, 0, KI_IS_PLAIN, ANY, 0, RM | W_REG, 1}, /* movzx */
	{0xb7, 0xb7, 0, KI_IS_PLAIN, WIDE, 0, RM | W_REG, 2},
	{0xba, 0xba, 0x10, KI_IS_PLAIN, ANY, KI_IMM_8, REG}, /* bt */
	{0xbc, 0xbd, 0, KI_IS_PLAIN, ANY, 0, REG | W_REG},   /* bsf, bsr */
	{0xbe, 0xbe, 0, KI_IS_PLAIN, ANY, 0, RM | W_REG, 1}, /* movsx */
	{0xbf, 0xbf, 0, KI_IS_PLAIN, WIDE, 0, RM | W_REG, 2},
	{0xc0, 0xc0, 0, KI_IS_PLAIN, 1, 0, RM | W_RM | W_REG | LOCK}, /* xadd */
	{0xc1, 0xc1, 0, KI_IS_PLAIN, ANY, 0, RM | W_RM | W_REG | LOCK},
	{0xc8, 0xcf, 0, KI_IS_PLAIN, WIDE, 0, W_OP}, /* bswap */
};

const struct ki_form *ki_form_find(bool two, u8 op, u8 reg)
{
	const struct ki_form *f = two ? ki_two_byte : ki_one_byte;
	const struct ki_form *end = f + (two ? ARRAY_SIZE(ki_two_byte) : ARRAY_SIZE(ki_one_byte));

	for (; f < end; f++)
		if (op >= f->first && op <= f->last && (!f->group || f->group >> reg & 1))
			return f;
	return NULL;
}
