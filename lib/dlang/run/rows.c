// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/run/rows.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/print/place.h"
#include "dlang/print/sort.h"
#include "table/map.h"

#define ALL_CPUS UINT32_MAX
#define MIDDLE	 (KI_D_QUANTIZE_BUCKETS / 2) /* the bucket of zeros */

void ki_d_rows_free(struct ki_d_rows *r)
{
	free(r->words);
	r->words = NULL;
	r->n = 0;
}

/* ---- buckets ---- */

/* Buckets below the middle are those of negative values: -1, -2 to -3, -4 to -7 ... */
int64_t ki_d_bucket_low(unsigned int bucket)
{
	if (bucket > MIDDLE)
		return (int64_t)(UINT64_C(1) << (bucket - MIDDLE - 1));
	return bucket == MIDDLE ? 0 : -(int64_t)(UINT64_C(1) << (MIDDLE - bucket - 1));
}

uint64_t ki_d_bucket_count(const uint64_t *values, unsigned int bucket)
{
	if (bucket >= MIDDLE)
		return values[bucket - MIDDLE];
	values += KI_TABLE_LOG2_WORDS;
	/* the first one has all that is lower */
	return values[MIDDLE - bucket] + (bucket ? 0 : values[MIDDLE + 1]);
}

int64_t ki_d_row_number(const struct ki_d_agg *a, const uint64_t *values)
{
	switch (ki_d_agg_kind(a)) {
	case KI_D_AVG:
		return values[KI_STATS_COUNT]
			       ? (int64_t)values[KI_STATS_SUM] / (int64_t)values[KI_STATS_COUNT]
			       : 0;
	case KI_D_STDDEV:
		return (int64_t)ki_table_deviation(values);
	default:
		return (int64_t)values[0];
	}
}

/* ---- reading ---- */

struct sorting {
	const struct ki_dlang *d;
	const struct ki_d_agg *a;
	uint32_t keys;
};

