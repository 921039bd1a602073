/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The functions that a name or glob means.
 */
#ifndef KERNINST_MATCH_H
#define KERNINST_MATCH_H

#include "kerninst/target.h"
#include "kerninst/pointspec.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef int ki_match_fn(void *ctx, const struct ki_symbol *sym);

/* Padding before a function has a symbol of its own, which is no function. */
bool ki_match_is_padding(const struct ki_symbol *sym);

/*
 * Call fn for every function that the spec names, in order of address; aliases only if they are
 * named literally. Stops when fn returns something else than 0, and returns that; *count says
 * how many matched.
 */
int ki_match_each(struct ki_target *t, const struct ki_pointspec *spec, ki_match_fn *fn, void *ctx,
		  size_t *count);

/* The first function that the spec, of this text, names, and how many more there are at other
   addresses. 0; -ENOENT: it names nothing; -EFAULT: there is no function at that address. */
int ki_match_first(struct ki_target *t, const struct ki_pointspec *spec, const char *text,
		   const struct ki_symbol **sym, size_t *others, struct ki_err *err);

/* Of a spec that names nothing: why, and what is named nearly so. */
#define KI_MATCH_WHY 1280
void ki_match_nothing(struct ki_target *t, const struct ki_pointspec *spec, char why[KI_MATCH_WHY]);

/* Do functions at several addresses have this name? */
bool ki_match_is_ambiguous(struct ki_target *t, const struct ki_symbol *sym);

#ifdef __cplusplus
}
#endif

#endif
