// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst stat: measure functions and points of the kernel.
 *
 * The order of things is what makes the counts exact: the command exists before anything is
 * installed, but becomes itself only when everything is; counters are read when it has ended,
 * before anything is taken out.
 */
#include <errno.h>
#include <getopt.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cli.h"
#include "command.h"
#include "open.h"
#include "points.h"
#include "report.h"

static const char usage[] =
	"Usage: kerninst stat [OPTION...] POINT... [-- COMMAND...]\n"
	"Count how often points of the kernel are reached: while COMMAND runs, or until Ctrl-C.\n\n"
	"POINT is 0xADDRESS, or [MODULE:]FUNCTION, alone or with one of these behind it:\n"
	"  :entry  :exit        when it is called; when it returns or jumps to another function\n"
	"  :exit:after          when its caller gets control back: behind what it jumps to, too\n"
	"  :block/N[:pre|:post]  the beginning or the end of a block; :blocks[:post]: of each\n"
	"  :edge/N  :edge/A-B   an edge; those from block A to block B; :edges: each edge\n"
	"  +OFFSET[:before|:after]  an instruction; :insns[:after]: each\n"
	"  :calls  :returns     before all its calls; behind all that come back\n"
	"  :call/CALLEE         each call of, or jump to, CALLEE\n"
	"and /ORDER behind that: of several at one place, the lowest runs first. MODULE, FUNCTION,\n"
	"CALLEE may be globs; the kernel itself is the module kernel. FUNCTION alone means its entry,\n"
	"or what -m says. FUNCTION@0xADDRESS picks one of several functions of the same name.\n\n"
	"  -m, --metric METRIC[,METRIC...]  what of FUNCTION alone: blocks, edges, or of those\n"
	"                             that kerninst metrics lists: calls, walltime, vtime, ... [calls]\n"
	"  -i, --interval SECONDS     a table of what was added, every so often\n"
	"      --for SECONDS          stop after that time\n"
	"  -o, --output FILE          write the result there, not to standard output\n"
	"      --json                 one object per line\n"
	"      --text-hash            hash the kernel's text before and after; differing: status 1\n"
	"      --move, --no-move      move each function as a whole, or none: each counter costs\n"
	"                             one instruction, each return into the function a jump;\n"
	"                             unasked: those of which nearly all blocks are counted\n"
	"      --progress             show progress even if standard error is no terminal\n"
	"  -q, --quiet                no warnings about refused points, no progress\n"
	"  -h, --help                 this text\n\n"
	"With -m blocks a block is cold that runs at most once in 20 calls of its function.\n\n"
	"Exit status: that of COMMAND if there was one (127: it could not be executed; 128+n: ended\n"
	"by signal n), else 0; 1 an error, 2 wrong usage, 3 not possible on this system.\n\n"
	"Examples:\n"
	"  kerninst stat vfs_read vfs_write -- tar cf /dev/null /etc\n"
	"  kerninst stat -i 1 'tcp_*'\n"
	"  kerninst stat -m blocks tcp_v4_rcv -- curl -s localhost\n"
	"  kerninst stat -m edges vfs_read -- ls\n"
	"  kerninst stat -m calls,walltime/call,latency vfs_read -- ls -lR\n"
	"  kerninst stat --json --for 10 ext4:ext4_sync_file:exit\n";

struct options {
	struct wanted wanted;
	bool json, hash, quiet, progress;
	enum moving moving;
	double interval, duration; /* 0: none */
	const char *output;
	char **points, **command; /* command NULL: none */
	int npoints;
};

struct run {
	const struct options *o;
	struct ki_target *t;
	struct points points;
	struct ki_reading *seen, *now; /* NULL: the start */
	struct command command;
	struct report report;
	FILE *out;
	double start, last; /* times */
	char before[KI_TEXT_HASH_LEN], after[KI_TEXT_HASH_LEN];
};

static int take_option(const struct verb *self, int c, struct options *o)
{
	switch (c) {
	case 'm':
		return points_take_metrics(&o->wanted, self, optarg);
	case 'i':
		if (!cli_seconds(optarg, &o->interval))
			return cli_misuse(self, "'%s' is no interval in seconds", optarg);
		break;
	case 'f':
		if (!cli_seconds(optarg, &o->duration))
			return cli_misuse(self, "'%s' is no time in seconds", optarg);
		break;
	case 'o':
		o->output = optarg;
		break;
	case 'j':
		o->json = true;
		break;
	case 't':
		o->hash = true;
		break;
	case 'p':
		o->progress = true;
		break;
	case 'v':
		o->moving = MOVING_ALWAYS;
		break;
	case 'w':
		o->moving = MOVING_NEVER;
		break;
	case 'q':
		o->quiet = true;
		break;
	}
	return CLI_OK;
}

