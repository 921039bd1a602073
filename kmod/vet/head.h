/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the walk over a function (verify.c) has to know of an instruction.
 */
#ifndef KI_HEAD_H
#define KI_HEAD_H

#include <linux/types.h>

#define KI_INSN_LONGEST 15 /* bytes */

struct ki_head {
	u8 len;
	u8 prefix; /* the first one before REX; 0: it has none */
	bool rex;
	bool vex;    /* AVX counts its opcodes from 0 again */
	u8 nopcodes; /* bytes of the opcode */
	u8 op[2];    /* the first of these */
	u8 modrm;    /* 0 where there is none */
	s32 imm;     /* of a direct branch: how far it leads */
};

/*
 * The instruction at p, of what compilers write; false: it may be another, or none. At least
 * KI_INSN_LONGEST bytes can be read there, of which `avail` are meant.
 */
bool ki_head_common(const u8 *p, unsigned long avail, struct ki_head *out);

/* The same, of any, by the kernel's decoder; false: it is none. */
bool ki_head_decode(const u8 *p, unsigned long avail, struct ki_head *out);

#endif
