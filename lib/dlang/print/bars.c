// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/print/bars.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/run/rows.h"

#define BAR   40
#define LABEL 32 /* bytes */

#define ABSOLUTE "abs() "

/* How the buckets of an aggregation are numbered, from the least values on. */
struct kind {
	uint32_t (*n)(const struct ki_d_agg *a);
	int64_t (*count)(const struct ki_d_agg *a, const uint64_t *values, uint32_t bucket);
	/* The least value that is counted there, or that stands for it; label: how it is called. */
	int64_t (*low)(const struct ki_d_agg *a, uint32_t bucket, char label[LABEL]);
	uint32_t (*zero)(const struct ki_d_agg *a); /* the bucket of 0; n: none */
	bool around; /* if all are empty, three lines: from `before` before that one on */
	uint8_t before;
};

/* ---- quantize ---- */

static uint32_t log2_n(const struct ki_d_agg *a)
{
	(void)a;
	return KI_D_QUANTIZE_BUCKETS;
}

static int64_t log2_count(const struct ki_d_agg *a, const uint64_t *values, uint32_t bucket)
{
	(void)a;
	return (int64_t)ki_d_bucket_count(values, bucket);
}

static int64_t log2_low(const struct ki_d_agg *a, uint32_t bucket, char label[LABEL])
{
	int64_t low = ki_d_bucket_low(bucket);

	(void)a;
	snprintf(label, LABEL, "%" PRId64, low);
	return low;
}

static uint32_t log2_zero(const struct ki_d_agg *a)
{
	(void)a;
	return KI_D_QUANTIZE_BUCKETS / 2;
}

/* ---- lquantize ---- */

static uint32_t linear_n(const struct ki_d_agg *a)
{
	return ki_linear_buckets(&a->linear);
}

static int64_t plain_count(const struct ki_d_agg *a, const uint64_t *values, uint32_t bucket)
{
	(void)a;
	return (int64_t)values[bucket];
}

static int64_t linear_low(const struct ki_d_agg *a, uint32_t bucket, char label[LABEL])
{
	const uint32_t n = linear_n(a);
	int64_t low = a->linear.low, high;

	if (!bucket) {
		snprintf(label, LABEL, "< %" PRId64, low);
		return low - 1;
	}
	ki_linear_bounds(&a->linear, bucket, &low, &high);
	if (bucket == n - 1)
		low = a->linear.high;
	snprintf(label, LABEL, "%s%" PRId64, bucket == n - 1 ? ">= " : "", low);
	return low;
}

static uint32_t linear_zero(const struct ki_d_agg *a)
{
	const struct ki_linear *l = &a->linear;

	if (l->low > 0 || l->high <= 0)
		return linear_n(a);
	return 1 + (uint32_t)((uint64_t)-l->low / l->step);
}

/* ---- llquantize ---- */

static uint32_t log_n(const struct ki_d_agg *a)
{
	return ki_d_log_buckets(&a->log);
}

static int64_t log_count(const struct ki_d_agg *a, const uint64_t *values, uint32_t bucket)
{
	int64_t value;

	return (int64_t)values[ki_d_log_bucket(&a->log, bucket, &value)];
}

static int64_t log_low(const struct ki_d_agg *a, uint32_t bucket, char label[LABEL])
{
	int64_t value;

	ki_d_log_bucket(&a->log, bucket, &value);
	if (!value && a->log.low)
		snprintf(label, LABEL, ABSOLUTE "< %" PRId64, ki_d_log_power(&a->log, a->log.low));
	else
		snprintf(label, LABEL, "%s%" PRId64,
			 !bucket		  ? "<= "
			 : bucket == log_n(a) - 1 ? ">= "
						  : "",
			 value);
	return value;
}

static uint32_t log_zero(const struct ki_d_agg *a)
{
	return ki_d_log_middle(&a->log);
}

/* ---- all ---- */

static const struct kind log2_kind = {log2_n, log2_count, log2_low, log2_zero, true, 1};
static const struct kind linear_kind = {linear_n, plain_count, linear_low, linear_zero, false, 0};
static const struct kind log_kind = {log_n, log_count, log_low, log_zero, true, 0};

