// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Record by record: a table, JSON lines, comma-separated values; and counts of intervals.
 */
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "report/inside.h"
#include "report/code.h"
#include "report/stack.h"
#include "out/table.h"
#include "util/vec.h"

/* ---- the table ---- */

unsigned int ki_report_name_width(const struct ki_report *c)
{
	size_t n, most = strlen("INSTRUMENT");
	const struct ki_instrument *in = ki_recording_instruments(c->r, &n);

	for (size_t i = 0; i < n; i++)
		if (ki_report_wants(c, &in[i]) && strlen(in[i].name) > most)
			most = strlen(in[i].name);
	return (unsigned int)most;
}

static int table_begin(struct ki_report *c)
{
	const struct ki_column columns[] = {
		{"TIME", KI_ALIGN_RIGHT, 13},
		{"CPU", KI_ALIGN_RIGHT, 3},
		{"INSTRUMENT", KI_ALIGN_LEFT, ki_report_name_width(c)},
		{"VALUES", KI_ALIGN_LEFT, 0},
	};
	struct ki_table *t;
	int ret = ki_table_new(&t, columns, sizeof(columns) / sizeof(*columns));

	c->own = ret ? NULL : t;
	return ret;
}

char *ki_report_values(const struct ki_report *c, const struct ki_report_record *e)
{
	char value[KI_FIELD_TEXT], *all;
	size_t len;
	FILE *f = open_memstream(&all, &len);

	if (!f)
		return NULL;
	for (unsigned int i = 0; i < e->in->nfields; i++) {
		const struct ki_record_field *field = &e->in->fields[i];

		if (ki_field_goes_on(e->in->fields, i))
			continue;
		fprintf(f, "%s%s=%s%s%s", i ? "  " : "", field->name,
			ki_report_value(c, e, i, value), *field->unit ? " " : "", field->unit);
	}
	if (!fclose(f))
		return all;
	free(all);
	return NULL;
}

static int table_record(struct ki_report *c, const struct ki_report_record *e)
{
	struct ki_table *t = c->own;
	char *all = ki_report_values(c, e);

	if (!all)
		return -ENOMEM;
	ki_table_cell(t, "%.9f", e->time);
	ki_table_cell(t, "%u", e->cpu);
	ki_table_cell(t, "%s", e->in->name);
	if (e->factor > 1)
		ki_table_cell(t, "%s  (1 of %" PRIu64 ")", all, e->factor);
	else
		ki_table_cell(t, "%s", all);
	free(all);
	return ki_table_print(t, c->out, c->bold);
}

static int table_end(struct ki_report *c)
{
	return ki_table_print(c->own, c->out, c->bold);
}

static void table_free(struct ki_report *c)
{
	ki_table_free(c->own);
	c->own = NULL;
}

const struct ki_report_format ki_report_table = {"table", table_begin, table_record, table_end,
						 table_free};

/* ---- JSON ---- */

static void json_sampling(const struct ki_report *c, const struct ki_instrument *in,
			  struct ki_json *j)
{
	const struct ki_report_sampling s = ki_report_sampling(c, in);

	if (s.rarest > 1)
		ki_json_u64(j, "rarest", s.rarest);
	if (s.out >= 0)
		ki_json_double(j, "shed", s.out);
}

static void json_process(const struct ki_report *c, const struct ki_instrument *in,
			 struct ki_json *j)
{
	struct ki_user_frame f;
	const uint32_t pid = ki_report_process(c, in, &f);

	if (!pid)
		return;
	ki_json_u64(j, "pid", pid);
	ki_json_str(j, "function", f.symbol);
	ki_json_str(j, "file", f.path);
	ki_json_str(j, "build", f.build);
}

