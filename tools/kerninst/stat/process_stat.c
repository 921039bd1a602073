// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst stat of a process. What the points mean, and how the result is shown, is what the
 * kernel's are and do; what counts is put in by the library's own linker, and read from the memory
 * that it shares with the process.
 */
#include "stat/process_stat.h"

#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "open.h"
#include "run.h"
#include "kerninst/process.h"
#include "kerninst/measured.h"

/* How often it is looked whether the process is still there. */
#define LOOK 0.05

struct curve {
	uint32_t first, n; /* its chunks in the plan */
	uint64_t seen;
};

struct counting {
	const struct stat_options *o;
	pid_t pid;
	struct ki_target *t;
	struct ki_plan *plan;
	struct ki_splice_process *splice;
	struct ki_points points;
	struct ki_measured report;
	struct command command;
	ki_vec(struct curve) curves; /* number: of the counter, too */
	double start, last;
	bool ended; /* the process */
};

/* What is for the kernel only. */
static int check(const struct verb *self, const struct stat_options *o)
{
	static const char calls[] = "calls";

	if (o->wanted.n > 1 || (o->wanted.n && strcmp(o->wanted.metrics[0]->name, calls)) ||
	    ki_aggregate_wanted(&o->by) || o->splits.n || o->when.text || o->when.own || o->cost ||
	    o->budget > 0 || o->per_cpu || o->show_code || o->dry_run || o->hash || o->preset ||
	    o->moving != KI_MOVING_AUTO)
		return cli_misuse(self, "of a process hits are counted, and nothing else yet: -m "
					"calls, blocks, edges; -i, --for, -o, --json, -x, -q");
	return CLI_OK;
}

/* Is there a springboard for the place, and is it a side that is built? */
static unsigned int judge(struct counting *c, const struct ki_function *fn,
			  const struct ki_spans *spans, const struct ki_place *place)
{
	const struct ki_span *s = ki_spans_at(spans, fn, place->addr);

	if (place->reason)
		return place->reason;
	if (place->where == KI_RETURNED)
		return KI_R_NOT_IN_PROCESS;
	return s && s->board == KI_BOARD_TRAP && !ki_process_by_driver(c->t) ? KI_R_NO_TRAP
									     : KI_R_OK;
}

static int put_places(struct counting *c, const struct ki_function *fn,
		      const struct ki_spans *spans, const struct ki_named_point *p,
		      const struct ki_place *places, size_t n, struct ki_err *err)
{
	struct curve *curve = &c->curves.v[c->curves.n];
	struct ki_code code;
	uint32_t id;
	int ret = 0;

	for (size_t i = 0; i < n; i++) {
		unsigned int reason = judge(c, fn, spans, &places[i]);

		if (reason)
			return ki_err_reason(err, reason, places[i].addr, "%s", p->name);
	}
	*curve = (struct curve){.first = (uint32_t)ki_plan_chunks(c->plan), .n = (uint32_t)n};
	for (size_t i = 0; !ret && i < n; i++) {
		ki_process_count(&code, (uint32_t)c->curves.n, places[i].flags_live);
		ret = ki_plan_add(c->plan, fn, spans, &places[i], p->order, &code, &id, err);
	}
	return ret;
}

static int put(void *arg, const struct ki_function *fn, const struct ki_spans *spans,
	       const struct ki_named_point *p, uint32_t *number, struct ki_err *err)
{
	struct counting *c = arg;
	struct ki_place *places = NULL;
	size_t n = 0;
	int ret;

	if (ki_vec_reserve(&c->curves, 1))
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	ret = ki_point_places(fn, spans, &p->at, &places, &n, err);
	if (!ret)
		ret = put_places(c, fn, spans, p, places, n, err);
	free(places);
	if (!ret)
		*number = (uint32_t)c->curves.n++;
	return ret;
}

static int open_process(struct counting *c, const struct ki_asked *asked)
{
	struct ki_points_how how = {
		.wanted = c->o->wanted, .moving = KI_MOVING_NEVER, .put = put, .arg = c};
	struct ki_err err = {0};

	if (ki_target_open_process(c->pid, &c->t, &err))
		return cli_fail(&err);
	if (ki_plan_new(&c->plan))
		return cli_no_memory();
	return points_resolve(&c->points, c->t, asked, &how, true);
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
					 .shape = edges ? KI_SHAPE_EDGES : o->wanted.shape,
					 .timed = o->interval > 0};
	return ki_measured_open(&c->report, &c->points, o->json) ? cli_no_memory() : CLI_OK;
}

