// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst stat of a process. What points and metrics mean, and how the result is shown, is what
 * the kernel's are and do; here is what else belongs to a process: its beginning, its end, and for
 * how long its threads were held.
 */
#include "stat/process_stat.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "open.h"
#include "process.h"
#include "run.h"
#include "stat/process_changes.h"
#include "kerninst/process.h"
#include "kerninst/measured.h"

/* How often it is looked whether the process is still there, and what it has mapped. */
#define LOOK 0.05

struct counting {
	const struct stat_options *o;
	pid_t pid;
	struct ki_target *t;
	struct ki_points points;
	struct ki_reading *seen, *now; /* NULL: the start */
	struct ki_measured report;
	struct ki_costs cost;
	struct command command;
	double start, last;
	bool ended; /* the process, or it is another program */
};

/* What is for the kernel only. */
static int check(const struct verb *self, const struct stat_options *o)
{
	const struct {
		bool given;
		const char *name;
	} rows[] = {
		{o->when.own, "--own"},
		{o->budget > 0, "--budget"},
		{o->per_cpu, "--per-cpu"},
		{o->dry_run, "--dry-run"},
		{o->hash, "--text-hash"},
		{o->preset, "a preset"},
		{o->moving != KI_MOVING_AUTO, "--move"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].given)
			return cli_misuse(self, "%s: that is not built for processes yet",
					  rows[i].name);
	return CLI_OK;
}

static int open_process(struct counting *c, const struct ki_asked *asked,
			const struct ki_predicate *when)
{
	struct ki_points_how how = {.wanted = c->o->wanted,
				    .moving = KI_MOVING_NEVER,
				    .when = when,
				    .metered = c->o->cost,
				    .splits = &c->o->splits};
	struct ki_err err = {0};
	int ret = CLI_OK;

	/* The command may be what makes the process map it. */
	if (c->o->await && !c->command.pid)
		ret = run_prepare(&c->command, c->o->command, false);
	if (!ret && c->o->await)
		ret = await_modules(c->pid, asked, &c->command, &c->t);
	else if (!ret && ki_target_open_process(c->pid, &c->t, &err))
		ret = cli_fail(&err);
	if (ret)
		return ret;
	ret = points_resolve(&c->points, c->t, asked, &how, true);
	if (!ret && c->o->cost && ki_cost_open(&c->cost, &c->points, &err))
		ret = cli_fail(&err);
	return ret;
}

static int open_report(struct counting *c)
{
	const struct stat_options *o = c->o;
	FILE *out = o->output ? fopen(o->output, "we") : stdout;
	bool edges = c->points.v.n > 0;

	if (!out)
		return cli_error("%s: %s", o->output, strerror(errno));
	for (size_t i = 0; i < c->points.v.n; i++)
		edges &= c->points.v.v[i].at.kind == KI_POINT_EDGE;
	c->report = (struct ki_measured){.out = out,
					 .bold = cli_bold(out),
					 .separator = o->separator,
					 .cost = o->cost ? &c->cost : NULL,
					 .shape = edges ? KI_SHAPE_EDGES : o->wanted.shape,
					 .timed = o->interval > 0};
	if (ki_measured_open(&c->report, &c->points, o->json))
		return cli_no_memory();
	return o->show_code ? report_code(&c->report, &c->points) : CLI_OK;
}

static int nothing_left(struct counting *c)
{
	ki_measured_refused(&c->report, &c->points);
	return points_nothing(&c->points);
}

static bool all_refused(const struct counting *c)
{
	return ki_points_refused(&c->points) == c->points.cells.n;
}

static int install(struct counting *c)
{
	int ret;

	if (all_refused(c))
		return nothing_left(c);
	ret = points_put_in(&c->points, true);
	if (ret)
		return ret;
	if (all_refused(c))
		return nothing_left(c);
	if (!c->o->quiet)
		points_warn_refused(&c->points);
	return CLI_OK;
}

static int read_values(struct counting *c)
{
	struct ki_err err = {0};

	if (c->cost.parts)
		ki_cost_mark(&c->cost, wait_now());
	ki_reading_free(c->seen);
	c->seen = c->now;
	c->now = NULL;
	if (ki_measure_read(c->points.measure, &c->now, &err))
		return cli_fail(&err);
	ki_points_read(&c->points, c->seen, c->now);
	return CLI_OK;
}

