/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The functions that texts name: by name, glob, address.
 */
#ifndef KERNINST_SELECT_H
#define KERNINST_SELECT_H

#include "kerninst/pointspec.h"
#include "kerninst/target.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_selected {
	const struct ki_symbol *sym;
	uint64_t from; /* the address that was named; that of the function if it was a name */
};

struct ki_selection {
	struct ki_selected *v; /* free them */
	size_t n, cap;
};

/*
 * Those that a text names, after the others. offsets: FUNCTION+OFFSET is accepted, too. *spec:
 * what the text says. Returns 0, or:
 *    -ENOMEM
 *    -EILSEQ  it is no text of points
 *    -EISDIR  it names points, not functions
 *    -ENOENT  it names nothing (ki_match_nothing)
 *    other    err says what is wrong
 */
int ki_select(struct ki_target *t, const char *text, bool offsets, struct ki_selection *out,
	      struct ki_pointspec *spec, struct ki_err *err);

/* All functions, once each, in order of address. 0, or -ENOMEM. */
int ki_selection_all(struct ki_selection *out, const struct ki_target *t);

/* In order of address, each once. */
void ki_selection_sort(struct ki_selection *s);

#ifdef __cplusplus
}
#endif

#endif
