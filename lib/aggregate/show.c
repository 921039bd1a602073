// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The result of kerninst stat --by: rows, the most hit first; distributions after the table.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "out/json.h"
#include "out/table.h"
#include "aggregate/inside.h"
#include "out/seconds.h"

#define BAR	 40
#define AGG_NAME 80
#define COLUMNS	 (11 + KI_AGGREGATE_COLUMNS + KI_TABLE_KEYS)

struct show {
	struct ki_aggregate *b;
	const struct ki_aggregate_show *how;
	struct ki_table_reading *r;
	struct shown {
		size_t row;
		double by; /* what rows are in order of */
	} * rows;
	size_t n, all; /* rows that are shown, of how many */
	char names[KI_AGGREGATE_COLUMNS][AGG_NAME];
};

/* One of the numbers that are kept of a value; times in seconds. */
static double number_of(const struct ki_aggregate_source *s, enum ki_aggregate_fn fn,
			const uint64_t *v)
{
	double n = 0;

	switch (fn) {
	case KI_AGGREGATE_SUM:
		n = (double)(int64_t)v[s->at + KI_STATS_SUM];
		break;
	case KI_AGGREGATE_AVG:
		n = ki_table_mean(v + s->at);
		break;
	case KI_AGGREGATE_MIN:
		n = (double)(int64_t)v[s->at + KI_STATS_MIN];
		break;
	case KI_AGGREGATE_MAX:
		n = (double)(int64_t)v[s->at + KI_STATS_MAX];
		break;
	default:
		n = ki_table_deviation(v + s->at);
	}
	return ki_aggregate_is_time(s) ? n / 1e9 : n;
}

/* ---- cells ---- */

static const char *point_of(const struct show *s, const uint64_t *key)
{
	return *key < s->b->points->v.n ? s->b->points->v.v[*key].name : "?";
}

/* Those that are whole numbers, too large for a double perhaps: where they are. */
static const uint8_t whole[KI_AGGREGATE_FNS] = {[KI_AGGREGATE_SUM] = KI_STATS_SUM,
						[KI_AGGREGATE_MIN] = KI_STATS_MIN,
						[KI_AGGREGATE_MAX] = KI_STATS_MAX};

/* What people read after a field of the key. */
static const char *unit_of(const struct show *s, unsigned int i)
{
	static char unit[64];
	const char *name = s->b->key.fields[i].unit;

	snprintf(unit, sizeof(unit), "%s%s", *name ? " " : "", name);
	return unit;
}

static void put_number(struct ki_table *t, const struct ki_aggregate_source *s,
		       enum ki_aggregate_fn fn, const uint64_t *v, bool plain)
{
	char text[KI_SECONDS_TEXT];

	if (!v[s->at])
		ki_table_cell(t, "-");
	else if (ki_aggregate_is_time(s) && plain)
		ki_table_cell(t, "%.9f", number_of(s, fn, v));
	else if (ki_aggregate_is_time(s))
		ki_table_cell(t, "%s", ki_seconds_text(number_of(s, fn, v), text));
	else if (whole[fn])
		ki_table_cell(t, "%" PRId64, (int64_t)v[s->at + whole[fn]]);
	else
		ki_table_cell(t, "%.1f", number_of(s, fn, v));
}

/* ---- tables ---- */

/* What is said of a value with a distribution. */
static const struct {
	const char *title;
	enum ki_aggregate_fn fn;
} spread[] = {{"SUM", KI_AGGREGATE_SUM},
	      {"AVG", KI_AGGREGATE_AVG},
	      {"STDDEV", KI_AGGREGATE_STDDEV},
	      {"MIN", KI_AGGREGATE_MIN},
	      {"MAX", KI_AGGREGATE_MAX}};

#define SPREADS (sizeof(spread) / sizeof(*spread))

/* "sum(arg2)" */
static void name_agg(const struct ki_aggregate_column *a, char name[AGG_NAME])
{
	snprintf(name, AGG_NAME, "%s(%s)", ki_aggregate_fns[a->fn], a->source->text);
}

