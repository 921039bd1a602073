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
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <x86intrin.h>

#include "cli.h"
#include "run.h"
#include "open.h"
#include "out/json.h"
#include "record/record_run.h"

#define LOOK 0.02 /* seconds between two looks at who has new stacks: he may end soon */

static bool no_progress(const struct record_options *o)
{
	return o->quiet || (!o->progress && !isatty(STDERR_FILENO));
}

/* ---- instruments ---- */

static int put_in(struct record_run *r, struct record_group *g)
{
	int ret;

	if (record_file_event(r, g, KI_EVENT_INSTALLING))
		return record_file_failed(r);
	ret = points_put_in(&g->points, no_progress(r->o));
	if (ret)
		return ret;
	g->on = true;
	if (!r->o->quiet)
		points_warn_refused(&g->points);
	if (ki_points_refused(&g->points) == g->points.cells.n)
		return points_nothing(&g->points);
	return record_file_event(r, g, KI_EVENT_ON) ? record_file_failed(r) : CLI_OK;
}

static int take_out(struct record_run *r, struct record_group *g)
{
	int ret, event = record_file_event(r, g, KI_EVENT_REMOVING);

	ret = points_take_out(&g->points, no_progress(r->o));
	g->on = false;
	g->over = true;
	if (!event)
		event = record_file_event(r, g, KI_EVENT_OFF);
	if (ret)
		return ret;
	return event ? record_file_failed(r) : CLI_OK;
}

static int end_group(struct record_run *r, struct record_group *g)
{
	int ret = record_file_close(r, g), out = take_out(r, g);

	return ret ? ret : out;
}

/* When something is to be done with a group; -1: never. */
static double next_time(const struct record_run *r, const struct record_group *g)
{
	double at;

	if (g->over || (g->on && !(g->until > 0)))
		return -1;
	at = r->start + (g->on ? g->until : g->at - record_group_lead(g));
	return at > 0 ? at : 0;
}

/* What is due. */
static int switch_groups(struct record_run *r)
{
	int ret = CLI_OK;

	for (struct record_group *g = r->groups; !ret && g < r->groups + r->ngroups; g++) {
		double at = next_time(r, g);

		if (at >= 0 && wait_now() >= at)
			ret = g->on ? end_group(r, g) : put_in(r, g);
	}
	return ret;
}

static int take_all_out(struct record_run *r)
{
	int ret = CLI_OK;

	for (struct record_group *g = r->groups; g < r->groups + r->ngroups; g++)
		if (g->on && take_out(r, g))
			ret = CLI_ERROR;
	return ret;
}

/* ---- the course of things ---- */

static void sooner(double *deadline, double time)
{
	if (time >= 0 && (*deadline < 0 || time < *deadline))
		*deadline = time;
}

static double next_deadline(const struct record_run *r)
{
	double deadline = r->end;

	sooner(&deadline, r->next);
	sooner(&deadline, record_budget_next(&r->budget));
	if (r->stacks || r->processes.n)
		sooner(&deadline, wait_now() + LOOK);
	for (size_t i = 0; i < r->ngroups; i++)
		sooner(&deadline, next_time(r, &r->groups[i]));
	return deadline;
}

/* Seconds between two readings when nothing else happens; 0: never. */
static double period(const struct record_options *o)
{
	if (o->mode == RECORD_NEWEST)
		return 0;
	return o->interval > 0 ? o->interval : 1;
}

static int look_at_budget(struct record_run *r)
{
	int ret = record_budget_look(&r->budget, wait_now());

	if (!ret || !r->budget.err)
		return ret;
	ki_err_set(&r->err, r->budget.err, 0, "%s: %s", r->o->output, strerror(-r->budget.err));
	return record_file_failed(r);
}

/* A command goes on to its end. */
static bool is_over(const struct record_run *r)
{
	return !r->command.pid && r->processes.n && record_processes_over(r->groups, r->ngroups);
}

