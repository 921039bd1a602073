/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The instructions that a long chunk may have (vet_long.c): the table of their forms
 * (vet_forms.c), and how one is read (form.c).
 */
#ifndef KI_FORM_H
#define KI_FORM_H

#include <linux/types.h>

#define KI_AX 0
#define KI_DX 2
#define KI_SP 4
#define KI_BP 5
#define KI_SI 6
#define KI_DI 7

/* What it is for those who look at it. */
enum ki_form_class {
	KI_IS_PLAIN, /* registers, flags, memory if it has some: no more needs to be known */
	KI_IS_PUSH,
	KI_IS_POP,
	KI_IS_CALL,
	KI_IS_JMP,
	KI_IS_JCC,
	KI_IS_ADDRESS, /* lea */
	KI_IS_NOP,
	KI_IS_CONSTANT, /* mov $imm, %reg */
	KI_IS_LOAD,	/* mov to a register */
	KI_IS_SUB,	/* from a register */
	KI_IS_CMP,	/* of a register with the other operand */
	KI_IS_CMP_IMM,	/* of the other operand with a number of its own size, or of 4 bytes */
	KI_IS_CMP_IMM8,
	KI_IS_TEST,
};

enum ki_form_imm {
	KI_IMM_NONE,
	KI_IMM_8,
	KI_IMM_Z, /* 4 bytes, of 2-byte operands 2 */
	KI_IMM_V, /* as long as the operand */
};

#define KI_FORM_REG   0x01  /* it has a ModRM, and the other operand may be a register */
#define KI_FORM_MEM   0x02  /* the same, memory; then it may be of %gs */
#define KI_FORM_ADDR  0x04  /* the same, memory that is named and not touched */
#define KI_FORM_LOCK  0x08  /* memory may be locked */
#define KI_FORM_OP    0x10  /* the low bits of the opcode are a register */
#define KI_FORM_W_REG 0x20  /* writes the register of its ModRM */
#define KI_FORM_W_RM  0x40  /* writes the other operand */
#define KI_FORM_W_OP  0x80  /* writes the register in its opcode */
#define KI_FORM_W_AX  0x100 /* writes %rax, though nothing in it names it */
#define KI_FORM_W_DX  0x200
#define KI_FORM_RM    (KI_FORM_REG | KI_FORM_MEM)
#define KI_FORM_MODRM (KI_FORM_RM | KI_FORM_ADDR)

struct ki_form {
	u8 first, last; /* opcodes */
	u8 group;	/* its ModRM says which instruction it is: a bit for each; 0: it does not */
	u8 class;	/* enum ki_form_class */
	u8 sizes;	/* of operands, in bytes, or'ed; 0: nothing says a size */
	u8 imm;		/* enum ki_form_imm */
	u16 flags;
	u8 memory; /* bytes of memory; 0: as large as the operand */
};

/* One that has been read. */
struct ki_instr {
	const struct ki_form *form;
	u8 len;
	u8 prefixes; /* how many before REX */
	u8 rex;	     /* 0: it has none */
	bool two;    /* 0f and another byte */
	u8 op;	     /* the opcode's last byte: of a jcc its low half is the condition */
	u8 modrm, sib;
	bool has_sib;
	u8 disp_at, disp_bytes;
	s32 disp;
	s64 imm;
	u8 size;  /* of its operands, in bytes */
	u8 bytes; /* of its memory */
	u8 mod, reg, rm, index;
	bool memory; /* an operand is memory, or names it */
	bool gs, lock, half;
};

/* vet_forms.c: the form of an opcode (two: after 0f), whose ModRM has `reg`; NULL: it has none. */
const struct ki_form *ki_form_find(bool two, u8 op, u8 reg);

/* form.c: the instruction at code, all of whose bytes have a meaning in a form; or false. */
bool ki_instr_read(const u8 *code, u32 len, struct ki_instr *out);
/* The registers that it writes, or part of which: a bit for each. */
u16 ki_instr_written(const struct ki_instr *in);

#endif
