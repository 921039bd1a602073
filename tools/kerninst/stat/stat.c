// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst stat: measure functions and points of the kernel.
 *
 * The order of things is what makes the counts exact: the command exists before anything is
 * installed, but becomes itself only when everything is; counters are read when it has ended,
 * before anything is taken out.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "points.h"
#include "cli.h"
#include "run.h"
#include "open.h"
#include "stat/process_stat.h"
#include "stat/stat_points.h"
#include "kerninst/text_change.h"
#include "kerninst/measured.h"
#include "kerninst/skipped.h"
#include "stat/stat_options.h"

struct run {
	const struct stat_options *o;
	struct ki_aggregate *by;
	struct ki_target *t;
	struct ki_predicate *when;
	struct stat_points asked;
	struct ki_points points;
	struct ki_reading *seen, *now; /* NULL: the start */
	struct command command;
	struct ki_costs cost;
	struct ki_budget budget;
	struct ki_prediction prediction;
	struct ki_measured report;
	FILE *out;
	double start, last; /* times */
	struct ki_skipped skipped;
	struct ki_measured_patches patches;
	struct ki_text_watch text;
};

/* All points are refused. */
static int nothing_left(struct run *r)
{
	ki_measured_refused(&r->report, &r->points);
	return points_nothing(&r->points);
}

/* Edges have a table of their own, however they were asked for. */
static enum ki_shape shown(const struct run *r)
{
	if (r->o->wanted.shape != KI_SHAPE_WHOLE)
		return r->o->wanted.shape;
	for (size_t i = 0; i < r->points.v.n; i++)
		if (r->points.v.v[i].at.kind != KI_POINT_EDGE)
			return KI_SHAPE_WHOLE;
	return KI_SHAPE_EDGES;
}

static bool is_costed(const struct stat_options *o)
{
	return o->cost || o->budget > 0;
}

static int open_report(struct run *r)
{
	const struct stat_options *o = r->o;

	r->out = o->output ? fopen(o->output, "we") : stdout;
	if (!r->out)
		return cli_error("%s: %s", o->output, strerror(errno));
	r->report = (struct ki_measured){.out = r->out,
					 .separator = o->separator,
					 .shape = shown(r),
					 .timed = o->interval > 0,
					 .per_cpu = o->per_cpu,
					 .bold = cli_bold(r->out)};
	r->report.cost = is_costed(o) && !o->dry_run ? &r->cost : NULL;
	r->report.budget = o->budget;
	if (ki_measured_open(&r->report, &r->points, o->json))
		return cli_no_memory();
	return o->show_code ? report_code(&r->report, &r->points) : CLI_OK;
}

static bool no_progress(const struct stat_options *o)
{
	return o->quiet || (!o->progress && !isatty(STDERR_FILENO));
}

/* By keys: each hit, or what goes on, is measured, and changes a row beside that. */
static struct ki_points_how how_by(struct run *r, struct ki_points_how how)
{
	if (!ki_aggregate_wanted(r->by))
		return how;
	how.wanted = ki_aggregate_metrics(r->by);
	how.moving = KI_MOVING_NEVER;
	how.act = ki_aggregate_act;
	how.ends = ki_aggregate_ends;
	how.arg = r->by;
	return how;
}

static int prepare(struct run *r, const struct verb *self)
{
	const struct open_options live = {0};
	const struct stat_options *o = r->o;
	struct ki_points_how how = how_by(r, (struct ki_points_how){.wanted = o->wanted,
								    .moving = o->moving,
								    .when = r->when,
								    .splits = &o->splits,
								    .per_cpu = o->per_cpu,
								    .metered = is_costed(o)});
	struct ki_err err = {0};
	int ret;

	ret = open_or_fail(&live, &r->t);
	if (!ret)
		ret = stat_points_open(&r->asked, self, o, &r->command);
	if (!ret && ki_aggregate_wanted(&r->o->by))
		ret = stat_by_open(r->by, r->t, &r->points);
	if (!ret && o->preset)
		ret = preset_ask(o->preset, r->t, stat_points_kernel(&r->asked));
	if (!ret)
		ret = stat_points_resolve(&r->asked, &r->points, r->t, &how, no_progress(o));
	if (!ret && o->cost && o->dry_run)
		ret = predict(&r->prediction, &r->points, r->t, stat_points_kernel(&r->asked),
			      &how);
	if (!ret && is_costed(o))
		ret = cost_open(&r->cost, &r->points);
	if (!ret)
		ret = open_report(r);
	if (ret)
		return ret;
	if (!o->dry_run && ki_points_refused(&r->points) == r->points.cells.n)
		return nothing_left(r);
	ret = o->hash && ki_text_watch_begin(&r->text, r->t, &err) ? cli_fail(&err) : CLI_OK;
	if (ret || !o->command || o->dry_run || r->command.pid)
		return ret;
	return run_prepare(&r->command, o->command, false);
}

