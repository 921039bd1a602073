// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst record: write a record each time that a point is reached.
 *
 * The file is there before anything is installed, so that its clock is the one by which instruments
 * come and go. What is installed first is there before the command starts; when it has ended,
 * everything is taken out, and then what is left in the buffers is read: so nothing is lost that
 * was not counted as lost.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "kerninst/measured.h"
#include "run.h"
#include "open.h"
#include "process.h"
#include "record/record_options.h"
#include "record/record_wait.h"

#define LOOK 0.02 /* seconds between two looks at who has new stacks: he may end soon */

struct record {
	struct record_options *o;
	struct ki_recorder r;
	struct ki_opened_processes processes;
	struct command command;
	struct record_waiting waiting;
	double end, next; /* when to stop, when to read: seconds of CLOCK_MONOTONIC; -1: never */
};

static bool no_progress(const struct record_options *o)
{
	return o->r.quiet || (!o->progress && !isatty(STDERR_FILENO));
}

/* What the recorder has said: it is not always more than that it failed. */
static int told(struct record *r, int ret)
{
	struct ki_err *err = &r->r.err;

	if (ret && err->code)
		ret = cli_fail(err);
	else if (ret)
		ret = ret == -ENOMEM ? cli_no_memory() : CLI_ERROR;
	ki_err_clear(err);
	return ret;
}

/* ---- the course of things ---- */

static void sooner(double *deadline, double time)
{
	if (time >= 0 && (*deadline < 0 || time < *deadline))
		*deadline = time;
}

static double next_deadline(const struct record *r)
{
	double deadline = r->end;

	sooner(&deadline, r->next);
	sooner(&deadline, ki_recorder_next(&r->r));
	if (r->r.stacks || r->processes.n)
		sooner(&deadline, wait_now() + LOOK);
	return deadline;
}

/* Seconds between two readings when nothing else happens; 0: never. */
static double period(const struct record_options *o)
{
	if (o->r.mode == KI_RECORDER_NEWEST)
		return 0;
	return o->interval > 0 ? o->interval : 1;
}

/* A command goes on to its end. */
static bool is_over(const struct record *r)
{
	return !r->command.pid && r->processes.n && ki_recorder_over(&r->r);
}

static int watch(struct record *r)
{
	double every = period(r->o);
	int ret = CLI_OK;

	r->next = every > 0 ? wait_now() + every : -1;
	while (!ret) {
		enum record_event e = record_wait(&r->waiting, &r->command, next_deadline(r));
		double now = wait_now();

		if (r->r.stacks)
			ki_record_look(r->r.file);
		if (e == RECORD_END || (r->end >= 0 && now >= r->end) || is_over(r))
			break;
		ret = told(r, ki_recorder_due(&r->r));
		if (!ret && e == RECORD_SNAPSHOT)
			ki_recorder_snapshot(&r->r);
		else if (!ret && (e == RECORD_DATA || (every > 0 && now >= r->next)))
			ret = told(r, ki_recorder_read(&r->r));
		while (every > 0 && now >= r->next)
			r->next += every;
	}
	return ret;
}

static int record(struct record *r)
{
	int ret = told(r, ki_recorder_begin(&r->r));

	if (ret)
		return ret;
	if (r->o->duration > 0)
		r->end = wait_now() + r->o->duration;
	run_start(&r->command);
	ret = watch(r);
	return ret ? ret : run_failed(&r->command);
}

static void last_word(const struct record *r)
{
	const struct ki_recorder *c = &r->r;
	double seconds = wait_now() - c->start;

	if (r->o->json)
		ki_recorder_json(c, seconds, stdout);
	if (c->o->quiet)
		return;
	ki_recorder_warn(c);
	if (!r->o->json)
		ki_recorder_say(c, seconds);
}

/* Everything is taken out whatever happens; and then the buffers are read for the last time. */
static int run_all(struct record *r)
{
	int ret = record(r), out = told(r, ki_recorder_take_out(&r->r)), end;

	end = told(r, ki_recorder_finish(&r->r));
	if (!end)
		last_word(r);
	ret = ret ? ret : end;
	return run_status(&r->command, ret ? ret : out);
}

/* ---- before it begins: what would be put in, without or before doing it ---- */

