/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An assembler for what long chunks may contain: instructions in a list, with branches to labels
 * ahead, laid out in the end with the shortest branches that reach.
 */
#ifndef KI_SNIPPET_ASM_H
#define KI_SNIPPET_ASM_H

#include "kerninst/snippet.h"
#include "util/vec.h"

#define ASM_JMP	 16 /* beside the condition codes 0..15 */
#define ASM_NONE 17

/* Condition codes. */
enum {
	CC_B = 2,
	CC_AE = 3,
	CC_E = 4,
	CC_NE = 5,
	CC_BE = 6,
	CC_A = 7,
	CC_L = 12,
	CC_GE = 13,
	CC_LE = 14,
	CC_G = 15
};

struct asm_insn {
	uint8_t len; /* of a branch: once it is laid out */
	uint8_t bytes[16];
	uint8_t branch; /* condition code, ASM_JMP, ASM_NONE */
	bool wide;	/* a branch of 32 bits */
	bool reached;	/* control can come to it */
	uint8_t fix_kind, fix_off, fix_tail;
	uint64_t fix_target;
	uint32_t label; /* of a branch */
	uint32_t line;
	uint32_t off;
};

/* What an instruction's other operand is. */
enum rm_mode {
	RM_REG,
	RM_STACK,  /* disp(%rsp) */
	RM_GS,	   /* %gs:disp32, with a fixup */
	RM_GS_AT,  /* %gs:disp32(,%reg,8), with a fixup */
	RM_GLOBAL, /* disp32(%rip), with a fixup */
	RM_FIELD,  /* disp32(%reg), with a fixup */
	RM_AT,	   /* (%reg) */
};

struct rm {
	uint8_t mode; /* enum rm_mode */
	uint8_t reg;
	uint8_t fix; /* enum ki_fixup_kind */
	int32_t disp;
	uint64_t target;
};

struct code_list {
	ki_vec(struct asm_insn) insns;
	ki_vec(uint32_t) labels; /* the number of the instruction that each stands before */
	uint32_t line;
	bool writes_flags;
	bool uses_stack; /* pushes, or calls */
	bool failed;	 /* out of memory */
};

/* To come back to. */
struct asm_mark {
	size_t ninsns, nlabels;
	bool writes_flags;
};

struct asm_mark ki_asm_mark(const struct code_list *a);
void ki_asm_back(struct code_list *a, const struct asm_mark *m);
void ki_asm_free(struct code_list *a);

/* Operations with an opcode in the first row of the table: their numbers in /digit form. */
enum alu { ALU_ADD = 0, ALU_OR = 1, ALU_AND = 4, ALU_SUB = 5, ALU_XOR = 6, ALU_CMP = 7 };
enum shift { SHIFT_SHL = 4, SHIFT_SHR = 5, SHIFT_SAR = 7 };

static inline struct rm rm_reg(unsigned int reg)
{
	return (struct rm){.mode = RM_REG, .reg = (uint8_t)reg};
}

/* size: of the operation, 1, 2, 4 or 8 bytes. lock: with that prefix. */
void ki_asm_alu_load(struct code_list *a, enum alu op, unsigned int size, unsigned int reg,
		     const struct rm *m); /* reg op= m */
void ki_asm_alu_store(struct code_list *a, enum alu op, unsigned int size, const struct rm *m,
		      unsigned int reg, bool lock); /* m op= reg */
void ki_asm_alu_imm(struct code_list *a, enum alu op, unsigned int size, const struct rm *m,
		    int32_t imm, bool lock);
void ki_asm_inc(struct code_list *a, unsigned int size, const struct rm *m, bool dec, bool lock);
void ki_asm_test(struct code_list *a, unsigned int size, unsigned int x, unsigned int y);
void ki_asm_mov(struct code_list *a, unsigned int size, unsigned int reg, const struct rm *m);
void ki_asm_mov_store(struct code_list *a, unsigned int size, const struct rm *m, unsigned int reg);
void ki_asm_mov_imm(struct code_list *a, unsigned int size, const struct rm *m, int32_t imm);
void ki_asm_const(struct code_list *a, unsigned int reg, uint64_t value);
/* reg = m, extended as the type says. */
void ki_asm_extend(struct code_list *a, enum ki_type type, unsigned int reg, const struct rm *m);
void ki_asm_lea_stack(struct code_list *a, unsigned int reg, int32_t disp);
void ki_asm_lea(struct code_list *a, unsigned int reg, const struct rm *m);
void ki_asm_xchg(struct code_list *a, unsigned int x, unsigned int y);
void ki_asm_unary(struct code_list *a, unsigned int digit, unsigned int reg); /* f7: not 2, neg 3 */
void ki_asm_imul(struct code_list *a, unsigned int reg, unsigned int by);
void ki_asm_imul_imm(struct code_list *a, unsigned int reg, unsigned int by, int32_t imm);
void ki_asm_shift_imm(struct code_list *a, enum shift op, unsigned int reg, unsigned int count);
void ki_asm_shift_cl(struct code_list *a, enum shift op, unsigned int reg);
void ki_asm_setcc(struct code_list *a, unsigned int cc, unsigned int reg);
void ki_asm_bsr(struct code_list *a, unsigned int reg, unsigned int of);
void ki_asm_push(struct code_list *a, unsigned int reg);
void ki_asm_pop(struct code_list *a, unsigned int reg);
void ki_asm_bytes(struct code_list *a, const void *bytes, unsigned int n, bool flags);
void ki_asm_call(struct code_list *a, enum ki_fixup_kind kind, uint64_t target);

uint32_t ki_asm_label(struct code_list *a); /* a new one */
void ki_asm_here(struct code_list *a, uint32_t label);
void ki_asm_branch(struct code_list *a, unsigned int cc, uint32_t label); /* or ASM_JMP */

/* Lay it out: 0, -ENOMEM, -E2BIG. */
int ki_asm_finish(struct code_list *a, struct ki_long_code *out);

#endif