static int new_table(struct show *s, struct ki_table **t)
{
	struct ki_column all[COLUMNS];
	unsigned int n = 0;

	if (s->how->timed)
		all[n++] = (struct ki_column){"TIME", KI_ALIGN_RIGHT, 8};
	all[n++] = (struct ki_column){"COUNT", KI_ALIGN_RIGHT, 12};
	all[n++] = (struct ki_column){"RATE/S", KI_ALIGN_RIGHT, 12};
	for (unsigned int i = 0; s->b->spread && i < SPREADS; i++)
		all[n++] = (struct ki_column){spread[i].title, KI_ALIGN_RIGHT, 0};
	for (unsigned int i = 0; i < s->b->naggs; i++) {
		name_agg(&s->b->list[i], s->names[i]);
		all[n++] = (struct ki_column){s->names[i], KI_ALIGN_RIGHT, 0};
	}
	all[n++] = (struct ki_column){"POINT", KI_ALIGN_LEFT, 0};
	for (unsigned int i = 0; i < s->b->key.n; i++)
		if (!ki_field_goes_on(s->b->key.fields, i))
			all[n++] = (struct ki_column){s->b->key.fields[i].name, KI_ALIGN_RIGHT, 0};
	if (s->b->spread && s->how->separator) {
		all[n++] = (struct ki_column){"BUCKET", KI_ALIGN_LEFT, 0};
		all[n++] = (struct ki_column){"HITS", KI_ALIGN_RIGHT, 0};
	}
	return ki_table_new(t, all, n);
}

static void put_row(const struct show *s, struct ki_table *t, size_t i)
{
	const uint64_t *key = ki_table_key(s->r, i), *v = ki_table_values(s->r, i);
	const uint64_t hits = v[s->b->counted];
	char buf[KI_FIELD_TEXT];

	if (s->how->timed)
		ki_table_cell(t, "%.3f", s->how->time);
	ki_table_cell(t, "%" PRIu64, hits);
	ki_table_cell(t, "%.1f", s->how->seconds > 0 ? (double)hits / s->how->seconds : 0.0);
	for (unsigned int k = 0; s->b->spread && k < SPREADS; k++)
		put_number(t, s->b->spread, spread[k].fn, v, s->how->separator);
	for (unsigned int k = 0; k < s->b->naggs; k++)
		put_number(t, s->b->list[k].source, (enum ki_aggregate_fn)s->b->list[k].fn, v,
			   s->how->separator);
	ki_table_cell(t, "%s", point_of(s, key));
	for (unsigned int k = 0; k < s->b->key.n; k++)
		if (!ki_field_goes_on(s->b->key.fields, k))
			ki_table_cell(t, "%s%s", ki_aggregate_key_text(s->b, key + 1, k, buf),
				      s->how->separator ? "" : unit_of(s, k));
}

static void bounds(const struct show *s, uint32_t bucket, char *buf, size_t len)
{
	uint64_t low, high;
	int64_t first, last;

	if (s->b->is_linear) {
		if (!ki_linear_bounds(&s->b->linear, bucket, &first, &last))
			snprintf(buf, len, "%" PRId64 " - %" PRId64, first, last);
		if (!bucket)
			snprintf(buf, len, "< %" PRId64, s->b->linear.low);
		else if (bucket == s->r->values - s->b->buckets - 1)
			snprintf(buf, len, ">= %" PRId64, s->b->linear.high);
	} else if (!ki_log2_bounds(bucket, &low, &high)) {
		snprintf(buf, len, "%" PRIu64 " - %" PRIu64, low, high);
	}
}

/* As values: a row for each bucket that is not empty. */
static void put_buckets(const struct show *s, struct ki_table *t, size_t i)
{
	const uint64_t *v = ki_table_values(s->r, i);
	char buf[64] = "";

	for (uint32_t k = s->b->buckets; k < s->r->values; k++) {
		if (!v[k])
			continue;
		put_row(s, t, i);
		bounds(s, k - s->b->buckets, buf, sizeof(buf));
		ki_table_cell(t, "%s", buf);
		ki_table_cell(t, "%" PRIu64, v[k]);
	}
}

