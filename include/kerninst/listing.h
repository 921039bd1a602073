/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The lines in which kerninst disas shows a function.
 *
 * The original code is one line for each instruction. The live code is the same where the bytes
 * are the same; where they differ, what stands there is decoded, and says what it displaces. A
 * springboard may end inside an instruction: what is left of that one is not executed, and
 * decoding it would show instructions that are none, so it is shown as bytes.
 */
#ifndef KERNINST_COMMON_VIEW_H
#define KERNINST_COMMON_VIEW_H

#include "kerninst/program.h"
#include "util/vec.h"

#define VIEW_TEXT 512

enum view_kind {
	VIEW_SAME,    /* an instruction of the original code */
	VIEW_CHANGED, /* what stands in the place of the instructions insn .. insn + count - 1 */
	VIEW_REST,    /* bytes of a displaced instruction that still stand */
};

struct view_line {
	uint64_t addr;
	uint32_t len;
	uint32_t insn;	/* number of the first instruction that begins in it */
	uint32_t count; /* how many do; 0: none */
	uint32_t block; /* number of the block that begins here; KI_NONE */
	enum view_kind kind;
};

struct view {
	const struct ki_function *fn;
	enum ki_syntax syntax;
	bool live;
	uint8_t *bytes; /* of [fn->start, fn->end), as shown */
	ki_vec(struct view_line) lines;
};

/* The lines from the address `from` on, which an instruction must begin at. 0, or -errno. */
int view_make(struct view *v, const struct ki_function *fn, uint64_t from, bool live,
	      enum ki_syntax syntax, struct ki_err *err);
void view_free(struct view *v);

const uint8_t *view_bytes(const struct view *v, const struct view_line *l);

/* The instruction that is shown; false: none. */
bool view_insn(const struct view *v, const struct view_line *l, struct ki_insn *out);

/* The line as text; jumps inside the function lead to +0xOFFSET. */
void view_text(const struct view *v, const struct view_line *l, char text[VIEW_TEXT]);

/* What a changed line displaces: "push r15; push r14"; else "". */
void view_displaced(const struct view *v, const struct view_line *l, char text[VIEW_TEXT]);

/* Why it must not be moved, or KI_R_OK; the padding's reason is that it is no code. */
unsigned int view_reason(const struct view *v, const struct view_line *l);

bool view_is_padding(const struct view *v, const struct view_line *l);

#endif
