// SPDX-License-Identifier: GPL-2.0-only
/*
 * The summary: of each instrument how often, how fast, how many were lost, and of each of its
 * numbers the least, the mean, the greatest, the sum, and how they are spread.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "chronicle.h"
#include "cli.h"
#include "kerninst/snippet.h"
#include "snippet/tree.h"
#include "values.h"

#define BAR 40

/* Of one field of an instrument. */
struct spread {
	uint64_t n, least, most;
	double sum;
	uint64_t buckets[KI_LOG2_BUCKETS];
};

struct tally {
	uint64_t n;
	struct spread *fields; /* NULL: no record yet */
};

static bool is_signed(const struct ki_record_field *f)
{
	return ki_types[f->type].sign;
}

/* Is it a quantity? Addresses, words of bits and names are not. */
static bool is_number(const struct ki_record_field *f)
{
	return f->show == KI_SHOW_DECIMAL || f->show == KI_SHOW_TICKS || f->show == KI_SHOW_SECONDS;
}

/* Numbers that only tell one thing from another. */
static bool is_label(const struct ki_record_field *f)
{
	static const char *const labels[] = {"pid", "tid", "cpu", "uid", "cgroup"};

	for (size_t i = 0; i < sizeof(labels) / sizeof(*labels); i++)
		if (!strcmp(f->name, labels[i]))
			return true;
	return false;
}

static bool is_less(const struct ki_record_field *f, uint64_t a, uint64_t b)
{
	return is_signed(f) ? (int64_t)a < (int64_t)b : a < b;
}

/* n times. */
static void add(struct spread *s, const struct ki_record_field *f, uint64_t v, uint64_t n)
{
	if (!s->n || is_less(f, v, s->least))
		s->least = v;
	if (!s->n || is_less(f, s->most, v))
		s->most = v;
	s->n += n;
	s->sum += (is_signed(f) ? (double)(int64_t)v : (double)v) * (double)n;
	s->buckets[ki_log2_bucket(v)] += n;
}

static int begin(struct chronicle *c)
{
	size_t n;

	ki_recording_instruments(c->r, &n);
	c->own = calloc(n + 1, sizeof(struct tally));
	return c->own ? 0 : -ENOMEM;
}

static int record(struct chronicle *c, const struct seen_record *e)
{
	struct tally *t = (struct tally *)c->own + e->index;

	if (!t->fields)
		t->fields = calloc(e->in->nfields + 1, sizeof(*t->fields));
	if (!t->fields)
		return -ENOMEM;
	t->n++;
	for (unsigned int i = 0; i < e->in->nfields; i++)
		if (is_number(&e->in->fields[i]))
			add(&t->fields[i], &e->in->fields[i], e->values[i], e->factor);
	return 0;
}

static void free_all(struct chronicle *c)
{
	struct tally *t = c->own;
	size_t n;

	ki_recording_instruments(c->r, &n);
	for (size_t i = 0; t && i < n; i++)
		free(t[i].fields);
	free(t);
}

/* A value of field i, as a record would have it. */
static char *one(const struct chronicle *c, const struct ki_instrument *in, unsigned int i,
		 uint64_t v, char text[FIELD_TEXT])
{
	uint64_t values[KI_RECORD_WORDS] = {0};
	const struct seen_record e = {.in = in, .values = values};

	values[i] = v;
	return chronicle_value(c, &e, i, text);
}

static char *real(const struct chronicle *c, const struct ki_record_field *f, double v, char *text)
{
	uint32_t khz = ki_recording_origin(c->r)->tsc_khz;

	if (f->show == KI_SHOW_DECIMAL)
		snprintf(text, FIELD_TEXT, "%.2f", v);
	else
		value_format_seconds(
			f->show == KI_SHOW_SECONDS ? v / 1e9 : v / (khz ? khz : 1e6) / 1e3, text);
	return text;
}

