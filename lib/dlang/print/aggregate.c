// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What aggregations print: a row for each key, in columns, or as a format says.
 */
#include "dlang/print/aggregate.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/print/bars.h"
#include "dlang/print/format.h"
#include "dlang/print/show.h"
#include "dlang/print/sort.h"

#define WIDEST 1024 /* characters of a width that is a key */

int64_t ki_d_agg_value(const struct ki_d_agg *a, const uint64_t *values)
{
	const enum ki_d_agg_kind kind = ki_d_agg_kind(a);
	const int64_t normal = (int64_t)a->normal;

	/* A sum is divided first: the mean of 3 and 4, by 2, is 7 / 2 / 2. */
	if (kind == KI_D_AVG && values[KI_STATS_COUNT])
		return (int64_t)values[KI_STATS_SUM] / normal / (int64_t)values[KI_STATS_COUNT];
	return ki_d_row_number(a, values) / normal;
}

static void print_value(const struct ki_d_agg *a, const uint64_t *values, FILE *f)
{
	if (ki_d_is_distribution(a))
		ki_d_bars_print(a, values, f);
	else
		fprintf(f, " %16" PRId64, ki_d_agg_value(a, values));
}

/* ---- of each CPU (option aggpercpu) ---- */

struct apart {
	unsigned int cpus;
	struct ki_d_rows *rows; /* of each aggregation, of each CPU */
};

static void free_apart(struct apart *p, unsigned int n)
{
	for (unsigned int i = 0; p->rows && i < n * p->cpus; i++)
		ki_d_rows_free(&p->rows[i]);
	free(p->rows);
	p->rows = NULL;
}

static int read_apart(struct ki_dlang *d, const struct ki_d_join *j, struct apart *out,
		      struct ki_err *err)
{
	int ret = 0;

	*out = (struct apart){.cpus = d->set.aggpercpu ? ki_target_info(d->run->t)->cpus : 0};
	if (!out->cpus)
		return 0;
	out->rows = calloc((size_t)j->n * out->cpus, sizeof(*out->rows));
	if (!out->rows)
		return ki_d_no_memory(err);
	for (unsigned int i = 0; !ret && i < j->n * out->cpus; i++)
		ret = ki_d_rows_read_cpu(d, j->aggs[i / out->cpus], i % out->cpus, &out->rows[i],
					 err);
	return ret;
}

static const uint64_t *values_of(const struct ki_d_rows *r, const uint64_t *key)
{
	for (size_t i = 0; i < r->n; i++)
		if (!memcmp(ki_d_row_key(r, i), key, r->keys * sizeof(*key)))
			return ki_d_row_values(r, i);
	return NULL;
}

/* Of a CPU that has no value it is what the first one would have changed. */
static void print_none(const struct ki_d_agg *a, FILE *f)
{
	const enum ki_d_agg_kind kind = ki_d_agg_kind(a);
	const int64_t none = kind == KI_D_MIN ? INT64_MAX : kind == KI_D_MAX ? INT64_MIN : 0;

	fprintf(f, " %16" PRId64, none);
}

static void print_apart(const struct ki_d_agg *a, const struct ki_d_rows *rows, unsigned int cpus,
			const uint64_t *key, FILE *f)
{
	for (unsigned int cpu = 0; cpu < cpus; cpu++) {
		const uint64_t *values = values_of(&rows[cpu], key);

		fprintf(f, "\n    [CPU %u]", cpu);
		if (values)
			print_value(a, values, f);
		else
			print_none(a, f);
	}
}

/* ---- without a format ---- */

static void print_key(struct ki_dlang *d, const struct ki_d_agg *a, unsigned int i,
		      const uint64_t *key, FILE *f)
{
	char text[KI_D_KEY_TEXT], place[KI_D_ADDRESS];

	if (a->forms[i] == KI_D_FORM_STACK)
		ki_d_stack_print(d, *key, a->keys[i].num, (int)d->set.stackindent, f);
	else if (ki_d_is_place(a->keys[i]))
		fprintf(f, "  %-50s",
			ki_d_place_text(d, (enum ki_d_place)a->keys[i].num, key, place));
	else if (a->forms[i] != KI_D_FORM_WORD)
		fprintf(f, "  %-50s", ki_d_key_text(d, a->forms[i], key, text));
	else
		ki_d_show_key(f, ki_d_size(a->keys[i]), *key);
}

