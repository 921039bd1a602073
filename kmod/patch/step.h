/* SPDX-License-Identifier: GPL-2.0-only */
/* One instruction of a function that a tail jump leads to (tail.c): what it does to the stack. */
#ifndef KI_PATCH_STEP_H
#define KI_PATCH_STEP_H

#include <asm/insn.h>

#include "compat.h"

struct ki_step {
	struct insn in;
	struct orc_entry row;
	unsigned long addr;
};

#define KI_RSP 4
#define KI_RBP 5

/* 0: it has two bytes or more. */
u8 ki_step_opcode(const struct ki_step *s);
/* The registers of ModRM, and the base of an operand in memory; -1: none. */
u8 ki_step_reg(const struct ki_step *s);
u8 ki_step_rm(const struct ki_step *s);
int ki_step_base(const struct ki_step *s);
bool ki_step_in_memory(const struct ki_step *s);

/* mov, lea: what takes a word and changes none. */
bool ki_step_only_reads(const struct ki_step *s);
bool ki_step_pushes(const struct ki_step *s);
/* Can %rsp be higher after it? What only reads it can be taken for one that does. */
bool ki_step_may_raise(const struct ki_step *s);
/* "sub $N,%rsp": N; 0: no such. */
s32 ki_step_lowers(const struct ki_step *s);
/* "mov %rsp,%rbp". */
bool ki_step_makes_frame(const struct ki_step *s);
/* "mov %gs:0x28,%REG": the stack protector's. Never so of kernels that keep it elsewhere. */
bool ki_step_takes_canary(const struct ki_step *s);

bool ki_step_is_filler(const struct ki_step *s);
bool ki_step_branches(const struct ki_step *s);
/* A jump or a return: the next instruction is not reached from here. */
bool ki_step_is_last(const struct ki_step *s);
/* It does not change %rbp: a call, a jump, a return, a trap, filler; others are not asked. */
bool ki_step_keeps_frame(const struct ki_step *s);

#endif