/* What the library left out is a reason of the whole point. */
static void note_refusals(struct counting *c)
{
	for (size_t i = 0; i < c->points.cells.n; i++) {
		struct ki_cell *cell = &c->points.cells.v[i];
		const struct curve *curve = &c->curves.v[cell->curve];

		for (uint32_t k = 0; !cell->reason && k < curve->n; k++)
			cell->reason = ki_plan_refusal(c->plan, curve->first + k);
	}
}

static int install(struct counting *c)
{
	struct ki_err err = {0};

	if (ki_points_refused(&c->points) == c->points.cells.n) {
		ki_measured_refused(&c->report, &c->points);
		return points_nothing(&c->points);
	}
	if (ki_process_splice(c->t, c->plan, (uint32_t)c->curves.n, &c->splice, &err))
		return cli_fail(&err);
	note_refusals(c);
	if (!c->o->quiet)
		points_warn_refused(&c->points);
	return CLI_OK;
}

/* What came since the last time. */
static int show(struct counting *c, double now)
{
	for (size_t i = 0; i < c->points.cells.n; i++) {
		struct ki_cell *cell = &c->points.cells.v[i];
		struct curve *curve = &c->curves.v[cell->curve];
		uint64_t value;

		if (cell->reason)
			continue;
		value = ki_process_read(c->splice, cell->curve);
		cell->count = value - curve->seen;
		cell->value = (double)cell->count;
		curve->seen = value;
	}
	return ki_measured_values(&c->report, &c->points, now - c->start, now - c->last)
		       ? report_failed()
		       : CLI_OK;
}

static bool has_ended(struct counting *c)
{
	struct pollfd p = {.fd = ki_process_ended(c->splice), .events = POLLIN};

	c->ended = poll(&p, 1, 0) > 0;
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
		if (next < 0 || now < next)
			continue;
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
	c->start = c->last = wait_now();
	run_start(&c->command);
	ret = watch(c);
	return ret ? ret : run_failed(&c->command);
}

static void tell_cost(const struct counting *c)
{
	const struct ki_process_cost *cost = ki_process_cost(c->splice);

	if (c->ended && c->pid != c->command.pid)
		cli_warn("process %d has ended", c->pid);
	if (cost->left)
		cli_warn("process %d: a thread was still in a patch: its memory is left there",
			 c->pid);
	if (cost->by_driver)
		fprintf(stderr, "by the driver: no thread was held\n");
	else
		fprintf(stderr,
			"held: %u thread%s for %.0f us to write its text, one for %.0f us to map memory\n",
			cost->threads, cost->threads == 1 ? "" : "s", (double)cost->held_ns / 1e3,
			(double)cost->mapping_ns / 1e3);
}

static int run_all(struct counting *c)
{
	struct ki_err err = {0};
	double end;
	int ret = install(c);

	if (ret)
		return ret;
	ret = measure(c);
	end = wait_now();
	if (ki_process_remove(c->splice, &err) && !ret)
		ret = cli_fail(&err);
	if (!ret)
		ret = show(c, end);
	if (!ret && ki_measured_refused(&c->report, &c->points))
		ret = report_failed();
	if (!c->o->quiet)
		tell_cost(c);
	return run_status(&c->command, ret);
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
		 const struct ki_asked *asked)
{
	struct counting c = {.o = o, .pid = pid};
	int ret = check(self, o);

	if (!ret && pid == OPEN_COMMAND) {
		ret = o->command ? run_reach_entry(&c.command, o->command)
				 : cli_misuse(self, "command/POINT: the command stands behind --");
		c.pid = c.command.pid;
	}
	if (!ret)
		ret = open_process(&c, asked);
	if (!ret)
		ret = open_report(&c);
	if (!ret)
		ret = run_all(&c);
	command_abandon(&c.command);
	ki_measured_close(&c.report);
	ki_points_free(&c.points);
	ki_process_free(c.splice);
	ki_plan_free(c.plan);
	ki_target_close(c.t);
	ki_vec_free(&c.curves);
	return close_output(&c, ret);
}
