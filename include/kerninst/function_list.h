/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Functions in a row each, and whether something can be put into them: kerninst list. All functions
 * of a program, or some, one by one, with their windows.
 */
#ifndef KERNINST_FUNCTION_LIST_H
#define KERNINST_FUNCTION_LIST_H

#include "kerninst/page.h"
#include "kerninst/select.h"
#include "kerninst/windows.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_program;
struct ki_table;

struct ki_function_totals {
	uint64_t functions, ready, blocks, insns, windows, boards[KI_BOARD_KINDS];
	size_t refused[KI_R_COUNT];
};

struct ki_function_list {
	struct ki_page page;	/* given; verbose: each block, its windows and instructions */
	struct ki_target *t;	/* given */
	struct ki_table *table; /* NULL: JSON, or verbose */
	bool whole;		/* all functions, as a program: no windows */
	struct ki_function_totals totals;
};

/* Rows for these functions will follow, in this order: the widths of columns. 0, or -ENOMEM. */
int ki_function_list_new(struct ki_function_list *l, const struct ki_selection *s);
void ki_function_list_row(struct ki_function_list *l, const struct ki_window_list *w);

/* Instead of both: all functions of a program, until the page takes no more. 0, or -ENOMEM. */
int ki_function_list_program(struct ki_function_list *l, const struct ki_program *p);

void ki_function_list_totals(const struct ki_function_list *l, FILE *out);
void ki_function_list_free(struct ki_function_list *l);

#ifdef __cplusplus
}
#endif

#endif
