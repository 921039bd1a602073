/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A function as kerninst list shows it: how much there is of it, and, where it has been analysed
 * by itself, its windows.
 */
#ifndef KERNINST_WINDOWS_H
#define KERNINST_WINDOWS_H

#include <stdio.h>

#include "kerninst/splice.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_json;

struct ki_window_list {
	const struct ki_symbol *sym;
	uint32_t blocks, insns;
	unsigned int reason; /* why nothing in it can be instrumented */
	size_t ready;	     /* windows that can be used */
	struct ki_function *fn;
	struct ki_spans spans;
};

int ki_window_list_find(struct ki_window_list *w, struct ki_target *t, const struct ki_symbol *sym,
			struct ki_err *err);
void ki_window_list_free(struct ki_window_list *w);

/* Blocks, windows, instructions. */
void ki_window_list_print(const struct ki_window_list *w, FILE *out);

/* The members "aliases" and "window_list" of an open object. */
void ki_window_list_json(const struct ki_window_list *w, struct ki_json *j);

#ifdef __cplusplus
}
#endif

#endif
