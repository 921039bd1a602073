/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A function as kerninst list shows it: how much there is of it, and, where it has been analysed
 * by itself, its windows.
 */
#ifndef KERNINST_WINDOWS_H
#define KERNINST_WINDOWS_H

#include "kerninst/splice.h"
#include "out/json.h"

struct windows {
	const struct ki_symbol *sym;
	uint32_t blocks, insns;
	unsigned int reason; /* why nothing in it can be instrumented */
	size_t ready;	     /* windows that can be used */
	struct ki_function *fn;
	struct ki_spans spans;
};

int windows_find(struct windows *w, struct ki_target *t, const struct ki_symbol *sym,
		 struct ki_err *err);
void windows_free(struct windows *w);

/* Blocks, windows, instructions. */
void windows_print(const struct windows *w);

/* The members "aliases" and "window_list" of an open object. */
void windows_json(const struct windows *w, struct ki_json *j);

#endif
