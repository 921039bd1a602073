// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst stat: measure functions and points of the kernel, or of a process.
 *
 * The order of things is what makes the counts exact: the command exists before anything is
 * installed, but becomes itself only when everything is; counters are read when it has ended,
 * before anything is taken out.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "kerninst/asked.h"
#include "kerninst/stat.h"
#include "open.h"
#include "points.h"
#include "process.h"
#include "run.h"
#include "stat/process_stat.h"
#include "stat/stat_options.h"

struct run {
	const struct stat_options *o;
	const struct verb *self;
	struct ki_asked_all asked;
	struct ki_predicate *when;
	struct command command;
	struct ki_prediction prediction;
	struct ki_stat s;
	struct ki_err err;
};

/* What the library has returned; without a word: the result could not be written. */
static int told(struct run *r, int ret)
{
	ret = !ret ? CLI_OK : r->err.code ? cli_fail(&r->err) : report_failed();
	ki_err_clear(&r->err);
	return ret;
}

/* ---- points ---- */

static int read_points(struct run *r)
{
	static char everything[] = "*";
	const struct stat_options *o = r->o;
	int ret = ki_asked_of(&r->asked, 0) ? CLI_OK : cli_no_memory();
	pid_t first = 0;

	for (int i = 0; !ret && i < o->npoints; i++) {
		char *rest;
		const pid_t pid = open_prefix(o->points[i], &rest);
		struct ki_asked_one *a;

		if (i && pid != first && !ki_aggregate_wanted(&o->by))
			return cli_misuse(r->self,
					  "'%s': points of one process at a time, but with --by",
					  o->points[i]);
		first = pid;
		a = ki_asked_of(&r->asked, pid);
		ret = a ? points_ask(&a->asked, r->self, *rest ? rest : everything)
			: cli_no_memory();
		if (!ret && pid == OPEN_COMMAND && !o->command)
			ret = cli_misuse(r->self, "command/POINT: the command stands behind --");
	}
	return ret;
}

static int open_processes(struct run *r)
{
	const struct stat_options *o = r->o;
	int ret = CLI_OK;

	if (r->asked.of.n > 1 && (o->moving == KI_MOVING_ALWAYS || (o->dry_run && o->cost)))
		return cli_misuse(r->self, "%s: that is not built for processes yet",
				  o->dry_run ? "--dry-run --cost of what the kernel counts"
					     : "--move");
	for (size_t i = 1; !ret && i < r->asked.of.n; i++) {
		const struct ki_asked_one *a = &r->asked.of.v[i];
		struct ki_target *t = NULL;

		if (o->await)
			ret = process_stat_await(o, a->pid, &a->asked, &r->command, &t);
		ki_target_free(t);
		if (!ret)
			ret = process_open(&r->asked.processes, a->pid, &r->command, o->command);
	}
	return ret;
}

/* ---- before it begins ---- */

static int open_output(struct run *r)
{
	const struct stat_options *o = r->o;
	int ret;

	r->s.out = o->output ? fopen(o->output, "we") : stdout;
	if (!r->s.out)
		return cli_error("%s: %s", o->output, strerror(errno));
	r->s.bold = cli_bold(r->s.out);
	ret = told(r, ki_stat_new(&r->s, &r->err));
	return !ret && o->show_code ? report_code(&r->s.report, &r->s.points) : ret;
}

static bool no_progress(const struct stat_options *o)
{
	return o->quiet || (!o->progress && !isatty(STDERR_FILENO));
}

static void give(struct run *r)
{
	const struct stat_options *o = r->o;

	r->s.wanted = o->wanted;
	r->s.moving = o->moving;
	r->s.when = r->when;
	r->s.splits = &o->splits;
	r->s.per_cpu = o->per_cpu;
	r->s.costed = o->cost || o->budget > 0;
	r->s.budget = o->budget;
	r->s.timed = o->interval > 0;
	r->s.hashed = o->hash;
	r->s.quiet = o->quiet;
	r->s.json = o->json;
	r->s.separator = o->separator;
	r->s.listener = cli_listener(no_progress(o));
}

/* Those of a process that is measured alone, or of the kernel and whatever else. */
static int find(struct run *r, struct ki_points_how *how)
{
	struct ki_stat *s = &r->s;

	return told(r,
		    s->pid ? ki_points_find(&s->points, s->t, &r->asked.of.v[1].asked, how,
					    s->listener, &r->err)
			   : ki_asked_find(&r->asked, &s->points, s->t, how, s->listener, &r->err));
}

static int find_points(struct run *r)
{
	const struct stat_options *o = r->o;
	struct ki_points_how how = ki_stat_how(&r->s);
	struct ki_stat *s = &r->s;
	int ret = CLI_OK;

	r->prediction.pause = pause_seconds;
	r->prediction.listener = s->listener;

	if (ki_aggregate_wanted(s->by))
		ret = told(r, ki_aggregate_prepare(s->by, s->t, &s->points, &r->err));
	if (!ret && o->preset)
		ret = told(r, ki_preset_ask(o->preset, s->t, &r->asked.of.v[0].asked, &r->err));
	if (!ret)
		ret = find(r, &how);
	if (!ret && o->cost && o->dry_run)
		ret = told(r, ki_predict_for(&r->prediction, &s->points, s->t,
					     &r->asked.of.v[s->pid ? 1 : 0].asked, &how, &r->err));
	if (!ret && s->costed && !o->dry_run)
		ret = told(r, ki_cost_new(&s->cost, &s->points, &r->err));
	return ret;
}

