/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The forms of instructions that a long chunk may have (vet_long.c).
 */
#ifndef KI_FORM_H
#define KI_FORM_H

#include <linux/types.h>
#include <asm/insn.h>

#define KI_AX 0
#define KI_DX 2
#define KI_SP 4
#define KI_BP 5
#define KI_SI 6
#define KI_DI 7

#define KI_FORM_W_REG 0x01 /* writes the register of its ModRM */
#define KI_FORM_W_RM  0x02 /* writes the other operand */
#define KI_FORM_W_OP  0x04 /* writes the register in its opcode */
#define KI_FORM_MEM   0x08 /* the other operand may be memory */
#define KI_FORM_LOCK  0x10 /* with a lock prefix, too */
#define KI_FORM_GROUP                                                                              \
	0x20 /* its ModRM says which instruction it is: a bit in `group` allows it                 \
	      */
#define KI_FORM_BRANCH 0x40
#define KI_FORM_W_AX   0x80 /* writes %rax, though nothing in it names it */
#define KI_FORM_W_DX   0x100

struct ki_form {
	u8 first, last; /* opcodes */
	u8 group;
	u16 flags;
};

/* The form of a decoded instruction, or NULL: it has none that may be. */
const struct ki_form *ki_form_find(const struct insn *in);
/* Does it write %rsp or %rbp? */
bool ki_form_writes_frame(const struct ki_form *f, const struct insn *in);
/* The registers that it writes, or part of which: a bit for each. */
u16 ki_form_written(const struct ki_form *f, const struct insn *in);

bool ki_insn_rex(const struct insn *in, u8 bits);
u8 ki_insn_reg(const struct insn *in); /* of its ModRM */
u8 ki_insn_rm(const struct insn *in);
bool ki_insn_memory(const struct insn *in);
/* Operand size, lock and %gs; false: it has another one. */
bool ki_insn_prefixes(const struct insn *in, bool *gs, bool *lock);

#endif
