/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Decoding one instruction. The only files that know the decoder (Zydis) are those that include
 * code/zydis.h; its numbers differ between its versions and never leave them.
 */
#ifndef KI_CODE_DECODE_H
#define KI_CODE_DECODE_H

#include <string.h>

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
#define KI_TRAIT_STD	    0x10 /* from here on strings are copied backwards */
#define KI_TRAIT_CLD	    0x20 /* and from here on no longer */
#define KI_TRAIT_CONTINUES  0x40 /* ud: a WARN's may go on after it */
#define KI_TRAIT_POPF	    0x80 /* takes the flags from the stack */
#define KI_TRAIT_FILLER	    (KI_TRAIT_NOP | KI_TRAIT_INT3)

struct ki_decoded {
	/* addr, target, len, kind, flags (RIP, READS, WRITES), field, tail; reason: what the
	   instruction itself tells */
	struct ki_insn in;
	/* What may be read: old values that anything may depend on. Registers that are perhaps
	   written, or in part, and keep the rest, are in it (flags that may be kept are not);
	   so is the stack pointer where the stack is used, and everything where code that is
	   not known may look: traps, system calls, virtual machines. */
	ki_regset use;
	ki_regset def;	/* written in any case and wholly, what is undefined included */
	uint8_t traits; /* KI_TRAIT_* */
};

/*
 * Decode the instruction at p, of which avail bytes (1 or more) may be looked at. What is not
 * an instruction, or is cut off, is a KI_INSN_BAD of one byte.
 */
void ki_decode(const uint8_t *p, size_t avail, uint64_t addr, struct ki_decoded *out);

static inline uint8_t ki_regset_flags(ki_regset set)
{
	return (uint8_t)(set >> 48 & KI_FLAG_ALL);
}

struct ki_head {
	uint8_t len;	    /* whatever begins with these bytes is the same but for its numbers
			       (displacement, immediates); 0: not known */
	uint8_t count_mask; /* that, if its last byte has one of these bits; 0: in any case */
};

/* The same, and what can be said of others like it. */
void ki_decode_head(const uint8_t *p, size_t avail, uint64_t addr, struct ki_decoded *out,
		    struct ki_head *head);

/* Complete addr, target and reason, of which len, kind, flags, field and reason are known. */
static inline void ki_decode_place(const uint8_t *p, uint64_t addr, struct ki_insn *in)
{
	int32_t rel;

	in->addr = addr;
	if (!in->field)
		return;
	if (!(in->flags & KI_INSN_RIP) && in->field + 1 == in->len)
		rel = (int8_t)p[in->field];
	else
		memcpy(&rel, p + in->field, 4);
	in->target = addr + in->len + (uint64_t)(int64_t)rel;
	/* A call of what is after it wants to know where it is. */
	if (in->kind == KI_INSN_CALL && !rel && in->reason == KI_R_OK)
		in->reason = KI_R_STACK_CALL;
}

/* Only its length; 1 for what is not an instruction. Faster. */
size_t ki_decode_len(const uint8_t *p, size_t avail);

#define KI_DECODE_TEXT 256

/* Who names addresses. name writes the name of one, or nothing; false: it has none. */
struct ki_namer {
	bool (*name)(const void *ctx, uint64_t addr, char *buf, size_t len);
	const void *ctx;
};

/*
 * Text of the instruction, with the names of the addresses it refers to (branch targets and
 * RIP-relative operands). 0, or -EILSEQ.
 */
int ki_decode_text(const uint8_t *p, size_t avail, uint64_t addr, enum ki_syntax syntax,
		   const struct ki_namer *namer, char text[KI_DECODE_TEXT]);

#endif
