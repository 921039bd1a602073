/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Springboards: how control comes into each window's patch. A part of finding windows.
 */
#ifndef KI_SPLICE_SPRINGBOARD_CHOICE_H
#define KI_SPLICE_SPRINGBOARD_CHOICE_H

#include "kerninst/splice.h"

#define KI_JMP_LEN   5 /* jmp rel32 */
#define KI_SHORT_LEN 2 /* jmp rel8 */

/* How far before a window its bounce may start. */
#define KI_BOUNCE_BELOW (128 - KI_SHORT_LEN)

/* What control never goes on after; a call that does not return is none. */
static inline bool ki_insn_ends(const struct ki_insn *in)
{
	return in->kind == KI_INSN_RET || in->kind == KI_INSN_JMP ||
	       in->kind == KI_INSN_JMP_INDIRECT;
}

static inline bool ki_insn_is_call(const struct ki_insn *in)
{
	return in->kind == KI_INSN_CALL || in->kind == KI_INSN_CALL_INDIRECT;
}

/* Does ki_relocate have a copy of it? */
bool ki_insn_relocates(const struct ki_insn *in, const uint8_t *bytes);

/* The copy of a static branch or call, in a window that says so, with such a flag. */
unsigned int ki_relocate_written(const struct ki_insn *in, uint8_t flag, struct ki_copy *out);

/* int3, nop, or nop r/m, that nothing reaches: what the driver accepts below a bounce. */
bool ki_insn_is_filler(const struct ki_function *fn, const struct ki_insn *in);

/*
 * Give each of a function's windows its springboard. Windows come in as they were cut, in order
 * of address; some may go out joined. 0, or -ENOMEM.
 */
int ki_boards_assign(const struct ki_function *fn, struct ki_spans *s);

/*
 * Of windows as they were cut, the first of which has room for a jump: may it be joined to the
 * next? If not, nothing that is chosen for others changes it. 0, or -ENOMEM.
 */
int ki_boards_first(const struct ki_function *fn, const struct ki_spans *s, bool *joined);

/* Can the window be joined to the one before it, which is there, if a bounce is to stand there? */
bool ki_spans_adjoin(const struct ki_function *fn, const struct ki_span *s);

/*
 * Windows as they are cut, without springboards. reach: only those that begin so near to the end
 * of the first one; 0: all. 0, or -ENOMEM.
 */
int ki_spans_cut(const struct ki_function *fn, uint64_t reach, struct ki_spans *out);

#endif
