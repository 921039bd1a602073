/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * An aggregation as it is now: a row for each key, of all CPUs, without what has been cleared.
 */
#ifndef KI_DLANG_ROWS_H
#define KI_DLANG_ROWS_H

#include "dlang/words/names.h"
#include "dlang/run/run.h"

struct ki_d_rows {
	uint64_t *words; /* of each row its key, then its values */
	size_t n;
	uint32_t keys, values;
};

/* All rows, the one with the lowest value first. Free with ki_d_rows_free. */
int ki_d_rows_read(struct ki_dlang *d, struct ki_d_agg *a, struct ki_d_rows *out,
		   struct ki_err *err);
/* Those of one CPU, in no order; what clear() and trunc() took away of all CPUs is still there. */
int ki_d_rows_read_cpu(struct ki_dlang *d, struct ki_d_agg *a, unsigned int cpu,
		       struct ki_d_rows *out, struct ki_err *err);
void ki_d_rows_free(struct ki_d_rows *r);

static inline const uint64_t *ki_d_row_key(const struct ki_d_rows *r, size_t i)
{
	return r->words + i * (r->keys + r->values);
}

static inline const uint64_t *ki_d_row_values(const struct ki_d_rows *r, size_t i)
{
	return ki_d_row_key(r, i) + r->keys;
}

/* The number of a row: what it is sorted by, and printed; not of distributions. */
int64_t ki_d_row_number(const struct ki_d_agg *a, const uint64_t *values);

/* The least value of a bucket; of quantize they are numbered from the most negative one on. */
#define KI_D_QUANTIZE_BUCKETS 127
int64_t ki_d_bucket_low(unsigned int bucket);
uint64_t ki_d_bucket_count(const uint64_t *values, unsigned int bucket);

#endif
