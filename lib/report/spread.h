/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Of many values the least, the mean, the greatest, the sum, and how they are spread.
 */
#ifndef KI_REPORT_SPREAD_H
#define KI_REPORT_SPREAD_H

#include "report/inside.h"
#include "kerninst/snippet.h"

struct spread {
	uint64_t n, least, most;
	double sum;
	uint64_t buckets[KI_LOG2_BUCKETS];
};

/* Of field f, n times. */
void ki_spread_add(struct spread *s, const struct ki_record_field *f, uint64_t v, uint64_t n);

/* A line, and a histogram if it is a quantity. Not of none. */
void ki_spread_print(const struct ki_report *c, const struct ki_record_field *f,
		     const struct spread *s);

#endif
