// SPDX-License-Identifier: GPL-2.0-only
/*
 * The result of kerninst stat --by: rows, the most hit first; distributions behind the table.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "cli.h"
#include "out/json.h"
#include "out/table.h"
#include "stat_by.h"

#define BAR	40
#define COLUMNS (10 + KI_TABLE_KEYS)

struct show {
	struct stat_by *b;
	const struct stat_by_show *how;
	struct ki_table_reading *r;
	size_t n; /* rows that are shown */
};

/* Take away what was there before; only sums grow. */
static void subtract(const struct stat_by *b, struct ki_table_reading *r)
{
	uint32_t width = r->keys + r->values;

	for (size_t i = 0; b->before && i < r->n; i++) {
		const uint64_t *old = ki_table_find(b->before, ki_table_key(r, i));
		uint64_t *v = r->words + i * width + r->keys;

		for (uint32_t k = 0; old && k < r->values; k++) {
			if (k == KI_STATS_MIN || k == KI_STATS_MAX)
				continue;
			if (k == KI_STATS_SQUARES_HIGH)
				v[k] -= v[KI_STATS_SQUARES] + old[KI_STATS_SQUARES] <
					old[KI_STATS_SQUARES];
			v[k] -= old[k];
		}
	}
	r->lost -= b->before ? b->before->lost : 0;
}

/* ---- cells ---- */

static const char *point_of(const struct show *s, const uint64_t *key)
{
	return *key < s->b->points->v.n ? s->b->points->v.v[*key].name : "?";
}

/* What people read behind a field of the key. */
static const char *unit_of(const struct show *s, unsigned int i)
{
	static char unit[64];
	const char *name = s->b->key.fields[i].unit;

	snprintf(unit, sizeof(unit), "%s%s", *name ? " " : "", name);
	return unit;
}

/* ---- tables ---- */

static int new_table(const struct show *s, struct ki_table **t)
{
	static const char *const sums[] = {"SUM", "AVG", "STDDEV", "MIN", "MAX"};
	struct ki_column all[COLUMNS];
	unsigned int n = 0;

	all[n++] = (struct ki_column){"COUNT", KI_ALIGN_RIGHT, 12};
	all[n++] = (struct ki_column){"RATE/S", KI_ALIGN_RIGHT, 12};
	for (unsigned int i = 0; s->b->hist && i < 5; i++)
		all[n++] = (struct ki_column){sums[i], KI_ALIGN_RIGHT, 0};
	all[n++] = (struct ki_column){"POINT", KI_ALIGN_LEFT, 0};
	for (unsigned int i = 0; i < s->b->key.n; i++)
		if (!field_goes_on(s->b->key.fields, i))
			all[n++] = (struct ki_column){s->b->key.fields[i].name, KI_ALIGN_RIGHT, 0};
	if (s->b->hist && s->how->separator) {
		all[n++] = (struct ki_column){"BUCKET", KI_ALIGN_LEFT, 0};
		all[n++] = (struct ki_column){"HITS", KI_ALIGN_RIGHT, 0};
	}
	return ki_table_new(t, all, n);
}

