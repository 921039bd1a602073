// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The summary: of each instrument how often, how fast, how many were lost, and of each of its
 * numbers the least, the mean, the greatest, the sum, and how they are spread; of entries and exits
 * that make pairs how long the calls took.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <time.h>

#include "report/code.h"
#include "report/pairs.h"
#include "report/spread.h"
#include "report/stack.h"
#include "util/text.h"

struct tally {
	uint64_t n;
	struct spread *fields;	 /* NULL: no record yet */
	struct spread *duration; /* of an entry's calls; NULL: none has ended */
};

struct summary {
	struct tally *tallies; /* of each instrument */
	struct pairs *pairs;
};

static const struct ki_record_field duration = {"duration", "", KI_U64, KI_SHOW_SECONDS};

/* Is it a quantity? Addresses, words of bits and names are not. */
static bool is_number(const struct ki_record_field *f)
{
	return f->show == KI_SHOW_DECIMAL || f->show == KI_SHOW_TICKS || f->show == KI_SHOW_SECONDS;
}

static int pair(struct ki_report *c, const struct thread *t, const struct ki_report_record *e)
{
	const struct frame *top = &t->stack.v[t->stack.n - 1];
	size_t n;
	struct tally *of =
		&((struct summary *)c->own)->tallies[top->in - ki_recording_instruments(c->r, &n)];

	if (!of->duration)
		of->duration = calloc(1, sizeof(*of->duration));
	if (!of->duration)
		return -ENOMEM;
	ki_spread_add(of->duration, &duration, ki_report_ns(e->time - top->start), e->factor);
	return 0;
}

static int single(struct ki_report *c, const struct ki_report_record *e)
{
	(void)c;
	(void)e;
	return 0;
}

static int begin(struct ki_report *c)
{
	static const struct pairs_to to = {pair, single};
	struct summary *s = calloc(1, sizeof(*s));
	size_t n;

	c->own = s;
	ki_recording_instruments(c->r, &n);
	if (s)
		s->tallies = calloc(n + 1, sizeof(*s->tallies));
	return s && s->tallies ? ki_pairs_new(c, &to, &s->pairs) : -ENOMEM;
}

static int record(struct ki_report *c, const struct ki_report_record *e)
{
	struct summary *s = c->own;
	struct tally *t = &s->tallies[e->index];

	if (!t->fields)
		t->fields = calloc(e->in->nfields + 1, sizeof(*t->fields));
	if (!t->fields)
		return -ENOMEM;
	t->n++;
	for (unsigned int i = 0; i < e->in->nfields; i++)
		if (is_number(&e->in->fields[i]))
			ki_spread_add(&t->fields[i], &e->in->fields[i], e->values[i], e->factor);
	return ki_pairs_record(s->pairs, e);
}

static void free_all(struct ki_report *c)
{
	struct summary *s = c->own;
	size_t n;

	ki_recording_instruments(c->r, &n);
	for (size_t i = 0; s && s->tallies && i < n; i++) {
		free(s->tallies[i].fields);
		free(s->tallies[i].duration);
	}
	if (s) {
		ki_pairs_free(s->pairs);
		free(s->tallies);
	}
	free(s);
}

static void print_sampling(const struct ki_report *c, const struct ki_instrument *in)
{
	const struct ki_report_sampling s = ki_report_sampling(c, in);

	if (s.rarest > 1)
		fprintf(c->out,
			"  sampled: at the rarest one of %" PRIu64
			" hits; each record is taken for so many, sums and counts are estimates\n",
			s.rarest);
	if (s.out >= 0)
		fprintf(c->out, "  taken out by the budget at %.3f s\n", s.out);
}

static void print_process(const struct ki_report *c, const struct ki_instrument *in)
{
	struct ki_user_frame f;
	const uint32_t pid = ki_report_process(c, in, &f);

	if (pid && *f.path)
		ki_text_print(c->out, "  process %u: %s, %s: build %s\n", pid,
			      *f.symbol ? f.symbol : "-", f.path, *f.build ? f.build : "-");
}

static void print_instrument(const struct ki_report *c, const struct ki_instrument *in,
			     const struct tally *t)
{
	uint64_t hits;
	double on, off;

	ki_report_span(c, in, &on, &off);
	fputc('\n', c->out);
	ki_text_print(c->out, "%s: %" PRIu64 " records", in->name, t->n);
	if (off > on)
		fprintf(c->out, ", %.1f/s", (double)t->n / (off - on));
	if (!ki_report_is_totals(in) && ki_report_hits(c, in, &hits) && hits != t->n)
		fprintf(c->out, ", reached %" PRIu64 " times", hits);
	fprintf(c->out, ", from %.3f to %.3f s\n", on, off);
	print_process(c, in);
	print_sampling(c, in);
	for (unsigned int i = 0; i < in->nfields; i++)
		if (t->fields && t->fields[i].n)
			ki_spread_print(c, &in->fields[i], &t->fields[i]);
	if (t->duration)
		ki_spread_print(c, &duration, t->duration);
}

void ki_report_origin(const struct ki_report *c)
{
	const struct ki_record_origin *o = ki_recording_origin(c->r);
	const struct ki_recording_state *s = ki_recording_state(c->r);
	time_t start = (time_t)(o->time / 1000000000);
	char when[64] = "";
	struct tm tm;

	if (gmtime_r(&start, &tm))
		strftime(when, sizeof(when), "%Y-%m-%d %H:%M:%S UTC", &tm);
	ki_text_print(c->out, "%s\n", o->command);
	ki_text_print(c->out, "%s, kernel %s, %u CPUs, %s, %.3f s\n", o->host, o->kernel, o->cpus,
		      when, ki_report_time(c, s->end));
	ki_report_code_print(c);
	fprintf(c->out, "%" PRIu64 " records, %" PRIu64 " lost\n", s->records, s->lost);
}

static int end(struct ki_report *c)
{
	const struct tally *t = ((const struct summary *)c->own)->tallies;
	size_t n;
	const struct ki_instrument *in = ki_recording_instruments(c->r, &n);

	ki_report_origin(c);
	for (size_t i = 0; i < n; i++)
		if (ki_report_wants(c, &in[i]) && (n <= 10 || t[i].n))
			print_instrument(c, &in[i], &t[i]);
	return 0;
}

const struct ki_report_format ki_report_summary = {"summary", begin, record, end, free_all};
