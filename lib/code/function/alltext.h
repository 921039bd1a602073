/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * All text of a target in memory, in its original view.
 */
#ifndef KI_CODE_ALLTEXT_H
#define KI_CODE_ALLTEXT_H

#include "kerninst/target.h"

struct ki_text_piece {
	uint64_t start, end;
	const uint8_t *bytes; /* NULL: it could not be read (a module that has gone) */
	uint8_t *owned;	      /* the same, if it is a copy */
};

struct ki_text {
	struct ki_text_piece *pieces; /* one for each range of the target, in order */
	size_t n;
	uint64_t total; /* bytes that were read */
};

int ki_text_read(struct ki_target *t, struct ki_text *text, struct ki_err *err);
void ki_text_free(struct ki_text *text);

/* The piece that holds addr, or NULL. */
const struct ki_text_piece *ki_text_piece_at(const struct ki_text *text, uint64_t addr);

/* Its bytes from addr on, *avail of them; NULL if none are known. */
const uint8_t *ki_text_at(const struct ki_text *text, uint64_t addr, size_t *avail);

#endif
