/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Of many values the least, the mean, the greatest, the sum, and how they are spread.
 */
#ifndef KERNINST_CHRONICLE_SPREAD_H
#define KERNINST_CHRONICLE_SPREAD_H

#include "chronicle.h"
#include "kerninst/snippet.h"

struct spread {
	uint64_t n, least, most;
	double sum;
	uint64_t buckets[KI_LOG2_BUCKETS];
};

/* Of field f, n times. */
void spread_add(struct spread *s, const struct ki_record_field *f, uint64_t v, uint64_t n);

/* A line, and a histogram if it is a quantity. Not of none. */
void spread_print(const struct chronicle *c, const struct ki_record_field *f,
		  const struct spread *s);

#endif
