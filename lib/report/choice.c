// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is to be shown of a file if nothing is asked for: all is gone through once, to see what
 * there is, and then the first case that fits says how.
 */
#include <errno.h>
#include <string.h>

#include "chronicle_pairs.h"
#include "chronicle_paths.h"

#define SCREENFUL 50

struct survey {
	const struct chronicle *c;
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
	return path_set_fits(&s->paths, s->c->shown);
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
	const struct chronicle_format *format;
} cases[] = {
	{is_totals, &chronicle_rates},	 /* counts of intervals: a series */
	{is_short, &chronicle_table},	 /* few records: all of them */
	{has_paths, &chronicle_paths},	 /* several points that few ways lead by: each way */
	{has_pairs, &chronicle_summary}, /* entries and exits: histograms of how long it took */
	{repeats, &chronicle_counts},	 /* the same values again and again: how often each */
	{is_any, &chronicle_summary},	 /* values: histograms */
};

static void note_values(struct survey *s, const struct seen_record *e)
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

static int survey_begin(struct chronicle *c)
{
	return path_set_begin(&((struct survey *)c->own)->paths, c);
}

static int survey_record(struct chronicle *c, const struct seen_record *e)
{
	struct survey *s = c->own;

	note_values(s, e);
	return path_set_record(&s->paths, e);
}

static int survey_end(struct chronicle *c)
{
	return path_set_end(&((struct survey *)c->own)->paths);
}

/* What the instruments say, before any record is seen. */
static int look_at_instruments(struct chronicle *c, struct survey *s)
{
	static const struct pairs_to nowhere;
	struct pairs *p;
	size_t n, wanted = 0, totals = 0;
	const struct ki_instrument *in = ki_recording_instruments(c->r, &n);
	int ret = pairs_new(c, &nowhere, &p);

	for (size_t i = 0; i < n; i++) {
		wanted += chronicle_wants(c, &in[i]);
		totals += chronicle_wants(c, &in[i]) && chronicle_is_totals(&in[i]);
	}
	s->totals = wanted && totals == wanted;
	s->pairs = !ret && pairs_any(p);
	pairs_free(p);
	return ret;
}

int chronicle_choose(struct chronicle *c, const struct chronicle_format **out)
{
	static const struct chronicle_format survey = {
		.begin = survey_begin, .record = survey_record, .end = survey_end};
	struct survey s = {.c = c, .paths.most = SCREENFUL};
	size_t i = 0;
	int ret = look_at_instruments(c, &s);

	c->own = &s;
	if (!ret)
		ret = chronicle_show(c, &survey);
	c->own = NULL;
	while (!cases[i].fits(&s))
		i++;
	*out = cases[i].format;
	path_set_free(&s.paths);
	return ret;
}
