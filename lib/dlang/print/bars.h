/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Distributions as bars: a line for each bucket, from before the first that is not empty to behind
 * the last.
 */
#ifndef KI_DLANG_BARS_H
#define KI_DLANG_BARS_H

#include <stdio.h>

#include "dlang/program.h"

/* Is it printed as bars? */
bool ki_d_is_distribution(const struct ki_d_agg *a);

/* values: of a row. Counts may be negative: the bars of these grow to the left. */
void ki_d_bars_print(const struct ki_d_agg *a, const uint64_t *values, FILE *f);

/*
 * The next bucket from *bucket on that is not empty, which *bucket is behind then: its least value
 * (of the first and last one of lquantize: next to its bound) and its count, normalized.
 */
bool ki_d_bars_next(const struct ki_d_agg *a, const uint64_t *values, uint32_t *bucket,
		    int64_t *low, int64_t *count);

/*
 * What rows are sorted by: the sum of each bucket's least value times its count; and for equal ones
 * the count of the bucket of zeros.
 */
long double ki_d_bars_weight(const struct ki_d_agg *a, const uint64_t *values, int64_t *zeros);

#endif
