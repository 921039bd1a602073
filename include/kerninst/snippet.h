/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Snippets: what is inserted, as native position-independent code with fixups.
 */
#ifndef KERNINST_SNIPPET_H
#define KERNINST_SNIPPET_H

#include <stdbool.h>

#include "kerninst/err.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Code with fixups, ready to be a chunk. */
struct ki_code {
	uint8_t len;
	uint8_t nfix;
	struct ki_fixup fix[KI_FIXUPS];
	uint8_t code[KI_CHUNK_MAX];
};

/*
 * Add one to a counter of this CPU. One instruction, so exact against interrupts, NMIs and
 * migration:
 *
 *	incq %gs:counter		65 48 ff 04 25 disp32
 *
 * If the flags are live at the place, they are kept in %rax meanwhile:
 *
 *	push %rax			50
 *	lahf				9f
 *	seto %al			0f 90 c0
 *	incq %gs:counter		65 48 ff 04 25 disp32
 *	add  $127, %al			04 7f
 *	sahf				9e
 *	pop  %rax			58
 */
void ki_snippet_count(struct ki_code *out, uint32_t counter, bool keep_flags);

#ifdef __cplusplus
}
#endif

#endif
