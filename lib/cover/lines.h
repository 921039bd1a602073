/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Source lines: rows of a file's line tables, and what of a coverage lies where in the file.
 */
#ifndef KI_COVER_LINES_H
#define KI_COVER_LINES_H

#include "cover/strings.h"
#include "kerninst/coverage.h"

/* From addr on, so many bytes (0: another row of the same address follows) belong to a line. */
struct ki_line_row {
	uint64_t addr;	  /* in the file */
	const char *file; /* in strings */
	uint32_t len;
	uint32_t line : 31, stmt : 1; /* stmt: a statement begins here */
};

struct ki_line_symbol {
	const char *name; /* in strings */
	uint64_t addr;	  /* in the file */
	uint64_t size;	  /* 0: not said */
	uint32_t section;
};

/* What a file says. */
struct ki_line_table {
	ki_vec(struct ki_line_row) rows;       /* in order of address */
	ki_vec(struct ki_line_symbol) symbols; /* functions, in order of name and address */
	uint32_t nsections;
	struct ki_strings strings;
};

/* Free it in any case. -ENOTSUP: built without libdw. */
int ki_line_table_read(const char *path, struct ki_line_table *t, struct ki_err *err);
void ki_line_table_free(struct ki_line_table *t);

/* The row that covers a byte of a function, or NULL. */
const struct ki_line_row *ki_cover_lines_at(const struct ki_cover_lines *l, size_t function,
					    uint32_t off);

/* Rows that touch bytes of a function: *n of them, or NULL. */
const struct ki_line_row *ki_cover_lines_rows(const struct ki_cover_lines *l, size_t function,
					      uint32_t off, uint32_t len, size_t *n);

#endif
