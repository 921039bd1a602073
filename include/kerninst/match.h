/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The functions that a name or glob means.
 */
#ifndef KERNINST_COMMON_MATCH_H
#define KERNINST_COMMON_MATCH_H

#include "kerninst/target.h"
#include "pointspec.h"
#include "util/vec.h"

typedef int match_fn(void *ctx, const struct ki_symbol *sym);

/* Padding before a function has a symbol of its own, which is no function. */
bool match_is_padding(const struct ki_symbol *sym);

/*
 * Call fn for every function that the spec names, in order of address; aliases only if they are
 * named literally. Stops when fn returns something else than 0, and returns that; *count says
 * how many matched.
 */
int match_each(struct ki_target *t, const struct pointspec *spec, match_fn *fn, void *ctx,
	       size_t *count);

/* Of a spec that names nothing: why, and what is named nearly so. */
#define MATCH_WHY 1280
void match_nothing(struct ki_target *t, const struct pointspec *spec, char why[MATCH_WHY]);

/* Do functions at several addresses have this name? */
bool match_is_ambiguous(struct ki_target *t, const struct ki_symbol *sym);

#endif
