/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What is measured, taken apart by predicates: --split, once for each part. What none of them is
 * true of is the part "else".
 */
#ifndef KERNINST_SPLIT_H
#define KERNINST_SPLIT_H

#include "kerninst/predicate.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KI_SPLITS_MAX 16

struct ki_split {
	const char *name;
	char *text;		   /* what was written after the name; NULL: else */
	struct ki_predicate *when; /* with what holds for all */
};

struct ki_splits {
	struct ki_split v[KI_SPLITS_MAX + 1];
	unsigned int n; /* 0: nothing is taken apart */
};

/* "[NAME:]PREDICATE": 0, or -EINVAL. The text must outlive it. */
int ki_splits_add(struct ki_splits *s, char *text, struct ki_err *err);

/* All are known, and what holds for all (NULL: nothing): make the predicates, and that of the rest.
 */
int ki_splits_new(struct ki_splits *s, const char *all, struct ki_err *err);
void ki_splits_free(struct ki_splits *s);

#ifdef __cplusplus
}
#endif

#endif