static void put_row(const struct show *s, struct ki_table *t, size_t i)
{
	const uint64_t *key = ki_table_key(s->r, i), *v = ki_table_values(s->r, i);
	char buf[FIELD_TEXT];

	ki_table_cell(t, "%" PRIu64, v[KI_STATS_COUNT]);
	ki_table_cell(t, "%.1f",
		      s->how->seconds > 0 ? (double)v[KI_STATS_COUNT] / s->how->seconds : 0.0);
	if (s->b->hist) {
		ki_table_cell(t, "%" PRId64, (int64_t)v[KI_STATS_SUM]);
		ki_table_cell(t, "%.1f", ki_table_mean(v));
		ki_table_cell(t, "%.1f", ki_table_deviation(v));
		ki_table_cell(t, "%" PRId64, (int64_t)v[KI_STATS_MIN]);
		ki_table_cell(t, "%" PRId64, (int64_t)v[KI_STATS_MAX]);
	}
	ki_table_cell(t, "%s", point_of(s, key));
	for (unsigned int k = 0; k < s->b->key.n; k++)
		if (!field_goes_on(s->b->key.fields, k))
			ki_table_cell(t, "%s%s", stat_by_key_text(s->b, key + 1, k, buf),
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
		else if (bucket == s->r->values - STAT_BY_BUCKETS - 1)
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

	for (uint32_t k = STAT_BY_BUCKETS; k < s->r->values; k++) {
		if (!v[k])
			continue;
		put_row(s, t, i);
		bounds(s, k - STAT_BY_BUCKETS, buf, sizeof(buf));
		ki_table_cell(t, "%s", buf);
		ki_table_cell(t, "%" PRIu64, v[k]);
	}
}

static void draw(const struct show *s, size_t i)
{
	static const char bar[] = "########################################";
	const uint64_t *key = ki_table_key(s->r, i), *v = ki_table_values(s->r, i);
	uint64_t most = 1;
	char buf[FIELD_TEXT];

	fprintf(s->how->out, "\n%s", point_of(s, key));
	for (unsigned int k = 0; k < s->b->key.n; k++)
		if (!field_goes_on(s->b->key.fields, k))
			fprintf(s->how->out, " %s=%s%s", s->b->key.fields[k].name,
				stat_by_key_text(s->b, key + 1, k, buf), unit_of(s, k));
	fprintf(s->how->out, ": %s\n", s->b->expr);
	for (uint32_t k = STAT_BY_BUCKETS; k < s->r->values; k++)
		most = v[k] > most ? v[k] : most;
	for (uint32_t k = STAT_BY_BUCKETS; k < s->r->values; k++) {
		if (!v[k])
			continue;
		bounds(s, k - STAT_BY_BUCKETS, buf, sizeof(buf));
		fprintf(s->how->out, "  %28s %12" PRIu64 " %.*s\n", buf, v[k],
			(int)ceil((double)v[k] / (double)most * BAR), bar);
	}
}

static int show_table(const struct show *s)
{
	struct ki_table *t;
	int ret = new_table(s, &t);

	if (ret)
		return ret;
	for (size_t i = 0; i < s->n; i++)
		if (s->b->hist && s->how->separator)
			put_buckets(s, t, i);
		else
			put_row(s, t, i);
	ret = s->how->separator ? ki_table_print_csv(t, s->how->out, s->how->separator)
				: ki_table_print(t, s->how->out, cli_bold(s->how->out));
	ki_table_free(t);
	for (size_t i = 0; !ret && s->b->hist && !s->how->separator && i < s->n; i++)
		draw(s, i);
	return ret;
}

/* ---- JSON ---- */

static void json_values(struct ki_json *j, const struct show *s, const uint64_t *v)
{
	char buf[64] = "";

	ki_json_i64(j, "sum", (int64_t)v[KI_STATS_SUM]);
	ki_json_double(j, "avg", ki_table_mean(v));
	ki_json_double(j, "stddev", ki_table_deviation(v));
	ki_json_i64(j, "min", (int64_t)v[KI_STATS_MIN]);
	ki_json_i64(j, "max", (int64_t)v[KI_STATS_MAX]);
	ki_json_open(j, "histogram", '[');
	for (uint32_t k = STAT_BY_BUCKETS; k < s->r->values; k++) {
		if (!v[k])
			continue;
		bounds(s, k - STAT_BY_BUCKETS, buf, sizeof(buf));
		ki_json_open(j, NULL, '{');
		ki_json_str(j, "range", buf);
		ki_json_u64(j, "count", v[k]);
		ki_json_close(j);
	}
	ki_json_close(j);
}

static int json_row(const struct show *s, size_t i)
{
	const uint64_t *key = ki_table_key(s->r, i), *v = ki_table_values(s->r, i);
	struct ki_json j;
	char buf[FIELD_TEXT];

	ki_json_init(&j, s->how->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "point", point_of(s, key));
	ki_json_open(&j, "key", '{');
	for (unsigned int k = 0; k < s->b->key.n; k++)
		if (!field_goes_on(s->b->key.fields, k))
			ki_json_str(&j, s->b->key.fields[k].name,
				    stat_by_key_text(s->b, key + 1, k, buf));
	ki_json_close(&j);
	ki_json_u64(&j, "count", v[KI_STATS_COUNT]);
	if (s->b->hist)
		json_values(&j, s, v);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

static int show_json(const struct show *s)
{
	struct ki_json j;
	int ret = 0;

	for (size_t i = 0; !ret && i < s->n; i++)
		ret = json_row(s, i);
	if (ret)
		return ret;
	ki_json_init(&j, s->how->out);
	ki_json_open(&j, NULL, '{');
	ki_json_u64(&j, "rows", s->r->n);
	ki_json_u64(&j, "shown", s->n);
	ki_json_u64(&j, "lost", s->r->lost);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

/* Rows that nothing was added to come last: they are not shown. */
static size_t rows_hit(const struct ki_table_reading *r)
{
	size_t n = r->n;

	while (n && !ki_table_values(r, n - 1)[KI_STATS_COUNT])
		n--;
	return n;
}

int stat_by_report(struct stat_by *b, const struct stat_by_show *how)
{
	struct show s = {.b = b, .how = how, .r = b->now};
	int ret;

	subtract(b, s.r);
	ki_table_sort(s.r, KI_STATS_COUNT, false);
	s.r->n = s.n = rows_hit(s.r);
	if (b->top && s.n > b->top)
		s.n = b->top;
	ret = how->json ? show_json(&s) : show_table(&s);
	if (!ret && !how->json && !how->separator && s.n < s.r->n)
		fprintf(how->out, "and %zu rows more (-n 0: all)\n", s.r->n - s.n);
	if (s.r->lost)
		cli_warn("%" PRIu64
			 " changes were lost: there was no place for their rows (--rows)",
			 s.r->lost);
	if (b->stacks && ki_stacks_lost(b->stacks))
		cli_warn("%" PRIu64 " stacks found no place: they are counted as none",
			 ki_stacks_lost(b->stacks));
	return ret || fflush(how->out) ? cli_error("writing the result failed") : CLI_OK;
}
