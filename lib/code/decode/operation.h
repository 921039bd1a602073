/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What an instruction computes, for those who compute it themselves: the operation, its operands,
 * and what else it may change.
 */
#ifndef KI_CODE_OPERATION_H
#define KI_CODE_OPERATION_H

#include "code/decode/decode.h"

enum ki_operation_kind {
	KI_OP_OTHER, /* something else: only what it may change is told */
	KI_OP_MOVE,  /* first = second; movzx as well */
	KI_OP_SIGN,  /* first = second, sign-extended */
	KI_OP_LEA,
	KI_OP_ADD,
	KI_OP_SUB,
	KI_OP_AND,
	KI_OP_OR,
	KI_OP_XOR,
	KI_OP_CMP,
	KI_OP_TEST,
	KI_OP_INC,
	KI_OP_DEC,
	KI_OP_NEG,
	KI_OP_NOT,
	KI_OP_SHL,
	KI_OP_SHR,
	KI_OP_SAR,
	KI_OP_BSR,
	KI_OP_MUL,  /* first = second * third, in 64 bits or fewer: imul of two or three operands */
	KI_OP_SET,  /* first = is the condition true? */
	KI_OP_WHEN, /* first = second if the condition is true: cmov */
	KI_OP_JUMP, /* a conditional branch */
	KI_OP_CLEAR, /* first = 0, whatever it held: xor of a register with itself */
};

enum ki_operand_kind { KI_OPERAND_NONE, KI_OPERAND_NUMBER, KI_OPERAND_REGISTER, KI_OPERAND_MEMORY };

#define KI_OPERAND_NO_REG 0xff

struct ki_operand {
	uint8_t kind; /* enum ki_operand_kind */
	uint8_t size; /* bytes */
	uint8_t reg;  /* enum ki_reg */
	bool high;    /* its bits 8 to 15 */
	/* memory: base + index * scale + number; enum ki_reg, or KI_OPERAND_NO_REG */
	uint8_t base, index, scale;
	bool elsewhere; /* with %fs or %gs, or in 32 bits: no address of the kernel's */
	int64_t number; /* sign-extended */
};

struct ki_operation {
	uint8_t kind;	   /* enum ki_operation_kind */
	uint8_t condition; /* as in the opcode: 0 to 15 */
	struct ki_operand v[3];
	uint16_t writes; /* general registers that it may change: a bit for each */
	uint8_t flags;	 /* flags that it may change: KI_FLAG_* */
	bool reads_memory, writes_memory;
	bool pure; /* it does nothing but to write registers and flags, and to read memory */
};

/* Of a decoded instruction's bytes. False: it is none. */
bool ki_operation_read(const struct ki_insn *in, const uint8_t *bytes, struct ki_operation *out);

/* KI_FLAG_*: does the condition of an opcode hold? */
bool ki_condition_holds(uint8_t condition, uint8_t flags);

/* The flags that it looks at. */
uint8_t ki_condition_flags(uint8_t condition);

#endif