static const struct kind *kind_of(const struct ki_d_agg *a)
{
	switch (ki_d_agg_kind(a)) {
	case KI_D_QUANTIZE:
		return &log2_kind;
	case KI_D_LQUANTIZE:
		return &linear_kind;
	case KI_D_LLQUANTIZE:
		return &log_kind;
	default:
		return NULL;
	}
}

bool ki_d_is_distribution(const struct ki_d_agg *a)
{
	return kind_of(a);
}

/* What is printed: buckets first to last; whose counts are both ways, or one. */
struct range {
	uint32_t first, last;
	long double total;
	bool above, below; /* there are positive counts, negative ones */
};

static void find_range(const struct kind *k, const struct ki_d_agg *a, const uint64_t *values,
		       struct range *r)
{
	const uint32_t n = k->n(a);

	*r = (struct range){.first = n};
	for (uint32_t i = 0; i < n; i++) {
		int64_t count = k->count(a, values, i);

		if (!count)
			continue;
		r->first = r->first < i ? r->first : i;
		r->last = i;
		r->total += count < 0 ? -(long double)count : (long double)count;
		r->above |= count > 0;
		r->below |= count < 0;
	}
	if (r->first == n) {
		r->first = k->around ? k->zero(a) - k->before : 0;
		r->last = r->first + 2 < n ? r->first + 2 : n - 1;
		return;
	}
	r->first -= r->first > 0;
	r->last += r->last < n - 1;
}

static void put(FILE *f, char c, int n)
{
	while (n-- > 0)
		fputc(c, f);
}

static void print_bar(FILE *f, int64_t count, const struct range *r, int64_t normal)
{
	const int room = r->above && r->below ? BAR / 2 : BAR;
	long double part = count < 0 ? -(long double)count : (long double)count;
	int n = r->total > 0 ? (int)(part * room / r->total + 0.5L) : 0;

	if (!r->below) {
		fputc('|', f);
		put(f, '@', n);
		put(f, ' ', BAR - n);
	} else if (!r->above || count <= 0) {
		put(f, ' ', room - n);
		put(f, '@', n);
		fputc('|', f);
		put(f, ' ', BAR - room);
	} else {
		put(f, ' ', room);
		fputc('|', f);
		put(f, '@', n);
		put(f, ' ', room - n);
	}
	fprintf(f, " %-9" PRId64 "\n", count / normal);
}

void ki_d_bars_print(const struct ki_d_agg *a, const uint64_t *values, FILE *f)
{
	const struct kind *k = kind_of(a);
	char label[LABEL];
	struct range r;
	size_t less;

	find_range(k, a, values, &r);
	fprintf(f, "\n%16s %41s %-9s\n", "value", "------------- Distribution -------------",
		"count");
	for (uint32_t i = r.first; i <= r.last; i++) {
		k->low(a, i, label);
		/* "abs() < 10" is "< 10" where nothing lower is printed */
		less = i == r.first && !strncmp(label, ABSOLUTE, strlen(ABSOLUTE))
			       ? strlen(ABSOLUTE)
			       : 0;
		fprintf(f, "%16s ", label + less);
		print_bar(f, k->count(a, values, i), &r, (int64_t)a->normal);
	}
}

bool ki_d_bars_next(const struct ki_d_agg *a, const uint64_t *values, uint32_t *bucket,
		    int64_t *low, int64_t *count)
{
	const struct kind *k = kind_of(a);
	char label[LABEL];

	for (uint32_t n = k->n(a); *bucket < n;) {
		const uint32_t i = (*bucket)++;
		const int64_t here = k->count(a, values, i);

		if (!here)
			continue;
		*low = k->low(a, i, label);
		*count = here / (int64_t)a->normal;
		return true;
	}
	return false;
}

long double ki_d_bars_weight(const struct ki_d_agg *a, const uint64_t *values, int64_t *zeros)
{
	const struct kind *k = kind_of(a);
	const uint32_t n = k->n(a), zero = k->zero(a);
	long double sum = 0;
	char label[LABEL];

	for (uint32_t i = 0; i < n; i++) {
		int64_t count = k->count(a, values, i);

		if (count)
			sum += (long double)k->low(a, i, label) * (long double)count;
	}
	*zeros = zero < n ? k->count(a, values, zero) : 0;
	return sum;
}