static void draw(const struct chronicle *c, const struct ki_instrument *in, unsigned int i,
		 const struct spread *s)
{
	uint64_t most = 0, low, high;
	char a[FIELD_TEXT], b[FIELD_TEXT];

	for (unsigned int k = 0; k < KI_LOG2_BUCKETS; k++)
		most = s->buckets[k] > most ? s->buckets[k] : most;
	for (unsigned int k = 0; k < KI_LOG2_BUCKETS; k++) {
		int len = (int)((double)s->buckets[k] * BAR / (double)most + 0.5);

		if (!s->buckets[k] || ki_log2_bounds(k, &low, &high))
			continue;
		if (is_signed(&in->fields[i]) && k == KI_LOG2_BUCKETS - 1)
			fprintf(c->out, "      %25s", "less than 0");
		else
			fprintf(c->out, "      %11s .. %10s", one(c, in, i, low, a),
				one(c, in, i, high, b));
		fprintf(c->out, " %10" PRIu64 " |%.*s%*s|\n", s->buckets[k], len,
			"@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@", BAR - len, "");
	}
}

static void print_field(const struct chronicle *c, const struct ki_instrument *in, unsigned int i,
			const struct spread *s)
{
	const struct ki_record_field *f = &in->fields[i];
	char least[FIELD_TEXT], most[FIELD_TEXT], mean[FIELD_TEXT], sum[FIELD_TEXT];

	fprintf(c->out, "  %s%s%s%s: min %s  mean %s  max %s", f->name, *f->unit ? " (" : "",
		f->unit, *f->unit ? ")" : "", one(c, in, i, s->least, least),
		real(c, f, s->sum / (double)s->n, mean), one(c, in, i, s->most, most));
	if (is_label(f)) {
		fputc('\n', c->out);
		return;
	}
	fprintf(c->out, "  sum %s\n", real(c, f, s->sum, sum));
	draw(c, in, i, s);
}

static void print_sampling(const struct chronicle *c, const struct ki_instrument *in)
{
	const struct chronicle_sampling s = chronicle_sampling(c, in);

	if (s.thinnest > 1)
		fprintf(c->out,
			"  sampled: at the thinnest one of %" PRIu64
			" hits; each record is taken for so many, sums and counts are estimates\n",
			s.thinnest);
	if (s.out >= 0)
		fprintf(c->out, "  taken out by the budget at %.3f s\n", s.out);
}

static void print_instrument(const struct chronicle *c, const struct ki_instrument *in,
			     const struct tally *t)
{
	bool totals = in->nfields == 1 && !strcmp(in->fields[0].unit, "hits");
	uint64_t hits;
	double on, off;

	chronicle_span(c, in, &on, &off);
	fprintf(c->out, "\n%s: %" PRIu64 " records", in->name, t->n);
	if (off > on)
		fprintf(c->out, ", %.1f/s", (double)t->n / (off - on));
	if (!totals && chronicle_hits(c, in, &hits) && hits != t->n)
		fprintf(c->out, ", reached %" PRIu64 " times", hits);
	fprintf(c->out, ", from %.3f to %.3f s\n", on, off);
	print_sampling(c, in);
	for (unsigned int i = 0; i < in->nfields; i++)
		if (t->fields && t->fields[i].n)
			print_field(c, in, i, &t->fields[i]);
}

static void print_origin(const struct chronicle *c)
{
	const struct ki_record_origin *o = ki_recording_origin(c->r);
	const struct ki_recording_state *s = ki_recording_state(c->r);
	time_t start = (time_t)(o->time / 1000000000);
	char when[64] = "";
	struct tm tm;

	if (gmtime_r(&start, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	fprintf(c->out, "%s\n", o->command);
	fprintf(c->out, "%s, kernel %s, %u CPUs, %s, %.3f s\n", o->host, o->kernel, o->cpus, when,
		chronicle_time(c, s->end));
	fprintf(c->out, "%" PRIu64 " records, %" PRIu64 " lost\n", s->records, s->lost);
}

static int end(struct chronicle *c)
{
	const struct tally *t = c->own;
	size_t n;
	const struct ki_instrument *in = ki_recording_instruments(c->r, &n);

	print_origin(c);
	for (size_t i = 0; i < n; i++)
		if (chronicle_wants(c, &in[i]) && (n <= 10 || t[i].n))
			print_instrument(c, &in[i], &t[i]);
	return 0;
}

const struct chronicle_format chronicle_summary = {"summary", begin, record, end, free_all};