/* Of several that come and go at other times. */
static void print_times(const struct ki_recorder_group *g, FILE *out)
{
	fprintf(out, "from %g s", g->at);
	if (g->until > 0)
		fprintf(out, " to %g s", g->until);
	fputs(":\n", out);
}

static int show_group(const struct record *r, struct ki_recorder_group *g)
{
	struct ki_measured report = {.out = stdout, .bold = cli_bold(stdout)};
	int ret = CLI_OK;

	if (ki_measured_new(&report, &g->points, r->o->json))
		return cli_no_memory();
	if (r->r.ngroups > 1 && !r->o->json)
		print_times(g, report.out);
	if (r->o->show_code)
		ret = report_code(&report, &g->points);
	if (!ret && r->o->dry_run)
		ret = report_dry(&report, &g->points, g->predicted ? &g->prediction : NULL,
				 r->o->r.quiet);
	ki_measured_free(&report);
	return ret;
}

static int show(struct record *r)
{
	int ret = CLI_OK;

	if (!r->o->show_code && !r->o->dry_run)
		return CLI_OK;
	for (size_t i = 0; i < r->r.ngroups; i++) {
		int one = show_group(r, &r->r.groups[i]);

		ret = ret ? ret : one;
	}
	return ret;
}

static int prepare(struct record *r)
{
	const struct open_options live = {0};
	const struct ki_recorder_options *o = r->r.o;
	int ret = open_or_fail(&live, &r->r.t);

	for (size_t i = 0; !ret && i < o->asks.n; i++)
		if (o->asks.v[i].pid)
			ret = process_open(&r->processes, o->asks.v[i].pid, &r->command,
					   r->o->command);
	if (!ret)
		ret = told(r, ki_recorder_resolve(&r->r, r->o->dry_run));
	return ret ? ret : show(r);
}

/* The file, and the command that waits. */
static int record_all(struct record *r, int argc, char **argv)
{
	const enum ki_recorder_mode mode = r->o->r.mode;
	bool wakes = mode == KI_RECORDER_WAKE || mode == KI_RECORDER_DISK;
	int ret = told(r, ki_recorder_prepare(&r->r));
	char command[256];

	if (!ret && !r->command.pid)
		ret = run_prepare(&r->command, r->o->command, false);
	if (ret)
		return ret;
	r->waiting.ring = wakes ? ki_target_fd(r->r.t) : -1;
	ki_record_command_text(argc, argv, command, sizeof(command));
	ret = told(r, ki_recorder_begin_file(&r->r, command));
	return ret ? ret : run_all(r);
}

static void end(struct record *r)
{
	command_abandon(&r->command);
	record_wait_end(&r->waiting);
	ki_recorder_free(&r->r);
	ki_opened_free(&r->processes);
	ki_target_free(r->r.t);
	ki_predicate_free(r->r.when);
	record_options_free(r->o);
}

/* What was asked for may be wrong. */
static int group(struct record *r, const struct verb *self)
{
	int ret = ki_recorder_group(&r->r);
	const struct ki_err *err = &r->r.err;

	if (ret == -EINVAL && err->code && !err->reason)
		return cli_misuse(self, "%s", err->msg);
	return told(r, ret);
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct record_options o = {0};
	struct record r = {.o = &o, .end = -1, .next = -1, .r = {.o = &o.r}};
	int n = argc, ret;
	bool done;

	ret = record_parse(self, argc, argv, &o, &done);
	if (done) {
		record_options_free(&o);
		return ret;
	}
	o.r.pause = pause_seconds;
	r.r.processes = &r.processes;
	r.r.listener = cli_listener(no_progress(&o));
	wait_prepare();
	ret = record_wait_prepare(&r.waiting, o.r.mode == KI_RECORDER_NEWEST);
	ret = ret ? cli_error("%s", strerror(-ret)) : when_predicate(&o.when, self, &r.r.when);
	for (size_t i = 0; !ret && o.r.mode != KI_RECORDER_TOTALS && i < o.r.asks.n; i++)
		ret = record_written_when(&o.r.asks.v[i].values, self, r.r.when);
	if (!ret)
		ret = group(&r, self);
	if (!ret)
		ret = prepare(&r);
	if (!ret && !o.dry_run)
		ret = record_all(&r, n, argv);
	end(&r);
	return ret;
}

const struct verb verb_record = {
	.name = "record",
	.summary = "write a record to a file each time that a point is reached",
	.usage = record_usage,
	.run = run,
};