static void draw(const struct show *s, size_t i)
{
	static const char bar[] = "########################################";
	const uint64_t *key = ki_table_key(s->r, i), *v = ki_table_values(s->r, i);
	uint64_t most = 1;
	char buf[KI_FIELD_TEXT];

	fprintf(s->how->out, "\n%s", point_of(s, key));
	for (unsigned int k = 0; k < s->b->key.n; k++)
		if (!ki_field_goes_on(s->b->key.fields, k))
			fprintf(s->how->out, " %s=%s%s", s->b->key.fields[k].name,
				ki_aggregate_key_text(s->b, key + 1, k, buf), unit_of(s, k));
	fprintf(s->how->out, ": %s%s\n", s->b->spread->text,
		ki_aggregate_is_time(s->b->spread) ? ", ns" : "");
	for (uint32_t k = s->b->buckets; k < s->r->values; k++)
		most = v[k] > most ? v[k] : most;
	for (uint32_t k = s->b->buckets; k < s->r->values; k++) {
		if (!v[k])
			continue;
		bounds(s, k - s->b->buckets, buf, sizeof(buf));
		fprintf(s->how->out, "  %28s %12" PRIu64 " %.*s\n", buf, v[k],
			(int)ceil((double)v[k] / (double)most * BAR), bar);
	}
}

static int show_table(struct show *s)
{
	struct ki_table *t;
	int ret = new_table(s, &t);

	if (ret)
		return ret;
	for (size_t i = 0; i < s->n; i++)
		if (s->b->spread && s->how->separator)
			put_buckets(s, t, s->rows[i].row);
		else
			put_row(s, t, s->rows[i].row);
	ret = s->how->separator ? ki_table_print_csv(t, s->how->out, s->how->separator)
				: ki_table_print(t, s->how->out, s->how->bold);
	ki_table_free(t);
	for (size_t i = 0; !ret && s->b->spread && !s->how->separator && i < s->n; i++)
		draw(s, s->rows[i].row);
	return ret;
}

/* ---- JSON ---- */

static void json_number(struct ki_json *j, const char *name, const struct ki_aggregate_source *s,
			enum ki_aggregate_fn fn, const uint64_t *v)
{
	if (whole[fn] && !ki_aggregate_is_time(s))
		ki_json_i64(j, name, (int64_t)v[s->at + whole[fn]]);
	else
		ki_json_double(j, name, number_of(s, fn, v));
}

static void json_values(struct ki_json *j, const struct show *s, const uint64_t *v)
{
	static const char *const names[SPREADS] = {"sum", "avg", "stddev", "min", "max"};
	char buf[64] = "";

	for (unsigned int k = 0; k < SPREADS; k++)
		json_number(j, names[k], s->b->spread, spread[k].fn, v);
	if (ki_aggregate_is_time(s->b->spread))
		ki_json_str(j, "unit", "s");
	ki_json_open(j, "histogram", '[');
	for (uint32_t k = s->b->buckets; k < s->r->values; k++) {
		if (!v[k])
			continue;
		bounds(s, k - s->b->buckets, buf, sizeof(buf));
		ki_json_open(j, NULL, '{');
		ki_json_str(j, "range", buf);
		ki_json_u64(j, "count", v[k]);
		ki_json_close(j);
	}
	ki_json_close(j);
}

static void json_aggs(struct ki_json *j, const struct show *s, const uint64_t *v)
{
	char name[AGG_NAME];

	ki_json_open(j, "aggregates", '{');
	for (unsigned int i = 0; i < s->b->naggs; i++) {
		const struct ki_aggregate_column *a = &s->b->list[i];

		name_agg(a, name);
		if (v[a->source->at])
			json_number(j, name, a->source, (enum ki_aggregate_fn)a->fn, v);
	}
	ki_json_close(j);
}

