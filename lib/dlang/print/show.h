/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Values as they are printed, in the columns that scripts expect.
 */
#ifndef KI_DLANG_SHOW_H
#define KI_DLANG_SHOW_H

#include <stdio.h>

#include "dlang/print/format.h"
#include "dlang/print/place.h"

/* trace() of a number: as wide as the longest of its size, and one blank; quiet: as it is. */
void ki_d_show_number(FILE *f, struct ki_d_type t, uint64_t value, bool quiet);

/* A number that is a key of an aggregation. */
void ki_d_show_key(FILE *f, unsigned int size, uint64_t value);

/*
 * Memory: 16 bytes a line, in hex and as characters.
 */
void ki_d_show_bytes(FILE *f, const uint8_t *bytes, size_t n);

bool ki_d_show_is_text(const uint8_t *bytes, size_t n); /* then zeros, if anything */

/* Characters as they are, or, if not all of them can be printed, memory. width 0: no blanks. */
void ki_d_show_text_or_bytes(FILE *f, const uint8_t *bytes, size_t n, int width);

/* A conversion of a number, %a and %A too. */
void ki_d_show_conversion(struct ki_dlang *d, FILE *f, const struct ki_d_spec *s, int width,
			  struct ki_d_type t, uint64_t value);

/* A stack by its word (KI_D_DEPTH_SHIFT): 0, or -ENOENT. */
struct ki_stack;
int ki_d_stack_get(const struct ki_dlang *d, uint64_t word, struct ki_stack *out);
/* A stack by its word: a newline, and a line for each frame after so many blanks. frames 0: as
 * options say. */
void ki_d_stack_print(struct ki_dlang *d, uint64_t word, unsigned int frames, int indent, FILE *f);

#endif