/* CLI_OK; *done: there is nothing more to do, whatever is returned. */
static int parse_options(const struct verb *self, int argc, char **argv, struct options *o,
			 bool *done)
{
	static const struct option options[] = {{"metric", required_argument, NULL, 'm'},
						{"interval", required_argument, NULL, 'i'},
						{"for", required_argument, NULL, 'f'},
						{"output", required_argument, NULL, 'o'},
						{"json", no_argument, NULL, 'j'},
						{"text-hash", no_argument, NULL, 't'},
						{"move", no_argument, NULL, 'v'},
						{"no-move", no_argument, NULL, 'w'},
						{"progress", no_argument, NULL, 'p'},
						{"quiet", no_argument, NULL, 'q'},
						{"help", no_argument, NULL, 'h'},
						{0}};
	int c, ret;

	*done = true;
	argc = command_cut(argc, argv, &o->command);
	while ((c = getopt_long(argc, argv, ":m:i:o:qh", options, NULL)) != -1) {
		if (c == 'h' || c == '?' || c == ':')
			return cli_other_option(self, c, argv);
		ret = take_option(self, c, o);
		if (ret)
			return ret;
	}
	o->points = argv + optind;
	o->npoints = argc - optind;
	if (!o->npoints)
		return cli_misuse(self, "no point is given");
	if (o->command && o->duration > 0)
		return cli_misuse(self, "--for and a command: one of them ends the measurement");
	*done = false;
	return CLI_OK;
}

/* All points are refused: say so with the first reason. */
static int nothing_left(struct run *r)
{
	struct point *first = NULL;
	struct ki_err err = {0};

	for (size_t i = 0; !first; i++)
		if (points_first(&r->points, &r->points.v.v[i])->reason)
			first = &r->points.v.v[i];
	report_refused(&r->report, &r->points);
	ki_err_reason(&err, points_first(&r->points, first)->reason, first->addr, "%s",
		      first->name);
	return cli_fail(&err);
}

static int hash_text(struct run *r, char hash[KI_TEXT_HASH_LEN])
{
	struct ki_err err = {0};

	if (!r->o->hash)
		return CLI_OK;
	return ki_target_text_hash(r->t, hash, &err) ? cli_fail(&err) : CLI_OK;
}

/* Edges have a table of their own, however they were asked for. */
static enum shape shown(const struct run *r)
{
	if (r->o->wanted.shape != SHAPE_WHOLE)
		return r->o->wanted.shape;
	for (size_t i = 0; i < r->points.v.n; i++)
		if (r->points.v.v[i].at.kind != KI_POINT_EDGE)
			return SHAPE_WHOLE;
	return SHAPE_EDGES;
}

static int open_report(struct run *r)
{
	const struct options *o = r->o;

	r->out = o->output ? fopen(o->output, "we") : stdout;
	if (!r->out)
		return cli_error("%s: %s", o->output, strerror(errno));
	if (report_open(&r->report, r->out, &r->points, o->json, shown(r), o->interval > 0))
		return cli_no_memory();
	return CLI_OK;
}

static bool no_progress(const struct options *o)
{
	return o->quiet || (!o->progress && !isatty(STDERR_FILENO));
}

static int prepare(struct run *r, const struct asked *asked)
{
	const struct open_options live = {0};
	const struct options *o = r->o;
	int ret;

	ret = open_or_fail(&live, &r->t);
	if (!ret)
		ret = points_resolve(&r->points, r->t, asked, &o->wanted, o->moving,
				     no_progress(o));
	if (!ret)
		ret = open_report(r);
	if (ret)
		return ret;
	if (points_refused(&r->points) == r->points.cells.n)
		return nothing_left(r);
	ret = hash_text(r, r->before);
	if (ret || !o->command)
		return ret;
	ret = command_prepare(&r->command, o->command);
	return ret ? cli_error("%s: %s", o->command[0], strerror(-ret)) : CLI_OK;
}

static bool show_installed(void *arg, size_t done, size_t all)
{
	(void)all;
	cli_progress_at(arg, done);
	return !wait_is_interrupted();
}

/* Of what the plan does next. */
static void begin_progress(struct run *r, struct cli_progress *progress, const char *what)
{
	struct ki_plan *plan = ki_measure_plan(r->points.measure);

	cli_progress_start(progress, what, ki_plan_chunks(plan), no_progress(r->o));
	ki_plan_on_progress(plan, show_installed, progress);
}

static int take_out(struct run *r)
{
	struct cli_progress progress;
	struct ki_err err = {0};
	int ret;

	begin_progress(r, &progress, "taking out");
	ret = ki_measure_stop(r->points.measure, &err);
	cli_progress_end(&progress);
	return ret ? cli_fail(&err) : CLI_OK;
}

