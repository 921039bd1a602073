/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kerninst kcov: the places that record themselves. A place that cannot be had for a reason is
 * counted; what else goes wrong ends all.
 */
#ifndef VERBS_KCOV_H
#define VERBS_KCOV_H

#include <stdio.h>

#include "kerninst/splice.h"
#include "util/vec.h"

enum kcov_kind { KCOV_BLOCK, KCOV_COMPARISON, KCOV_KINDS };

struct kcov_place {
	uint64_t addr;
	uint32_t id;  /* in the plan */
	uint8_t kind; /* enum kcov_kind */
};

struct kcov_places {
	struct ki_plan *plan;
	bool move, comparisons;
	ki_vec(struct kcov_place) v;   /* each function's together */
	uint64_t refused[KI_R_COUNT];  /* by reason */
	uint64_t asked[KCOV_KINDS];    /* of all functions */
	uint64_t recorded[KCOV_KINDS]; /* once they are sorted out */
	uint64_t touched;	       /* functions with one that records itself */
};

/* Into the plan. 0, or a negative errno. */
int kcov_add_function(struct kcov_places *p, const struct ki_function *fn, struct ki_err *err);

/* The plan is in: what the driver refused goes, and counts as what was refused before. */
void kcov_sort_out(struct kcov_places *p, const struct ki_target *t);

/* One line for each, ended by a newline; slide: how far the kernel was moved. */
void kcov_write(const struct kcov_places *p, const struct ki_target *t, uint64_t slide, FILE *out);

#endif