static void print_plain(struct ki_dlang *d, const struct ki_d_join *j, const struct apart *p,
			const struct ki_d_joined *row, FILE *f)
{
	const uint64_t *key = row->key;

	for (unsigned int i = 0; i < row->of->nkeys; i++) {
		print_key(d, row->of, i, key, f);
		key += ki_d_form_words(row->of->forms[i]);
	}
	for (unsigned int i = 0; i < j->n; i++) {
		print_value(j->aggs[i], row->values[i], f);
		if (p->cpus)
			print_apart(j->aggs[i], p->rows + (size_t)i * p->cpus, p->cpus, row->key,
				    f);
	}
	fputc('\n', f);
}

/* ---- with one ---- */

/* A row while its format is printed: which key is next, and which aggregation's value. */
struct printing {
	struct ki_dlang *d;
	const struct ki_d_join *j;
	const struct ki_d_joined *row;
	const uint64_t *key;
	unsigned int nkey, nvalue;
	FILE *f;
};

static void print_next_key(struct printing *p, const struct ki_d_spec *s)
{
	const struct ki_d_agg *a = p->row->of;
	char text[KI_D_KEY_TEXT], place[KI_D_ADDRESS];
	uint8_t form;

	if (p->nkey >= a->nkeys)
		return;
	form = a->forms[p->nkey];
	if (form == KI_D_FORM_STACK)
		ki_d_stack_print(p->d, *p->key, a->keys[p->nkey].num, s->width, p->f);
	else if (ki_d_is_place(a->keys[p->nkey]))
		ki_d_format_string(p->f, s, s->width,
				   ki_d_place_text(p->d, (enum ki_d_place)a->keys[p->nkey].num,
						   p->key, place));
	else if (form == KI_D_FORM_WORD)
		ki_d_show_conversion(p->d, p->f, s, s->width, a->keys[p->nkey], *p->key);
	else
		ki_d_format_string(p->f, s, s->width, ki_d_key_text(p->d, form, p->key, text));
	p->nkey++;
	p->key += ki_d_form_words(form);
}

/* "%*d": the next key is the width, and one below 0 means the left side. */
static void take_width(struct printing *p, struct ki_d_spec *s)
{
	int64_t width = 0;

	if (p->nkey < p->row->of->nkeys) {
		width = (int64_t)*p->key;
		p->key += ki_d_form_words(p->row->of->forms[p->nkey++]);
	}
	if (width < 0 && strlen(s->flags) + 1 < sizeof(s->flags))
		strcat(s->flags, "-");
	width = width < 0 ? -width : width;
	s->width = width < WIDEST ? (int)width : WIDEST;
}

/* The last one's again, where there are more conversions than aggregations. */
static void print_next_value(struct printing *p, const struct ki_d_spec *s)
{
	const unsigned int i = p->nvalue < p->j->n ? p->nvalue : p->j->n - 1;
	const struct ki_d_agg *a = p->j->aggs[i];

	p->nvalue++;
	if (ki_d_is_distribution(a))
		ki_d_bars_print(a, p->row->values[i], p->f);
	else
		ki_d_format_number(p->f, s, s->width, ki_d_int(KI_I64),
				   (uint64_t)ki_d_agg_value(a, p->row->values[i]));
}

static void print_formatted(struct ki_dlang *d, const struct ki_d_join *j,
			    const struct ki_d_joined *row, const char *fmt, FILE *f)
{
	struct printing p = {.d = d, .j = j, .row = row, .key = row->key, .f = f};
	struct ki_d_spec s;
	const char *why;

	while (ki_d_format_next(&fmt, &s, &why) > 0) {
		if (s.conversion && s.width_arg)
			take_width(&p, &s);
		if (!s.conversion)
			fwrite(s.text, 1, s.len, f);
		else if (s.at)
			print_next_value(&p, &s);
		else
			print_next_key(&p, &s);
	}
}

int ki_d_agg_print(struct ki_dlang *d, struct ki_d_agg *const *aggs, unsigned int n,
		   const char *fmt, FILE *f, struct ki_err *err)
{
	struct ki_d_join j;
	struct apart p = {0};
	int ret = ki_d_join_read(d, aggs, n, &j, err);

	if (!ret && !fmt)
		ret = read_apart(d, &j, &p, err);
	for (size_t i = 0; !ret && i < j.nv; i++) {
		if (fmt)
			print_formatted(d, &j, &j.v[i], fmt, f);
		else
			print_plain(d, &j, &p, &j.v[i], f);
	}
	free_apart(&p, n);
	ki_d_join_free(&j);
	for (unsigned int i = 0; i < n; i++)
		aggs[i]->printed = true;
	return ret;
}
