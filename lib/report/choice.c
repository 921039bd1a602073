// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What is to be shown of a file if nothing is asked for: all is gone through once, to see what
 * there is, and then the first case that fits says how.
 */
#include <errno.h>
#include <string.h>

#include "report/pairs.h"
#include "report/paths.h"

#define SCREENFUL 50

struct survey {
	const struct ki_report *c;
	bool totals, pairs; /* all instruments only count; entries and exits can be paired */
	struct seen {
		const struct ki_instrument *in;
		uint64_t values[KI_RECORD_WORDS];
	} seen[SCREENFUL]; /* different values */
	unsigned int n;	   /* of them; more: SCREENFUL + 1 */
	struct path_set paths;
};

static bool is_totals(const struct survey *s)
{
	return s->totals;
}

static bool is_short(const struct survey *s)
{
	return s->c->shown <= SCREENFUL;
}

static bool has_paths(const struct survey *s)
{
	return ki_path_set_fits(&s->paths, s->c->shown);
}

static bool has_pairs(const struct survey *s)
{
	return s->pairs;
}

static bool repeats(const struct survey *s)
{
	return s->n <= SCREENFUL;
}

static bool is_any(const struct survey *s)
{
	(void)s;
	return true;
}

static const struct {
	bool (*fits)(const struct survey *s);
	const struct ki_report_format *format;
} cases[] = {
	{is_totals, &ki_report_rates},	 /* counts of intervals: a series */
	{is_short, &ki_report_table},	 /* few records: all of them */
	{has_paths, &ki_report_paths},	 /* several points that few ways lead by: each way */
	{has_pairs, &ki_report_summary}, /* entries and exits: histograms of how long it took */
	{repeats, &ki_report_counts},	 /* the same values again and again: how often each */
	{is_any, &ki_report_summary},	 /* values: histograms */
};

static void note_values(struct survey *s, const struct ki_report_record *e)
{
	size_t size = e->in->nfields * sizeof(*e->values);

	for (unsigned int i = 0; i < s->n && i < SCREENFUL; i++)
		if (s->seen[i].in == e->in && !memcmp(s->seen[i].values, e->values, size))
			return;
	if (s->n < SCREENFUL) {
		s->seen[s->n].in = e->in;
		memcpy(s->seen[s->n].values, e->values, size);
	}
	if (s->n <= SCREENFUL)
		s->n++;
}

static int survey_begin(struct ki_report *c)
{
	return ki_path_set_begin(&((struct survey *)c->own)->paths, c);
}

static int survey_record(struct ki_report *c, const struct ki_report_record *e)
{
	struct survey *s = c->own;

	note_values(s, e);
	return ki_path_set_record(&s->paths, e);
}

static int survey_end(struct ki_report *c)
{
	return ki_path_set_end(&((struct survey *)c->own)->paths);
}

/* What the instruments say, before any record is seen. */
static int look_at_instruments(struct ki_report *c, struct survey *s)
{
	static const struct pairs_to nowhere;
	struct pairs *p;
	size_t n, wanted = 0, totals = 0;
	const struct ki_instrument *in = ki_recording_instruments(c->r, &n);
	int ret = ki_pairs_new(c, &nowhere, &p);

	for (size_t i = 0; i < n; i++) {
		wanted += ki_report_wants(c, &in[i]);
		totals += ki_report_wants(c, &in[i]) && ki_report_is_totals(&in[i]);
	}
	s->totals = wanted && totals == wanted;
	s->pairs = !ret && ki_pairs_any(p);
	ki_pairs_free(p);
	return ret;
}

int ki_report_choose(struct ki_report *c, const struct ki_report_format **out)
{
	static const struct ki_report_format survey = {
		.begin = survey_begin, .record = survey_record, .end = survey_end};
	struct survey s = {.c = c, .paths.most = SCREENFUL};
	size_t i = 0;
	int ret = look_at_instruments(c, &s);

	c->own = &s;
	if (!ret)
		ret = ki_report_go_through(c, &survey);
	c->own = NULL;
	while (!cases[i].fits(&s))
		i++;
	*out = cases[i].format;
	ki_path_set_free(&s.paths);
	return ret;
}