static int watch(struct record_run *r)
{
	double every = period(r->o);
	int ret = CLI_OK;

	r->next = every > 0 ? wait_now() + every : -1;
	while (!ret) {
		enum record_event e = record_wait(&r->waiting, &r->command, next_deadline(r));
		double now = wait_now();

		if (r->stacks)
			ki_record_look(r->file);
		if (e == RECORD_END || (r->end >= 0 && now >= r->end) || is_over(r))
			break;
		ret = switch_groups(r);
		if (!ret)
			ret = look_at_budget(r);
		if (!ret && e == RECORD_SNAPSHOT)
			record_file_snapshot(r);
		else if (!ret && (e == RECORD_DATA || (every > 0 && now >= r->next)))
			ret = record_file_read(r);
		while (every > 0 && now >= r->next)
			r->next += every;
	}
	return ret;
}

static int record(struct record_run *r)
{
	int ret = switch_groups(r);

	if (!ret)
		ret = record_budget_begin(&r->budget, r->file, wait_now());
	if (ret)
		return ret;
	if (r->o->duration > 0)
		r->end = wait_now() + r->o->duration;
	run_start(&r->command);
	ret = watch(r);
	return ret ? ret : run_failed(&r->command);
}

static void last_word(const struct record_run *r)
{
	double seconds = wait_now() - r->start;
	struct ki_json j;

	if (r->o->json) {
		ki_json_init(&j, stdout);
		ki_json_open(&j, NULL, '{');
		ki_json_str(&j, "type", "recorded");
		ki_json_str(&j, "file", r->o->output);
		ki_json_u64(&j, "records", r->written);
		ki_json_u64(&j, "lost", record_lost(r));
		ki_json_u64(&j, "skipped", r->skipped.n);
		ki_json_u64(&j, "instruments", r->instruments.n);
		ki_json_double(&j, "seconds", seconds);
		record_budget_json(&r->budget, &j);
		ki_json_close(&j);
		ki_json_end_line(&j);
	}
	if (r->o->quiet)
		return;
	record_file_warn(r);
	if (!r->o->json) {
		cli_warn("%llu records of %zu instruments in %.2f s, %llu lost: %s",
			 (unsigned long long)r->written, r->instruments.n, seconds,
			 (unsigned long long)record_lost(r), r->o->output);
		record_budget_say(&r->budget);
	}
}

/* Everything is taken out whatever happens; and then the buffers are read for the last time. */
static int run_all(struct record_run *r)
{
	int ret, out;

	skipped_begin(&r->skipped, r->t);
	ret = record(r);
	record_budget_note(&r->budget, wait_now());
	out = take_all_out(r);
	skipped_end(&r->skipped, r->t, r->o->quiet);
	if (!r->err.code && !record_file_read(r) && !record_file_hits(r) &&
	    !ki_record_finish(r->file, record_lost(r), __rdtsc(), &r->err)) {
		r->file = NULL;
		last_word(r);
	} else {
		ki_record_abandon(r->file);
		ret = ret ? ret : CLI_ERROR;
	}
	r->file = NULL;
	if (!ret)
		ret = out;
	return run_status(&r->command, ret);
}

/* ---- before it begins ---- */

static int open_ring(struct record_run *r)
{
	const struct ki_ring_options ring = {.bytes = r->o->buffer,
					     .newest = r->o->mode == RECORD_NEWEST};
	struct ki_err err = {0};

	if (r->o->mode == RECORD_TOTALS)
		return CLI_OK;
	return ki_ring_open(r->t, &ring, &r->ring, &err) ? cli_fail(&err) : CLI_OK;
}

static int open_stacks(struct record_run *r)
{
	struct ki_err err = {0};
	bool wanted = false;

	for (size_t i = 0; i < r->o->asks.n; i++)
		wanted |= r->o->asks.v[i].values.stacks;
	if (!wanted || !r->ring)
		return CLI_OK;
	return ki_stacks_open(r->t, NULL, &r->stacks, &err) ? cli_fail(&err) : CLI_OK;
}

