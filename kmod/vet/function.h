/* SPDX-License-Identifier: GPL-2.0-only */
/* A function as windows in it are verified (function.c, verify.c). Under ki_lock. */
#ifndef KI_VET_FUNCTION_H
#define KI_VET_FUNCTION_H

#include <linux/string.h>
#include <linux/types.h>

#include "ki.h"

struct ki_verifier {
	unsigned long start, end; /* of the function that is loaded */
	u8 *bytes;
	unsigned long *boundary; /* bit: an instruction starts here */
	unsigned long *entered;	 /* bit: something jumps here */
	unsigned long *filler;	 /* bit: a byte of int3 or nop after what never falls through */
	unsigned long body; /* offset of the first instruction after endbr and the ftrace site */
	u16 reason;	    /* why nothing in it can be touched */
	bool whole;	    /* all of it is decoded */
};

/* The function that addr lies in: its bytes. Nothing is decoded yet. */
u16 ki_verifier_load(struct ki_verifier *v, unsigned long addr);

/* All that is asked of a window [addr, end) in it: why nothing in the function can be touched. */
u16 ki_verifier_decode(struct ki_verifier *v, unsigned long addr, unsigned long end);
void ki_verifier_decode_whole(struct ki_verifier *v);

bool ki_verifier_is_text(unsigned long addr);

/* A static call's trampoline: a jmp or ret that the kernel rewrites, then its mark, a ud1. */
#define KI_TRAMPOLINE_LEN 8
static inline bool ki_is_trampoline(const u8 *code)
{
	static const u8 mark[] = {0x0f, 0xb9, 0xcc};

	return !memcmp(code + KI_JMP_LEN, mark, sizeof(mark));
}

/* Of a window with KI_WINDOW_BRANCH in the function: is it one? Its key and target. (branch.c) */
u16 ki_branch_verify(const struct ki_verifier *v, struct ki_win *w);
/* With KI_WINDOW_STATIC_CALL: is it one? Its trampoline. (static_call.c) */
u16 ki_static_call_verify(const struct ki_verifier *v, struct ki_win *w);
/* The row of a window that the kernel writes, and no other, says something of its bytes. */
u16 ki_written_row(const struct ki_win *w, u16 reason);

#endif