/* What came since the last time. */
static int show(struct counting *c, double now)
{
	return ki_measured_values(&c->report, &c->points, now - c->start, now - c->last)
		       ? report_failed()
		       : CLI_OK;
}

static const struct ki_splice_process *splice_of(const struct counting *c)
{
	return ki_measure_process(c->points.measure);
}

static bool has_ended(struct counting *c)
{
	c->ended = process_has_ended(splice_of(c));
	return c->ended;
}

static int watch(struct counting *c)
{
	const struct stat_options *o = c->o;
	double end = o->duration > 0 ? c->start + o->duration : -1;
	double next = o->interval > 0 ? c->start + o->interval : -1;

	for (;;) {
		double now = wait_now(), at = now + LOOK;
		enum event e;
		int ret;

		at = end >= 0 && end < at ? end : at;
		at = next >= 0 && next < at ? next : at;
		e = run_wait(&c->command, at);
		now = wait_now();
		if (e != EVENT_TIME || (end >= 0 && now >= end))
			return CLI_OK;
		/* A command goes on to its end. */
		if (has_ended(c) && !c->command.pid)
			return CLI_OK;
		if (!c->ended && tell_changes(c->t, c->pid, &c->points, c->o->quiet) &&
		    !c->command.pid)
			return CLI_OK;
		if (next < 0 || now < next)
			continue;
		ret = read_values(c);
		if (!ret)
			ret = show(c, now);
		if (ret)
			return ret;
		c->last = now;
		next += o->interval;
	}
}

static int measure(struct counting *c)
{
	int ret;

	ret = c->command.pid ? CLI_OK : run_prepare(&c->command, c->o->command, false);
	if (ret)
		return ret;
	ret = read_values(c); /* what was counted before this moment does not count */
	if (ret)
		return ret;
	c->start = c->last = wait_now();
	if (c->cost.parts)
		ki_cost_begin(&c->cost, c->start);
	if (!c->command.started)
		run_start(&c->command);
	ret = watch(c);
	return ret ? ret : run_failed(&c->command);
}

static int write_result(struct counting *c, double end)
{
	int ret = show(c, end);

	return !ret && ki_measured_refused(&c->report, &c->points) ? report_failed() : ret;
}

static int run_all(struct counting *c)
{
	double end;
	int ret = install(c), out;

	if (ret)
		return ret;
	ret = measure(c);
	end = wait_now();
	if (!ret)
		ret = read_values(c);
	out = points_take_out(&c->points, true);
	if (!ret && !c->o->quiet) {
		process_warn_lost(splice_of(c), c->pid);
		points_warn_deep(&c->points);
	}
	if (!ret)
		ret = write_result(c, end);
	if (!c->o->quiet)
		process_tell_cost(splice_of(c), c->pid, c->ended && c->pid != c->command.pid);
	return run_status(&c->command, ret ? ret : out);
}

static int close_output(struct counting *c, int status)
{
	if (!c->report.out || c->report.out == stdout)
		return status;
	if (fclose(c->report.out) && !status)
		return cli_error("%s: %s", c->o->output, strerror(errno));
	return status;
}

int process_stat(const struct verb *self, const struct stat_options *o, pid_t pid,
		 const struct ki_asked *asked, const struct ki_predicate *when)
{
	struct counting c = {.o = o, .pid = pid};
	int ret = check(self, o);

	if (!ret && pid == OPEN_COMMAND) {
		ret = o->command ? run_reach_entry(&c.command, o->command, false)
				 : cli_misuse(self, "command/POINT: the command stands behind --");
		c.pid = c.command.pid;
	}
	if (!ret)
		ret = open_process(&c, asked, when);
	if (!ret)
		ret = open_report(&c);
	if (!ret)
		ret = run_all(&c);
	command_abandon(&c.command);
	ki_measured_close(&c.report);
	ki_cost_close(&c.cost);
	ki_points_free(&c.points);
	ki_reading_free(c.seen);
	ki_reading_free(c.now);
	ki_target_close(c.t);
	return close_output(&c, ret);
}