static int take_out(struct run *r)
{
	return points_take_out(&r->points, no_progress(r->o));
}

static int put_in(struct run *r)
{
	int ret = points_put_in(&r->points, no_progress(r->o));

	if (ret)
		return ret;
	if (ki_points_refused(&r->points) == r->points.cells.n) {
		take_out(r);
		return nothing_left(r);
	}
	if (!r->o->quiet)
		points_warn_refused(&r->points);
	return CLI_OK;
}

static int read_values(struct run *r)
{
	struct ki_err err = {0};

	if (r->cost.parts) /* what reading costs is not of this time */
		ki_cost_mark(&r->cost, wait_now());
	ki_reading_free(r->seen);
	r->seen = r->now;
	r->now = NULL;
	if (ki_measure_read(r->points.measure, &r->now, &err))
		return cli_fail(&err);
	ki_points_read(&r->points, r->seen, r->now);
	return CLI_OK;
}

/* Those of keys, too. */
static int read_all(struct run *r)
{
	int ret = read_values(r);

	return ret || !ki_aggregate_wanted(r->by) ? ret : stat_by_end(r->by);
}

/* What came since the last time. */
static int write_values(struct run *r, double now)
{
	struct ki_aggregate_show how = {.out = r->out,
					.separator = r->o->separator,
					.json = r->o->json,
					.timed = r->o->interval > 0,
					.time = now - r->start,
					.seconds = now - r->last};

	if (ki_aggregate_wanted(r->by)) {
		int ret = stat_by_report(r->by, &how);

		if (ret || !is_costed(r->o))
			return ret;
		if (!r->o->json)
			putc('\n', r->out);
	}
	return ki_measured_values(&r->report, &r->points, now - r->start, now - r->last);
}

/* A part has been shed: say it of each metric that comes of it. */
static int tell_shed(void *arg, const struct ki_budget_change *change)
{
	const double now = change->time, rate = change->rate;
	struct run *r = arg;

	for (size_t i = 0; i < r->points.v.n; i++) {
		const struct ki_named_point *pt = &r->points.v.v[i];

		for (size_t k = pt->cell; k < pt->cell + pt->ncells; k++) {
			const struct ki_cell *c = &r->points.cells.v[k];
			const char *part = ki_points_part(&r->points, c->part);

			if (c->reason ||
			    ki_measure_part(r->points.measure, c->curve) != change->part)
				continue;
			ki_measured_shed(&r->report, pt, c, rate, now - r->start);
			if (!r->o->quiet)
				cli_warn("budget: %s %s%s%s: taken out after %.3f s, it cost %.0f "
					 "instructions a second; its numbers are of that time only",
					 pt->name, c->metric->name, part ? " " : "",
					 part ? part : "", now - r->start, rate);
		}
	}
	return CLI_OK;
}

/* When something is to be done, if nothing happens; *at, and whether it is the next table. */
static double next_deadline(const struct run *r, double end, double next, bool *tick)
{
	double at = ki_budget_next(&r->budget);

	*tick = next > 0 && (end < 0 || next < end);
	if (*tick && (at < 0 || next <= at))
		return next;
	*tick = false;
	return at < 0 || (end >= 0 && end <= at) ? end : at;
}

#define LOOK 0.05 /* seconds between two looks whether processes are still there */

/* A command goes on to its end. */
static bool looks(const struct run *r)
{
	return r->asked.processes.n && !r->command.pid;
}

static double next_look(const struct run *r, double at)
{
	const double now = wait_now(), next = ki_aggregate_next_look(r->by, now, at);

	return looks(r) && (next < 0 || next > now + LOOK) ? now + LOOK : next;
}

/* Wait for the end, showing what was added meanwhile if that is wanted. */
static int watch(struct run *r)
{
	const struct stat_options *o = r->o;
	double end = o->duration > 0 ? r->start + o->duration : -1;
	double next = o->interval > 0 ? r->start + o->interval : -1;

	for (;;) {
		bool tick;
		double at = next_deadline(r, end, next, &tick);
		enum event e = run_wait(&r->command, next_look(r, at));
		double now = wait_now();

		if (e != EVENT_TIME || (!tick && end >= 0 && now >= end) ||
		    (looks(r) && stat_points_over(&r->asked, r->points.measure)))
			return CLI_OK;
		if ((ki_aggregate_look(r->by) || looks(r)) && (at < 0 || now < at))
			continue;
		if (budget_look(&r->budget, now, tell_shed, r))
			return CLI_ERROR;
		if (!tick)
			continue;
		if (read_all(r))
			return CLI_ERROR;
		if (write_values(r, now))
			return report_failed();
		ki_aggregate_next(r->by);
		r->last = now;
		next += o->interval;
	}
}

