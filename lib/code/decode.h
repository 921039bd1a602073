/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Decoding one instruction. The only file that knows the decoder (Zydis) is decode.c; its
 * numbers differ between its versions and never leave it.
 */
#ifndef KI_CODE_DECODE_H
#define KI_CODE_DECODE_H

#include "kerninst/code.h"

/* The arithmetic flags, as a mask. */
#define KI_FLAG_CF  0x01
#define KI_FLAG_PF  0x02
#define KI_FLAG_AF  0x04
#define KI_FLAG_ZF  0x08
#define KI_FLAG_SF  0x10
#define KI_FLAG_OF  0x20
#define KI_FLAG_ALL 0x3f

#define KI_TRAIT_NOP	    0x01 /* does nothing */
#define KI_TRAIT_INT3	    0x02
#define KI_TRAIT_NEXT_FIXED 0x04 /* nothing may come between it and the next instruction */
#define KI_TRAIT_TABLE_JUMP 0x08 /* an indirect jump by an index, or marked notrack */
#define KI_TRAIT_TABLE_LOAD 0x10 /* loads a sign-extended 32-bit number by an index */
#define KI_TRAIT_REG_JUMP   0x20 /* jumps to what is in a register */
#define KI_TRAIT_CONTINUES  0x40 /* ud: a WARN's may go on behind it */
#define KI_TRAIT_FILLER	    (KI_TRAIT_NOP | KI_TRAIT_INT3)

struct ki_decoded {
	/* addr, target, len, kind, flags (RIP, READS, WRITES), field, tail; reason: what the
	   instruction itself tells */
	struct ki_insn in;
	ki_regset use;	 /* may be read; the stack pointer by what uses the stack */
	ki_regset def;	 /* written in any case and wholly, what is undefined included */
	uint8_t read;	 /* KI_FLAG_*: may be read */
	uint8_t written; /* KI_FLAG_*: written in any case, what is undefined included */
	uint8_t traits;	 /* KI_TRAIT_* */
};

/*
 * Decode the instruction at p, of which avail bytes (1 or more) may be looked at. What is not
 * an instruction, or is cut off, is a KI_INSN_BAD of one byte.
 */
void ki_decode(const uint8_t *p, size_t avail, uint64_t addr, struct ki_decoded *out);

/* Only its length; 1 for what is not an instruction. Faster. */
size_t ki_decode_len(const uint8_t *p, size_t avail);

#define KI_DECODE_TEXT 128

/*
 * Intel-syntax text. For a direct branch or call, *target is its target and the text ends with
 * the mnemonic: "call". 0, or -EILSEQ.
 */
int ki_decode_text(const uint8_t *p, size_t avail, uint64_t addr, char text[KI_DECODE_TEXT],
		   bool *direct, uint64_t *target);

#endif
