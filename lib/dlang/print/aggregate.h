/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_DLANG_AGGREGATE_H
#define KI_DLANG_AGGREGATE_H

#include <stdio.h>

#include "dlang/program.h"

/*
 * Print aggregations that have keys of the same types, a line for each key that one of them has.
 * fmt NULL: in columns. They are not printed again at the end.
 */
int ki_d_agg_print(struct ki_dlang *d, struct ki_d_agg *const *aggs, unsigned int n,
		   const char *fmt, FILE *f, struct ki_err *err);

/* The number of a row, normalized; not of distributions. */
int64_t ki_d_agg_value(const struct ki_d_agg *a, const uint64_t *values);

#endif