static int measure(struct run *r)
{
	int ret;

	ret = read_values(r); /* what was counted before this moment does not count */
	if (!ret && ki_aggregate_wanted(r->by))
		ret = stat_by_begin(r->by);
	if (ret)
		return ret;
	r->start = r->last = wait_now();
	if (is_costed(r->o)) {
		ki_cost_begin(&r->cost, r->start);
		ret = budget_begin(&r->budget, &r->cost, r->o->budget);
	}
	if (ret)
		return ret;
	run_start(&r->command);
	ret = watch(r);
	return ret ? ret : run_failed(&r->command);
}

static int write_result(struct run *r, double end)
{
	const struct stat_options *o = r->o;
	struct ki_err err = {0};
	int ret = 0;

	if (o->hash)
		ret = ki_measured_hash(&r->report, "before", r->text.before);
	if (!ret)
		ret = write_values(r, end);
	if (!ret)
		ret = ki_measured_refused(&r->report, &r->points);
	if (!ret)
		ret = ki_measured_skipped(&r->report, r->skipped.n);
	if (!ret)
		ret = ki_measured_patches_show(&r->report, &r->patches);
	if (!ret && o->hash)
		ret = ki_measured_hash(&r->report, "after", r->text.after);
	if (ret)
		return report_failed();
	return o->hash && ki_text_watch_check(&r->text, r->t, &err) ? cli_fail(&err) : CLI_OK;
}

static int run_all(struct run *r)
{
	struct ki_err err = {0};
	double end;
	int ret, out, hash;

	ki_skipped_begin(&r->skipped, r->t);
	ret = put_in(r);
	if (ret)
		return ret;
	ret = measure(r);
	end = wait_now();
	if (!ret)
		ret = read_all(r);
	if (!ret && !r->o->quiet)
		points_warn_deep(&r->points);
	ki_measured_patches_read(&r->patches, r->t);
	out = take_out(r);
	ki_skipped_end(&r->skipped, r->t, r->o->quiet ? NULL : cli_listener(true));
	hash = r->o->hash && ki_text_watch_end(&r->text, r->t, &err) ? cli_fail(&err) : CLI_OK;
	if (!ret)
		ret = write_result(r, end);
	if (!ret)
		ret = out ? out : hash;
	return run_status(&r->command, ret);
}

static int close_output(struct run *r, int status)
{
	if (!r->out || r->out == stdout)
		return status;
	if (fclose(r->out) && !status)
		return cli_error("%s: %s", r->o->output, strerror(errno));
	return status;
}

static int stat_kernel(struct run *r, const struct verb *self)
{
	const struct stat_options *o = r->o;
	int ret = prepare(r, self);

	if (ret)
		return ret;
	return o->dry_run ? report_dry(&r->report, &r->points, o->cost ? &r->prediction : NULL,
				       o->quiet)
			  : run_all(r);
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct stat_options o = {0};
	struct run r = {.o = &o, .by = &o.by};
	pid_t pid;
	bool done;
	int ret;

	ret = stat_parse(self, argc, argv, &o, &done);
	if (done) {
		stat_options_free(&o);
		return ret;
	}
	wait_prepare();
	ret = stat_points_read(&r.asked, self, &o);
	if (!ret)
		ret = when_predicate(&o.when, self, &r.when);
	if (!ret)
		ret = splits_make(&o.splits, self, o.when.text);
	pid = ret ? 0 : stat_points_process(&r.asked, &o);
	if (!ret && o.await && !pid)
		ret = cli_misuse(self, "--await: only for calls and metrics of one process, "
				       "PID/MODULE:FUNCTION");
	if (!ret)
		ret = pid ? process_stat(self, &o, pid, &r.asked.of.v[1].asked, r.when)
			  : stat_kernel(&r, self);
	command_abandon(&r.command);
	ki_measured_close(&r.report);
	ki_budget_end(&r.budget);
	ki_cost_close(&r.cost);
	ki_prediction_free(&r.prediction);
	ki_points_free(&r.points);
	ki_reading_free(r.seen);
	ki_reading_free(r.now);
	stat_points_free(&r.asked);
	ki_target_close(r.t);
	ki_predicate_free(r.when);
	stat_options_free(&o);
	return close_output(&r, ret);
}

const struct verb verb_stat = {
	.name = "stat",
	.summary = "measure functions; count how often blocks, edges, instructions are reached",
	.usage = stat_usage,
	.run = run,
};