static int open_all(struct run *r)
{
	const struct open_options live = {0};
	int ret;

	if (r->s.pid)
		return process_stat_open(r->self, r->o, &r->s, &r->command,
					 &r->asked.of.v[1].asked);
	ret = open_or_fail(&live, &r->s.t);
	return ret ? ret : open_processes(r);
}

static int prepare(struct run *r)
{
	const struct stat_options *o = r->o;
	int ret;

	give(r);
	ret = open_all(r);
	if (!ret)
		ret = find_points(r);
	if (!ret)
		ret = open_output(r);
	if (ret)
		return ret;
	if (!o->dry_run && ki_points_all_refused(&r->s.points))
		return told(r, ki_stat_nothing(&r->s, &r->err));
	ret = o->hash ? told(r, ki_text_watch_begin(&r->s.text, r->s.t, &r->err)) : CLI_OK;
	if (ret || !o->command || o->dry_run || r->command.pid || r->s.pid)
		return ret;
	return run_prepare(&r->command, o->command, false);
}

/* ---- while it goes on ---- */

#define LOOK 0.05 /* seconds between two looks whether processes are still there */

/* A command goes on to its end, but what a process maps meanwhile is said. */
static bool looks(const struct run *r)
{
	return r->s.pid || (r->asked.processes.n && !r->command.pid);
}

static bool is_over(struct run *r)
{
	const bool over =
		r->s.pid ? ki_stat_over(&r->s) : ki_asked_over(&r->asked, r->s.points.measure);

	return over && !r->command.pid;
}

static double next_look(const struct run *r, double at)
{
	const double now = wait_now(), next = ki_aggregate_next_look(r->s.by, now, at);

	return looks(r) && (next < 0 || next > now + LOOK) ? now + LOOK : next;
}

/* Wait for the end, showing what was added meanwhile if that is wanted. */
static int watch(struct run *r)
{
	const struct stat_options *o = r->o;
	double end = o->duration > 0 ? r->s.start + o->duration : -1;
	double next = o->interval > 0 ? r->s.start + o->interval : -1;

	for (;;) {
		bool tick;
		double at = ki_stat_next(&r->s, end, next, &tick);
		enum event e = run_wait(&r->command, next_look(r, at));
		double now = wait_now();

		if (e != EVENT_TIME || (!tick && end >= 0 && now >= end) ||
		    (looks(r) && is_over(r)))
			return CLI_OK;
		if ((ki_aggregate_look(r->s.by) || looks(r)) && (at < 0 || now < at))
			continue;
		if (told(r, ki_stat_look(&r->s, now, &r->err)))
			return CLI_ERROR;
		if (!tick)
			continue;
		if (told(r, ki_stat_table(&r->s, now, &r->err)))
			return CLI_ERROR;
		next += o->interval;
	}
}

static int measure(struct run *r)
{
	int ret = r->s.pid && !r->command.pid ? run_prepare(&r->command, r->o->command, false)
					      : CLI_OK;

	if (!ret)
		ret = told(r, ki_stat_begin(&r->s, &r->err));
	if (ret)
		return ret;
	if (!r->command.started)
		run_start(&r->command);
	ret = watch(r);
	return ret ? ret : run_failed(&r->command);
}

static int run_all(struct run *r)
{
	double end;
	int ret = told(r, ki_stat_put_in(&r->s, &r->err)), out;

	if (ret)
		return ret;
	ret = measure(r);
	end = wait_now();
	if (!ret)
		ret = told(r, ki_stat_end(&r->s, &r->err));
	out = told(r, ki_stat_take_out(&r->s, &r->err));
	if (!ret)
		ret = told(r, ki_stat_result(&r->s, end, &r->err));
	if (r->s.pid && !r->o->quiet)
		process_tell_cost(ki_measure_process(r->s.points.measure), r->s.pid,
				  r->s.ended && r->s.pid != r->command.pid);
	return run_status(&r->command, ret ? ret : out);
}

static int close_output(struct run *r, int status)
{
	if (!r->s.out || r->s.out == stdout)
		return status;
	if (fclose(r->s.out) && !status)
		return cli_error("%s: %s", r->o->output, strerror(errno));
	return status;
}

static int measure_all(struct run *r)
{
	const struct stat_options *o = r->o;
	int ret = prepare(r);

	if (ret)
		return ret;
	return o->dry_run ? report_dry(&r->s.report, &r->s.points, o->cost ? &r->prediction : NULL,
				       o->quiet)
			  : run_all(r);
}

/* All points are of one process, and nothing is asked for that only the kernel can do. */
static pid_t process_of(const struct run *r)
{
	return ki_aggregate_wanted(&r->o->by) ? 0 : ki_asked_process(&r->asked, &r->o->wanted);
}

static int stat_any(struct run *r, struct stat_options *o)
{
	int ret = read_points(r);

	if (!ret)
		ret = when_predicate(&o->when, r->self, &r->when);
	if (!ret)
		ret = splits_make(&o->splits, r->self, o->when.text);
	if (ret)
		return ret;
	r->s.pid = process_of(r);
	if (o->await && r->asked.of.n == 1)
		return cli_misuse(r->self, "--await: only for points of a process");
	return measure_all(r);
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct stat_options o = {0};
	struct run r = {.o = &o, .self = self, .s = {.by = &o.by}};
	bool done;
	int ret = stat_parse(self, argc, argv, &o, &done);

	if (!done) {
		wait_prepare();
		ret = stat_any(&r, &o);
	}
	command_abandon(&r.command);
	ki_stat_free(&r.s);
	ki_prediction_free(&r.prediction);
	ki_asked_all_free(&r.asked);
	ki_target_free(r.s.t);
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