static int json_instrument(const struct ki_report *c, const struct ki_instrument *in)
{
	struct ki_json j;
	double on, off;
	uint64_t hits;

	ki_report_span(c, in, &on, &off);
	ki_json_init(&j, c->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "type", "instrument");
	ki_json_str(&j, "name", in->name);
	ki_json_str(&j, "point", in->point);
	ki_json_hex(&j, "address", in->addr);
	ki_json_double(&j, "on", on);
	ki_json_double(&j, "off", off);
	if (ki_report_hits(c, in, &hits))
		ki_json_u64(&j, "hits", hits);
	json_process(c, in, &j);
	json_sampling(c, in, &j);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

static int json_begin(struct ki_report *c)
{
	const struct ki_record_origin *o = ki_recording_origin(c->r);
	struct ki_json j;
	size_t n;
	const struct ki_instrument *in = ki_recording_instruments(c->r, &n);
	int ret;

	ki_json_init(&j, c->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "type", "recording");
	ki_json_str(&j, "kernel", o->kernel);
	ki_json_str(&j, "build", o->build);
	ki_json_str(&j, "boot", o->boot);
	ki_json_str(&j, "host", o->host);
	ki_json_str(&j, "command", o->command);
	ki_json_u64(&j, "cpus", o->cpus);
	ki_json_u64(&j, "tsc_khz", o->tsc_khz);
	ki_json_double(&j, "start", (double)o->time / 1e9);
	ki_json_close(&j);
	ret = ki_json_end_line(&j);
	if (!ret)
		ret = ki_report_code_json(c);
	for (size_t i = 0; !ret && i < n; i++)
		if (ki_report_wants(c, &in[i]))
			ret = json_instrument(c, &in[i]);
	return ret;
}

static int json_record(struct ki_report *c, const struct ki_report_record *e)
{
	struct ki_json j;

	ki_json_init(&j, c->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "type", "record");
	ki_json_double(&j, "time", e->time);
	ki_json_u64(&j, "cpu", e->cpu);
	ki_json_str(&j, "instrument", e->in->name);
	if (e->factor > 1)
		ki_json_u64(&j, "stands_for", e->factor);
	ki_json_open(&j, "fields", '{');
	ki_report_fields(c, e, &j);
	ki_json_close(&j);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

static int json_end(struct ki_report *c)
{
	const struct ki_recording_state *s = ki_recording_state(c->r);
	struct ki_json j;

	ki_json_init(&j, c->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "type", "end");
	ki_json_u64(&j, "shown", c->shown);
	ki_json_u64(&j, "records", s->records);
	ki_json_u64(&j, "lost", s->lost);
	ki_json_bool(&j, "cut", s->cut);
	ki_json_double(&j, "seconds", ki_report_time(c, s->end));
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

const struct ki_report_format ki_report_json = {"json", json_begin, json_record, json_end, NULL};

/* ---- CSV: a column for each name of a field ---- */

struct csv {
	ki_vec(struct ki_column) columns;
	struct ki_table *table;
};

#define CSV_FIRST 3 /* columns before the fields' */

static size_t column_of(const struct csv *v, const char *name)
{
	size_t i = CSV_FIRST;

	while (i < v->columns.n && strcmp(v->columns.v[i].title, name))
		i++;
	return i;
}

static int add_columns(struct csv *v, const struct ki_instrument *in)
{
	for (unsigned int i = 0; i < in->nfields; i++) {
		struct ki_column column = {.title = in->fields[i].name};

		if (ki_field_goes_on(in->fields, i) || column_of(v, column.title) < v->columns.n)
			continue;
		if (ki_vec_push(&v->columns, column))
			return -ENOMEM;
	}
	return 0;
}

static int csv_begin(struct ki_report *c)
{
	static const char *const first[CSV_FIRST] = {"time", "cpu", "instrument"};
	struct csv *v = calloc(1, sizeof(*v));
	size_t n;
	const struct ki_instrument *in = ki_recording_instruments(c->r, &n);
	int ret = v ? 0 : -ENOMEM;

	c->own = v;
	for (unsigned int i = 0; !ret && i < CSV_FIRST; i++)
		ret = ki_vec_push(&v->columns, (struct ki_column){.title = first[i]});
	for (size_t i = 0; !ret && i < n; i++)
		if (ki_report_wants(c, &in[i]))
			ret = add_columns(v, &in[i]);
	return ret ? ret : ki_table_new(&v->table, v->columns.v, (unsigned int)v->columns.n);
}

static int csv_record(struct ki_report *c, const struct ki_report_record *e)
{
	struct csv *v = c->own;
	char text[KI_FIELD_TEXT];

	ki_table_cell(v->table, "%.9f", e->time);
	ki_table_cell(v->table, "%u", e->cpu);
	ki_table_cell(v->table, "%s", e->in->name);
	for (size_t i = CSV_FIRST; i < v->columns.n; i++) {
		int field = ki_report_field(e->in, v->columns.v[i].title);

		ki_table_cell(v->table, "%s",
			      field < 0 ? "" : ki_report_value(c, e, (unsigned int)field, text));
	}
	return ki_table_print_csv(v->table, c->out, ',');
}

static int csv_end(struct ki_report *c)
{
	return ki_table_print_csv(((struct csv *)c->own)->table, c->out, ',');
}

static void csv_free(struct ki_report *c)
{
	struct csv *v = c->own;

	if (!v)
		return;
	ki_table_free(v->table);
	ki_vec_free(&v->columns);
	free(v);
}

const struct ki_report_format ki_report_csv = {"csv", csv_begin, csv_record, csv_end, csv_free};

/* ---- counts of intervals ---- */

struct series {
	struct ki_table *table;
	uint64_t *counts; /* of each instrument, in the interval at hand */
	uint64_t interval;
	bool any;
};

static int series_begin(struct ki_report *c)
{
	const struct ki_column columns[] = {
		{"FROM", KI_ALIGN_RIGHT, 10},
		{"COUNT", KI_ALIGN_RIGHT, 10},
		{"RATE/S", KI_ALIGN_RIGHT, 12},
		{"INSTRUMENT", KI_ALIGN_LEFT, ki_report_name_width(c)},
	};
	struct series *s = calloc(1, sizeof(*s));
	size_t n;

	c->own = s;
	ki_recording_instruments(c->r, &n);
	if (s)
		s->counts = calloc(n + 1, sizeof(*s->counts));
	if (!s || !s->counts)
		return -ENOMEM;
	return ki_table_new(&s->table, columns, sizeof(columns) / sizeof(*columns));
}

/* Instruments of which there was nothing are left out. */
static int series_print(struct ki_report *c)
{
	struct series *s = c->own;
	size_t n;
	const struct ki_instrument *in = ki_recording_instruments(c->r, &n);

	for (size_t i = 0; i < n; i++) {
		if (!s->counts[i])
			continue;
		ki_table_cell(s->table, "%.3f", c->from + (double)s->interval * c->series);
		ki_table_cell(s->table, "%" PRIu64, s->counts[i]);
		ki_table_cell(s->table, "%.1f", (double)s->counts[i] / c->series);
		ki_table_cell(s->table, "%s", in[i].name);
		s->counts[i] = 0;
	}
	return ki_table_print(s->table, c->out, c->bold);
}

static int series_record(struct ki_report *c, const struct ki_report_record *e)
{
	struct series *s = c->own;
	double at = (e->time - c->from) / c->series;
	uint64_t interval = at > 0 ? (uint64_t)fmin(at, 0x1p63) : 0;
	int ret = 0;

	if (interval != s->interval)
		ret = series_print(c);
	s->interval = interval;
	if (ki_report_is_totals(e->in))
		s->counts[e->index] += e->values[0];
	else
		s->counts[e->index] += e->factor;
	return ret;
}

static void series_free(struct ki_report *c)
{
	struct series *s = c->own;

	if (!s)
		return;
	ki_table_free(s->table);
	free(s->counts);
	free(s);
}

const struct ki_report_format ki_report_series = {"series", series_begin, series_record,
						  series_print, series_free};