static int by_key(const void *x, const void *y, void *arg)
{
	const struct sorting *s = arg;
	const uint64_t *a = x, *b = y;

	for (uint32_t i = 0; i < s->keys; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

static int by_value(const void *x, const void *y, void *arg)
{
	const struct sorting *s = arg;
	const uint64_t *a = x, *b = y;
	int order = ki_d_value_compare(s->a, a + s->keys, b + s->keys);

	return order ? order : ki_d_key_compare(s->d, s->a, a, s->a, b, 0);
}

/* The lower half of a sum of squares is before the upper one, which takes the carry. */
static void merge_values(const struct ki_d_agg *a, uint64_t *to, const uint64_t *from, uint32_t n)
{
	uint8_t merge[KI_TABLE_VALUES];
	bool carry = false;

	ki_d_agg_merges(a, merge);
	for (uint32_t i = 0; i < n; i++) {
		const bool less = (int64_t)from[i] < (int64_t)to[i];
		const uint64_t sum = to[i] + from[i] + (merge[i] == KI_MERGE_CARRY && carry);

		carry = sum < from[i];
		if (merge[i] == KI_MERGE_MIN || merge[i] == KI_MERGE_MAX)
			to[i] = less == (merge[i] == KI_MERGE_MIN) ? from[i] : to[i];
		else if (merge[i] == KI_MERGE_UMIN || merge[i] == KI_MERGE_UMAX)
			to[i] = (from[i] < to[i]) == (merge[i] == KI_MERGE_UMIN) ? from[i] : to[i];
		else
			to[i] = sum;
	}
}

/* Rows of one key, which stand side by side, become one. */
static void merge(const struct ki_d_agg *a, struct ki_d_rows *r)
{
	const uint32_t width = r->keys + r->values;
	size_t kept = 0;

	for (size_t i = 0; i < r->n; i++) {
		uint64_t *row = r->words + i * width, *last = r->words + (kept - 1) * width;

		if (kept && !memcmp(row, last, r->keys * sizeof(*row)))
			merge_values(a, last + r->keys, row + r->keys, r->values);
		else
			memmove(r->words + kept++ * width, row, width * sizeof(*row));
	}
	r->n = kept;
}

/* Without the epoch, and those of this one only. */
static void copy_rows(const struct ki_d_agg *a, const struct ki_table_reading *t,
		      struct ki_d_rows *out)
{
	const uint32_t width = out->keys + out->values;
	const uint64_t *row = t->words;

	for (size_t i = 0; i < t->n; i++, row += t->keys + t->values)
		if (!a->renewed || *row == a->epoch)
			memcpy(out->words + out->n++ * width, row + a->renewed,
			       width * sizeof(*row));
}

/* What has a weight counts so often. */
static void weigh_rows(const struct ki_table_reading *t, struct ki_d_rows *out)
{
	const uint64_t *row = t->words;

	for (size_t i = 0; i < t->n; i++, row += t->keys + t->values) {
		uint64_t *to = out->words + out->n++ * (out->keys + out->values);

		memcpy(to, row + 1, (out->keys + out->values) * sizeof(*row));
		for (uint32_t k = 0; k < out->values; k++)
			to[out->keys + k] *= *row;
	}
}

static int read_table(const struct ki_d_agg *a, unsigned int cpu, struct ki_table_reading **out,
		      struct ki_err *err)
{
	return cpu == ALL_CPUS ? ki_table_read(a->table, out, err)
			       : ki_table_read_cpu(a->table, cpu, out, err);
}

static uint64_t read_counter(const struct ki_dlang *d, uint32_t n, unsigned int cpu)
{
	return cpu == ALL_CPUS ? ki_counter_read(d->run->counters, n)
			       : ki_counter_read_cpu(d->run->counters, n, cpu);
}

static int read_all(struct ki_dlang *d, struct ki_d_agg *a, unsigned int cpu, struct ki_d_rows *out,
		    struct ki_err *err)
{
	struct ki_table_reading *t;
	int ret = read_table(a, cpu, &t, err);
	uint32_t width;
	uint64_t *to;

	if (ret)
		return ret;
	*out = (struct ki_d_rows){.keys = t->keys - a->renewed - a->weighted, .values = t->values};
	width = out->keys + t->values;
	out->words = calloc((t->n + a->cells.n + 1) * width, sizeof(*out->words));
	if (out->words && a->weighted)
		weigh_rows(t, out);
	else if (out->words)
		copy_rows(a, t, out);
	ki_table_reading_free(t);
	if (!out->words)
		return ki_d_no_memory(err);
	for (size_t i = 0; i < a->cells.n; i++) {
		bool any = false;

		to = out->words + out->n * width;
		memcpy(to, a->cells.v[i].key, out->keys * sizeof(*to));
		for (uint32_t k = 0; k < out->values; k++) {
			to[out->keys + k] = read_counter(d, a->cells.v[i].counter + k, cpu);
			any |= to[out->keys + k] != 0;
		}
		out->n += any;
	}
	return 0;
}

/* ---- what has been cleared ---- */

static struct ki_d_base *base_of(struct ki_d_agg *a, const uint64_t *key, uint32_t keys)
{
	for (size_t i = 0; i < a->base.n; i++)
		if (!memcmp(a->base.v[i].key, key, keys * sizeof(*key)))
			return &a->base.v[i];
	return NULL;
}

/* The lower halves first: a borrow goes to the next word of the squares. */
static bool take_away(const struct ki_d_agg *a, uint64_t *values, const uint64_t *old, uint32_t n)
{
	const bool stats = a->fn->values == KI_TABLE_STATS_WORDS;
	bool changed = false, borrow = false;

	for (uint32_t i = 0; i < n; i++) {
		const uint64_t was = values[i];

		if (stats && (i == KI_STATS_MIN || i == KI_STATS_MAX))
			continue;
		values[i] -= old[i] + (stats && i == KI_STATS_SQUARES_HIGH && borrow);
		borrow = was < old[i];
		changed |= was != old[i];
	}
	return changed;
}

static void subtract(struct ki_d_agg *a, struct ki_d_rows *r)
{
	const uint32_t width = r->keys + r->values;
	size_t kept = 0;

	for (size_t i = 0; a->base.n && i < r->n; i++) {
		uint64_t *row = r->words + i * width;
		const struct ki_d_base *b = base_of(a, row, r->keys);
		bool changed = !b || take_away(a, row + r->keys, b->values, r->values);

		if (changed || !b->hidden)
			memmove(r->words + kept++ * width, row, width * sizeof(*row));
	}
	if (a->base.n)
		r->n = kept;
}

/* Addresses of one place are one key. Are there any? */
static bool name_places(struct ki_dlang *d, const struct ki_d_agg *a, const struct ki_d_rows *r)
{
	uint32_t at = 0;
	bool any = false;

	for (unsigned int k = 0; k < a->nkeys; k++) {
		uint64_t *word = r->words + at;

		at += ki_d_form_words(a->forms[k]);
		if (a->forms[k] == KI_D_FORM_STACK && a->keys[k].num && r->n) {
			any = true;
			ki_d_stacks_first(d, a->keys[k].num, word, r->n, r->keys + r->values);
		}
		if (!ki_d_is_place(a->keys[k]))
			continue;
		any = true;
		for (size_t i = 0; i < r->n; i++, word += r->keys + r->values)
			ki_d_place_first(d, (enum ki_d_place)a->keys[k].num, word);
	}
	return any;
}

static int read_raw(struct ki_dlang *d, struct ki_d_agg *a, unsigned int cpu, struct ki_d_rows *out,
		    struct ki_err *err)
{
	struct sorting s = {.a = a};
	int ret = read_all(d, a, cpu, out, err);

	if (ret || !(name_places(d, a, out) || a->cells.n || a->weighted))
		return ret;
	s.keys = out->keys;
	qsort_r(out->words, out->n, (out->keys + out->values) * sizeof(*out->words), by_key, &s);
	merge(a, out);
	return 0;
}

int ki_d_rows_read(struct ki_dlang *d, struct ki_d_agg *a, struct ki_d_rows *out,
		   struct ki_err *err)
{
	struct sorting s = {.d = d, .a = a};
	int ret = read_raw(d, a, ALL_CPUS, out, err);

	if (ret)
		return ret;
	subtract(a, out);
	s.keys = out->keys;
	qsort_r(out->words, out->n, (out->keys + out->values) * sizeof(*out->words), by_value, &s);
	return 0;
}

int ki_d_rows_read_cpu(struct ki_dlang *d, struct ki_d_agg *a, unsigned int cpu,
		       struct ki_d_rows *out, struct ki_err *err)
{
	return read_raw(d, a, cpu, out, err);
}

static bool has_key(const struct ki_d_rows *r, const uint64_t *key)
{
	for (size_t i = 0; i < r->n; i++)
		if (!memcmp(ki_d_row_key(r, i), key, r->keys * sizeof(*key)))
			return true;
	return false;
}

/* From here on these values are nothing. */
static int set_base(struct ki_d_agg *a, const struct ki_d_rows *r, size_t i, bool hidden)
{
	struct ki_d_base *b = base_of(a, ki_d_row_key(r, i), r->keys);

	if (!b) {
		if (ki_vec_push(&a->base, (struct ki_d_base){.hidden = hidden}))
			return -ENOMEM;
		b = &a->base.v[a->base.n - 1];
		memcpy(b->key, ki_d_row_key(r, i), r->keys * sizeof(*b->key));
		b->values = calloc(r->values, sizeof(*b->values));
		if (!b->values) {
			a->base.n--;
			return -ENOMEM;
		}
	}
	b->hidden = hidden;
	memcpy(b->values, ki_d_row_values(r, i), r->values * sizeof(*b->values));
	return 0;
}

int ki_d_agg_clear(struct ki_dlang *d, struct ki_d_agg *a, bool keys, int64_t keep,
		   struct ki_err *err)
{
	struct ki_d_rows shown, raw = {0}, kept;
	size_t n = (size_t)(keep < 0 ? -keep : keep);
	int ret;

	if (a->renewed && !n)
		return ki_global_set(d->run->t, a->of_epoch, ++a->epoch, err);
	ret = ki_d_rows_read(d, a, &shown, err);
	if (!ret)
		ret = read_raw(d, a, ALL_CPUS, &raw, err);
	if (ret) {
		ki_d_rows_free(&shown);
		return ret;
	}
	kept = shown;
	kept.n = n < shown.n ? n : shown.n;
	if (keep > 0) /* the highest */
		kept.words = shown.words + (shown.n - kept.n) * (shown.keys + shown.values);
	for (size_t i = 0; !ret && i < raw.n; i++)
		if (!keys || !has_key(&kept, ki_d_row_key(&raw, i)))
			ret = set_base(a, &raw, i, keys);
	ki_d_rows_free(&raw);
	ki_d_rows_free(&shown);
	return ret ? ki_d_no_memory(err) : 0;
}