static int resolve(struct record_run *r)
{
	const struct ki_record_making to = {.ring = r->ring ? ki_ring_number(r->ring) : 0,
					    .stacks = r->stacks ? ki_stacks_number(r->stacks) : 0};
	struct record_numbers next = {.id = 1};
	int ret = CLI_OK;

	for (size_t i = 0; !ret && i < r->ngroups; i++) {
		struct record_group *g = &r->groups[i];

		ret = record_group_resolve(g, r->t, r->when, &to, &next, no_progress(r->o));
		if (!ret && !r->o->dry_run && ki_points_refused(&g->points) == g->points.cells.n)
			ret = points_nothing(&g->points);
		if (!ret && record_group_describe(g, &r->instruments))
			ret = cli_no_memory();
	}
	return ret;
}

static int prepare(struct record_run *r)
{
	const struct open_options live = {0};
	int ret = open_or_fail(&live, &r->t);

	if (!ret)
		ret = record_processes_open(&r->processes, r->o, &r->command, r->groups,
					    r->ngroups);
	if (!ret)
		ret = open_ring(r);
	if (!ret)
		ret = open_stacks(r);
	if (!ret)
		ret = resolve(r);
	return ret ? ret : record_show(r);
}

/* The file, and the command that waits. */
static int prepare_file(struct record_run *r, int argc, char **argv)
{
	bool wakes = r->o->mode == RECORD_WAKE || r->o->mode == RECORD_DISK;
	int ret = record_budget_open(&r->budget, r->groups, r->ngroups);

	if (!ret)
		ret = record_code_find(&r->code, r->t, r->groups, r->ngroups);
	if (ret)
		return ret;
	if (!r->command.pid)
		ret = run_prepare(&r->command, r->o->command, false);
	if (ret)
		return ret;
	r->waiting.ring = wakes ? ki_target_fd(r->t) : -1;
	ki_record_origin_here(r->t, &r->origin);
	r->start = wait_now();
	for (size_t i = 0; i < r->ngroups; i++)
		record_group_set_times(&r->groups[i], r->origin.tsc, r->origin.tsc_khz);
	record_note_command(argc, argv, r->origin.command, sizeof(r->origin.command));
	return record_file_create(r);
}

static int record_all(struct record_run *r, int argc, char **argv)
{
	int ret = prepare_file(r, argc, argv);

	return ret ? ret : run_all(r);
}

static void end(struct record_run *r)
{
	command_abandon(&r->command);
	record_wait_end(&r->waiting);
	ki_record_abandon(r->file);
	record_budget_close(&r->budget);
	record_code_free(&r->code);
	record_groups_free(r->groups, r->ngroups);
	free(r->misfits);
	record_instruments_free(&r->instruments);
	ki_ring_close(r->ring);
	ki_stacks_close(r->stacks);
	processes_close(&r->processes);
	ki_target_close(r->t);
	ki_predicate_free(r->when);
	record_options_free(r->o);
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct record_options o = {0};
	struct record_run r = {.o = &o, .end = -1, .next = -1};
	int n = argc, ret;
	bool done;

	ret = record_parse(self, argc, argv, &o, &done);
	r.budget.share = o.budget;
	r.budget.quiet = o.quiet;
	if (done) {
		record_options_free(&o);
		return ret;
	}
	wait_prepare();
	ret = record_wait_prepare(&r.waiting, o.mode == RECORD_NEWEST);
	ret = ret ? cli_error("%s", strerror(-ret)) : when_predicate(&o.when, self, &r.when);
	for (size_t i = 0; !ret && o.mode != RECORD_TOTALS && i < o.asks.n; i++)
		ret = record_written_when(&o.asks.v[i].values, self, r.when);
	if (!ret)
		ret = record_groups_make(&o, self, &r.groups, &r.ngroups);
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
