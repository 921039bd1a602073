/* SPDX-License-Identifier: GPL-2.0-only */
/* The first difference of kernel text, in words. */
#ifndef KERNINST_TEXT_WORDS_H
#define KERNINST_TEXT_WORDS_H

#include "kerninst/target.h"

struct text_words {
	char place[256]; /* [MODULE:]FUNCTION+0xOFFSET, or the address */
	char was[64], is[64];
};

/* Of a change with something that differs. */
void text_words(const struct ki_target *t, const struct ki_text_change *c, struct text_words *w);

#endif
