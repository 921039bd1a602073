/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Tables for people: aligned columns. Cells are collected until they are printed; columns are
 * as wide as their widest cell so far, and not less than asked for, so a table can also be
 * printed row by row. The first failure is kept and comes back from ki_table_print.
 */
#ifndef KI_OUT_TABLE_H
#define KI_OUT_TABLE_H

#include <stdbool.h>
#include <stdio.h>

enum ki_align { KI_ALIGN_LEFT, KI_ALIGN_RIGHT };

struct ki_column {
	const char *title; /* lives as long as the table */
	enum ki_align align;
	unsigned int width; /* at least; 0: as needed */
};

struct ki_table;

int ki_table_new(struct ki_table **out, const struct ki_column *columns, unsigned int n);
void ki_table_free(struct ki_table *t); /* NULL is allowed */

/* The next cell, row after row. */
void ki_table_cell(struct ki_table *t, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/*
 * Write the whole rows there are and forget them; at the first call the titles before, in bold
 * if asked for. 0, or a negative errno.
 */
int ki_table_print(struct ki_table *t, FILE *out, bool bold);

/* The same as values with a character between them; what could be taken for something else is in
   quotes (RFC 4180). */
int ki_table_print_csv(struct ki_table *t, FILE *out, char separator);

#endif