static int put_in(struct run *r)
{
	struct cli_progress progress;
	struct ki_err err = {0};
	int ret;

	begin_progress(r, &progress, "installing");
	ret = ki_measure_start(r->points.measure, &err);
	cli_progress_end(&progress);
	if (ret == -ECANCELED)
		return cli_error("interrupted while installing; nothing is installed");
	if (ret)
		return cli_fail(&err);
	points_note_refusals(&r->points);
	if (points_refused(&r->points) == r->points.cells.n) {
		take_out(r);
		return nothing_left(r);
	}
	if (!r->o->quiet)
		points_warn_refused(&r->points);
	return CLI_OK;
}

/* What came since the last time. */
static int read_values(struct run *r)
{
	struct ki_err err = {0};

	ki_reading_free(r->seen);
	r->seen = r->now;
	r->now = NULL;
	if (ki_measure_read(r->points.measure, &r->now, &err))
		return cli_fail(&err);
	points_read(&r->points, r->seen, r->now);
	return CLI_OK;
}

/* Wait for the end, showing what was added meanwhile if that is wanted. */
static int watch(struct run *r)
{
	const struct options *o = r->o;
	double end = o->duration > 0 ? r->start + o->duration : -1;
	double next = o->interval > 0 ? r->start + o->interval : -1;

	for (;;) {
		bool tick = next > 0 && (end < 0 || next < end);
		enum event e = wait_event(&r->command, tick ? next : end);
		double now = wait_now();

		/* A command that was sent the signal has a second to end. */
		if (e == EVENT_SIGNAL && r->command.pid)
			wait_event(&r->command, now + 1);
		if (e != EVENT_TIME || !tick)
			return CLI_OK;
		if (read_values(r))
			return CLI_ERROR;
		if (report_values(&r->report, &r->points, now - r->start, now - r->last))
			return cli_error("writing the result failed");
		r->last = now;
		next += o->interval;
	}
}

static int measure(struct run *r)
{
	int ret, error;

	ret = read_values(r); /* what was counted before this moment does not count */
	if (ret)
		return ret;
	r->start = r->last = wait_now();
	if (r->o->command)
		command_start(&r->command);
	ret = watch(r);
	error = command_failed(&r->command);
	if (ret || !error)
		return ret;
	cli_warn("%s: cannot be executed: %s", r->o->command[0], strerror(error));
	return CLI_NO_COMMAND;
}

static int write_result(struct run *r, double end)
{
	const struct options *o = r->o;
	int ret = 0;

	if (o->hash)
		ret = report_hash(&r->report, "before", r->before);
	if (!ret)
		ret = report_values(&r->report, &r->points, end - r->start, end - r->last);
	if (!ret)
		ret = report_refused(&r->report, &r->points);
	if (!ret && o->hash)
		ret = report_hash(&r->report, "after", r->after);
	if (ret)
		return cli_error("writing the result failed");
	if (o->hash && strcmp(r->before, r->after))
		return cli_error("text hash: the kernel's text is not what it was before");
	return CLI_OK;
}

static int run_all(struct run *r)
{
	double end;
	int ret, out, hash;

	ret = put_in(r);
	if (ret)
		return ret;
	ret = measure(r);
	end = wait_now();
	if (!ret)
		ret = read_values(r);
	out = take_out(r);
	hash = hash_text(r, r->after);
	if (!ret)
		ret = write_result(r, end);
	if (!ret)
		ret = out ? out : hash;
	return !ret && r->o->command ? command_exit_status(&r->command) : ret;
}

static int close_output(struct run *r, int status)
{
	if (!r->out || r->out == stdout)
		return status;
	if (fclose(r->out) && !status)
		return cli_error("%s: %s", r->o->output, strerror(errno));
	return status;
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct options o = {.wanted = {.metrics = {ki_metric_find("calls")}, .n = 1}};
	struct run r = {.o = &o};
	struct asked asked = {0};
	bool done;
	int ret;

	ret = parse_options(self, argc, argv, &o, &done);
	if (done)
		return ret;
	wait_prepare();
	ret = points_parse(&asked, self, o.points, o.npoints);
	if (!ret)
		ret = prepare(&r, &asked);
	if (!ret)
		ret = run_all(&r);
	command_abandon(&r.command);
	report_close(&r.report);
	points_free(&r.points);
	ki_reading_free(r.seen);
	ki_reading_free(r.now);
	ki_target_close(r.t);
	free(asked.specs);
	return close_output(&r, ret);
}

const struct verb verb_stat = {
	.name = "stat",
	.summary = "count how often functions, blocks or instructions are reached",
	.usage = usage,
	.run = run,
};