static int json_row(const struct show *s, size_t i)
{
	const uint64_t *key = ki_table_key(s->r, i), *v = ki_table_values(s->r, i);
	struct ki_json j;
	char buf[KI_FIELD_TEXT];

	ki_json_init(&j, s->how->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "point", point_of(s, key));
	ki_json_open(&j, "key", '{');
	for (unsigned int k = 0; k < s->b->key.n; k++)
		if (!ki_field_goes_on(s->b->key.fields, k))
			ki_json_str(&j, s->b->key.fields[k].name,
				    ki_aggregate_key_text(s->b, key + 1, k, buf));
	ki_json_close(&j);
	ki_json_u64(&j, "count", v[s->b->counted]);
	if (s->how->timed)
		ki_json_double(&j, "time", s->how->time);
	if (s->b->naggs)
		json_aggs(&j, s, v);
	if (s->b->spread)
		json_values(&j, s, v);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

static int show_json(const struct show *s)
{
	struct ki_json j;
	int ret = 0;

	for (size_t i = 0; !ret && i < s->n; i++)
		ret = json_row(s, s->rows[i].row);
	if (ret)
		return ret;
	ki_json_init(&j, s->how->out);
	ki_json_open(&j, NULL, '{');
	ki_json_u64(&j, "rows", s->all);
	ki_json_u64(&j, "shown", s->n);
	ki_json_u64(&j, "lost", s->r->lost);
	if (s->how->timed)
		ki_json_double(&j, "time", s->how->time);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

/* Has anything been added to it? */
static bool is_hit(const struct ki_aggregate *b, const uint64_t *v)
{
	bool hit = v[b->counted] != 0;

	for (unsigned int i = 0; !hit && i < b->nsources; i++)
		hit = v[b->sources[i].at] != 0;
	return hit;
}

static int by_rank(const void *a, const void *b)
{
	const struct shown *x = a, *y = b;

	if (x->by != y->by)
		return x->by > y->by ? -1 : 1;
	return (x->row > y->row) - (x->row < y->row);
}

/* By the first column that was asked for, else the most hit first; of equal ones by key. */
static int rank(struct show *s)
{
	const struct ki_aggregate_column *first = s->b->naggs ? &s->b->list[0] : NULL;

	s->rows = calloc(s->r->n + 1, sizeof(*s->rows));
	if (!s->rows)
		return -ENOMEM;
	for (size_t i = 0; i < s->r->n; i++) {
		const uint64_t *v = ki_table_values(s->r, i);
		double by = (double)v[s->b->counted];

		if (first)
			by = number_of(first->source, (enum ki_aggregate_fn)first->fn, v);
		if (is_hit(s->b, v))
			s->rows[s->all++] = (struct shown){i, by};
	}
	qsort(s->rows, s->all, sizeof(*s->rows), by_rank);
	s->n = s->b->top && s->all > s->b->top ? s->b->top : s->all;
	return 0;
}

int ki_aggregate_report(struct ki_aggregate *b, const struct ki_aggregate_show *how,
			struct ki_err *err)
{
	struct ki_table_reading r;
	struct show s = {.b = b, .how = how, .r = &r};
	int ret;

	if (ki_aggregate_delta(b, &r))
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	ret = rank(&s);
	if (!ret)
		ret = how->json ? show_json(&s) : show_table(&s);
	free(s.rows);
	if (!ret && !how->json && !how->separator && s.n < s.all)
		fprintf(how->out, "and %zu rows more (-n 0: all)\n", s.all - s.n);
	b->lost = r.lost;
	free(r.words);
	if (ret || fflush(how->out))
		return ki_err_set(err, -EIO, 0, "writing the result failed");
	return 0;
}

uint64_t ki_aggregate_stacks_lost(const struct ki_aggregate *b)
{
	return b->stacks ? ki_stacks_lost(b->stacks) : 0;
}
