/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The lines in which kerninst disas shows a function.
 *
 * The original code is one line for each instruction. The live code is the same where the bytes
 * are the same; where they differ, what stands there is decoded, and says what it displaces. A
 * springboard may end inside an instruction: what is left of that one is not executed, and
 * decoding it would show instructions that are none, so it is shown as bytes.
 */
#ifndef KERNINST_LISTING_H
#define KERNINST_LISTING_H

#include "kerninst/page.h"
#include "kerninst/program.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KI_LISTING_TEXT 512

enum ki_listing_kind {
	KI_LISTING_SAME,    /* an instruction of the original code */
	KI_LISTING_CHANGED, /* what stands in the place of the instructions insn .. insn + count - 1
			     */
	KI_LISTING_REST,    /* bytes of a displaced instruction that still stand */
};

struct ki_listing_line {
	uint64_t addr;
	uint32_t len;
	uint32_t insn;	/* number of the first instruction that begins in it */
	uint32_t count; /* how many do; 0: none */
	uint32_t block; /* number of the block that begins here; KI_NONE */
	enum ki_listing_kind kind;
};

struct ki_listing {
	const struct ki_function *fn;
	enum ki_syntax syntax;
	bool live;
	uint8_t *bytes; /* of [fn->start, fn->end), as shown */
	struct {
		struct ki_listing_line *v;
		size_t n, cap;
	} lines;
};

/* The lines from the address `from` on, which an instruction must begin at. 0, or -errno. */
int ki_listing_new(struct ki_listing *v, const struct ki_function *fn, uint64_t from, bool live,
		   enum ki_syntax syntax, struct ki_err *err);
void ki_listing_free(struct ki_listing *v);

const uint8_t *ki_listing_bytes(const struct ki_listing *v, const struct ki_listing_line *l);

/* The instruction that is shown; false: none. */
bool ki_listing_insn(const struct ki_listing *v, const struct ki_listing_line *l,
		     struct ki_insn *out);

/* The line as text; jumps inside the function lead to +0xOFFSET. */
void ki_listing_text(const struct ki_listing *v, const struct ki_listing_line *l,
		     char text[KI_LISTING_TEXT]);

/* What a changed line displaces: "push r15; push r14"; else "". */
void ki_listing_displaced(const struct ki_listing *v, const struct ki_listing_line *l,
			  char text[KI_LISTING_TEXT]);

/* Why it must not be moved, or KI_R_OK; the padding's reason is that it is no code. */
unsigned int ki_listing_reason(const struct ki_listing *v, const struct ki_listing_line *l);

bool ki_listing_is_padding(const struct ki_listing *v, const struct ki_listing_line *l);

/*
 * All of it, block by block, with what must stay and what is displaced. live: the registers that
 * are live before each instruction of the function (ki_program_live), so that those that are free
 * are shown; NULL: not. verbose: the bytes of each instruction. 0, or -errno.
 */
int ki_listing_show(const struct ki_listing *v, const ki_regset *live, const struct ki_page *page);

#ifdef __cplusplus
}
#endif

#endif
