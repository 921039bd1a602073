// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The paths: each different way from the entry of a function to its end, how often it was gone, how
 * long it took, and when in it each step was.
 */
#include "report/paths.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "out/seconds.h"
#include "util/text.h"

static const struct ki_record_field duration = {"time", "", KI_U64, KI_SHOW_SECONDS};

static int begin(struct ki_report *c)
{
	struct path_set *s = calloc(1, sizeof(*s));

	c->own = s;
	if (!s)
		return -ENOMEM;
	s->by_thread = c->threads;
	return ki_path_set_begin(s, c);
}

static int record(struct ki_report *c, const struct ki_report_record *e)
{
	return ki_path_set_record(c->own, e);
}

static void print_steps(const struct ki_report *c, const struct path *p)
{
	size_t n;
	const struct ki_instrument *in = ki_recording_instruments(c->r, &n);
	char after[KI_SECONDS_TEXT];

	fprintf(c->out, "       AFTER    TIMES  POINT\n");
	for (size_t i = 0; i < p->nsteps; i++) {
		ki_seconds_text(p->sums[i].after / (double)p->duration.n, after);
		ki_text_print(c->out, "%12s %8.4g  %*s%s\n", after,
			      (double)p->sums[i].times / (double)p->duration.n,
			      2 * (int)p->steps[i].depth, "", in[p->steps[i].in].name);
	}
	if (p->cut)
		fprintf(c->out, "                       ... and more, which are not kept\n");
}

/* Idle threads, one of each CPU, have no number of their own. */
static void print_thread(const struct ki_report *c, uint64_t tid)
{
	if (tid >> 32)
		fprintf(c->out, " of the idle thread of CPU %" PRIu32, (uint32_t)tid);
	else if (tid)
		fprintf(c->out, " of thread %" PRIu64, tid);
}

static void print_path(const struct ki_report *c, const struct path_set *s, size_t i)
{
	const struct path *p = s->rows.v[i];

	fprintf(c->out, "\npath %zu", i + 1);
	print_thread(c, p->tid);
	fprintf(c->out, ": %" PRIu64 " times, %.1f%%\n", p->duration.n,
		100 * (double)p->duration.n / (double)s->walks.whole);
	ki_spread_print(c, &duration, &p->duration);
	print_steps(c, p);
}

static void print_notes(const struct ki_report *c, const struct path_set *s)
{
	fprintf(c->out, "%" PRIu64 " paths were taken, %zu different", s->walks.whole, s->rows.n);
	if (s->walks.broken)
		fprintf(c->out,
			"; of %" PRIu64 " more, with %" PRIu64
			" records, an entry or an exit is missing",
			s->walks.broken, s->walks.swallowed);
	if (s->walks.outside)
		fprintf(c->out, "; %" PRIu64 " records are in none", s->walks.outside);
	fputc('\n', c->out);
	if (!s->walks.whole)
		fprintf(c->out, "a path begins at the entry of a function that has recorded tid\n");
	if (s->sampled)
		fprintf(c->out,
			"sampled: steps are missing, and counts are of what was recorded\n");
}

static int end(struct ki_report *c)
{
	struct path_set *s = c->own;
	int ret = ki_path_set_end(s);

	if (ret)
		return ret;
	ki_report_origin(c);
	print_notes(c, s);
	for (size_t i = 0; i < s->rows.n; i++)
		print_path(c, s, i);
	return 0;
}

static void free_all(struct ki_report *c)
{
	struct path_set *s = c->own;

	if (s)
		ki_path_set_free(s);
	free(s);
	c->own = NULL;
}

const struct ki_report_format ki_report_paths = {"paths", begin, record, end, free_all};
