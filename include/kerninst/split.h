/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is measured, taken apart by predicates: --split, once for each part. What none of them is
 * true of is the part "else".
 */
#ifndef KERNINST_SPLIT_H
#define KERNINST_SPLIT_H

#include "kerninst/predicate.h"
#include "when.h"

#define SPLITS_MAX 16

struct split {
	const char *name;
	char *text;		   /* what was written behind the name; NULL: else */
	struct ki_predicate *when; /* with what holds for all */
};

struct splits {
	struct split v[SPLITS_MAX + 1];
	unsigned int n; /* 0: nothing is taken apart */
};

/* "[NAME:]PREDICATE": CLI_OK, or reported. The text must outlive it. */
int splits_add(struct splits *s, const struct verb *self, char *text);

/* All are known, and what holds for all: make the predicates, and that of the rest. */
int splits_make(struct splits *s, const struct verb *self, const struct when *w);
void splits_free(struct splits *s);

#endif
