// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counts: those that record --mode totals has written, with their rates; and how often the same
 * values were recorded.
 */
#include <errno.h>
#include <inttypes.h>
#include <search.h>
#include <stdlib.h>
#include <string.h>

#include "report/inside.h"
#include "out/table.h"
#include "util/vec.h"

/* ---- rates of totals ---- */

struct rates {
	struct ki_table *table;
	double *seen; /* of each instrument, when the record before was written; negative: not known
		       */
};

static int rates_begin(struct ki_report *c)
{
	const struct ki_column columns[] = {
		{"TIME", KI_ALIGN_RIGHT, 10},
		{"COUNT", KI_ALIGN_RIGHT, 10},
		{"RATE/S", KI_ALIGN_RIGHT, 12},
		{"INSTRUMENT", KI_ALIGN_LEFT, ki_report_name_width(c)},
	};
	struct rates *v = calloc(1, sizeof(*v));
	size_t n;
	const struct ki_instrument *in = ki_recording_instruments(c->r, &n);
	double off;

	c->own = v;
	if (v)
		v->seen = calloc(n + 1, sizeof(*v->seen));
	if (!v || !v->seen)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++) {
		ki_report_span(c, &in[i], &v->seen[i], &off);
		/* The first that is shown has begun before what is shown. */
		if (v->seen[i] <= c->from && c->from > 0)
			v->seen[i] = -1;
	}
	return ki_table_new(&v->table, columns, sizeof(columns) / sizeof(*columns));
}

static int rates_record(struct ki_report *c, const struct ki_report_record *e)
{
	struct rates *v = c->own;
	double took = e->time - v->seen[e->index];

	ki_table_cell(v->table, "%.3f", e->time);
	ki_table_cell(v->table, "%" PRIu64, e->values[0]);
	if (v->seen[e->index] >= 0 && took > 0)
		ki_table_cell(v->table, "%.1f", (double)e->values[0] / took);
	else
		ki_table_cell(v->table, "-");
	ki_table_cell(v->table, "%s", e->in->name);
	v->seen[e->index] = e->time;
	return ki_table_print(v->table, c->out, c->bold);
}

static int rates_end(struct ki_report *c)
{
	return ki_table_print(((struct rates *)c->own)->table, c->out, c->bold);
}

static void rates_free(struct ki_report *c)
{
	struct rates *v = c->own;

	if (!v)
		return;
	ki_table_free(v->table);
	free(v->seen);
	free(v);
}

const struct ki_report_format ki_report_rates = {"rates", rates_begin, rates_record, rates_end,
						 rates_free};

/* ---- how often the same values ---- */

struct same {
	const struct ki_instrument *in;
	uint64_t n; /* hits */
	uint64_t values[KI_RECORD_WORDS];
};

struct counts {
	void *tree; /* of struct same */
	ki_vec(const struct same *) rows;
	uint64_t all;
	bool sampled;
};

static int by_values(const void *a, const void *b)
{
	const struct same *x = a, *y = b;

	if (x->in != y->in)
		return x->in < y->in ? -1 : 1;
	return memcmp(x->values, y->values, x->in->nfields * sizeof(*x->values));
}

/* The most first; what is as much, in the order in which it was met. */
static int by_count(const void *a, const void *b)
{
	const struct same *x = *(const struct same *const *)a, *y = *(const struct same *const *)b;

	return (x->n < y->n) - (x->n > y->n);
}

static int counts_begin(struct ki_report *c)
{
	c->own = calloc(1, sizeof(struct counts));
	return c->own ? 0 : -ENOMEM;
}

static int add_same(struct counts *v, struct same *key, struct same **out)
{
	struct same **there = tfind(key, &v->tree, by_values), *row;

	if (there) {
		*out = *there;
		return 0;
	}
	row = malloc(sizeof(*row));
	if (!row)
		return -ENOMEM;
	*row = *key;
	if (!tsearch(row, &v->tree, by_values)) {
		free(row);
		return -ENOMEM;
	}
	*out = row;
	return ki_vec_push(&v->rows, row);
}

static int counts_record(struct ki_report *c, const struct ki_report_record *e)
{
	struct counts *v = c->own;
	struct same key = {.in = e->in}, *row;
	uint64_t n = ki_report_is_totals(e->in) ? e->values[0] : e->factor;
	int ret;

	if (!ki_report_is_totals(e->in))
		memcpy(key.values, e->values, e->in->nfields * sizeof(*key.values));
	ret = add_same(v, &key, &row);
	if (ret)
		return ret;
	row->n += n;
	v->all += n;
	v->sampled |= e->factor > 1;
	return 0;
}

static int print_same(const struct ki_report *c, struct ki_table *t, const struct same *row)
{
	const struct ki_report_record e = {.in = row->in, .values = row->values};
	char *values = ki_report_is_totals(row->in) ? strdup("") : ki_report_values(c, &e);

	if (!values)
		return -ENOMEM;
	ki_table_cell(t, "%" PRIu64, row->n);
	ki_table_cell(t, "%.1f%%",
		      100 * (double)row->n / (double)((const struct counts *)c->own)->all);
	ki_table_cell(t, "%s", row->in->name);
	ki_table_cell(t, "%s", values);
	free(values);
	return 0;
}

static int counts_end(struct ki_report *c)
{
	const struct ki_column columns[] = {
		{"COUNT", KI_ALIGN_RIGHT, 10},
		{"SHARE", KI_ALIGN_RIGHT, 7},
		{"INSTRUMENT", KI_ALIGN_LEFT, ki_report_name_width(c)},
		{"VALUES", KI_ALIGN_LEFT, 0},
	};
	struct counts *v = c->own;
	struct ki_table *t;
	int ret = ki_table_new(&t, columns, sizeof(columns) / sizeof(*columns));

	if (ret)
		return ret;
	qsort(v->rows.v, v->rows.n, sizeof(*v->rows.v), by_count);
	for (size_t i = 0; !ret && i < v->rows.n; i++)
		ret = print_same(c, t, v->rows.v[i]);
	if (!ret)
		ret = ki_table_print(t, c->out, c->bold);
	if (!ret && v->sampled)
		fprintf(c->out, "sampled: each record is taken for as many hits as it stands for; "
				"counts are estimates\n");
	ki_table_free(t);
	return ret;
}

static void counts_free(struct ki_report *c)
{
	struct counts *v = c->own;

	if (!v)
		return;
	ki_vec_free(&v->rows);
	tdestroy(v->tree, free);
	free(v);
}

const struct ki_report_format ki_report_counts = {"counts", counts_begin, counts_record, counts_end,
						  counts_free};
