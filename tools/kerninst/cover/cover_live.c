// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst cover of the running kernel: probes in, a command or until somebody has had enough,
 * probes out, and what is known then.
 */

#include <poll.h>
#include <string.h>

#include "points.h"
#include "run.h"
#include "cover/cover_output.h"
#include "open.h"
#include "select.h"
#include "when.h"

/* Seconds between two rounds; they become rarer as less is left to remove. */
#define REMOVE_EVERY 0.25
#define REMOVE_RARE  4
#define LOOK	     0.05 /* how often it is looked whether the process is still there */

struct options {
	struct ki_cover_options cover;
	struct cover_output output;
	struct when when;
	bool all, once;
	char **what, **command;
	int n;
	struct open_options open;
};

struct run {
	const struct options *o;
	struct ki_target *t;
	ki_vec(const struct ki_symbol *) syms;
	struct ki_cover *cover;
	struct command command;
	double seconds;
};

/* ---- options ---- */

static int take_mode(const void *self, const char *text, void *to)
{
	for (unsigned int m = 0; m < KI_COVER_MODES; m++)
		if (!strcmp(text, ki_cover_mode_name(m))) {
			*(enum ki_cover_mode *)to = m;
			return CLI_OK;
		}
	return cli_misuse(self, "--mode '%s': hit, count or edges", text);
}

/* What is for the kernel only. */
static int check_process(const struct verb *self, const struct options *o)
{
	if (o->open.pid == OPEN_COMMAND && !o->command)
		return cli_misuse(self, "command/FUNCTION: the command stands behind --");
	if (o->once || o->when.text || o->when.own)
		return cli_misuse(self, "of a process: no --once, no conditions yet");
	return CLI_OK;
}

static int check(const struct verb *self, const struct options *o)
{
	if (o->open.pid)
		return check_process(self, o);
	if (o->all && o->n)
		return cli_misuse(self, "--all, or functions: one of them");
	if (!o->all && !o->n)
		return cli_misuse(self, "functions are wanted, or --all; or --from FILE, "
					"--diff OLD NEW");
	if (o->once && o->cover.mode != KI_COVER_HIT)
		return cli_misuse(self, "--once: counts go on, only hits are removed");
	return CLI_OK;
}

static int parse_options(const struct verb *self, int argc, char **argv, struct options *o,
			 bool *done)
{
	const struct ki_option rows[] = {{"all", 'a', NULL, &o->all},
					 {"mode", 'm', take_mode, &o->cover.mode},
					 {"once", 0, NULL, &o->once},
					 {"every", 0, NULL, &o->cover.every},
					 {"no-move", 0, NULL, &o->cover.stay},
					 COVER_OUTPUT_ROWS(o->output),
					 WHEN_ROWS(o->when)};
	int ret;

	*done = true;
	argc = command_cut(argc, argv, &o->command);
	if (!cli_parse(self, argc, argv, CLI_ROWS(rows), &ret))
		return ret;
	o->what = argv + optind;
	o->n = argc - optind;
	ret = open_process_prefix(&o->open, self, o->what, o->n);
	if (!ret)
		ret = check(self, o);
	*done = ret != CLI_OK;
	return ret;
}

/* ---- what is covered ---- */

static int choose(struct run *r, const struct verb *self)
{
	const struct options *o = r->o;
	ki_selection v = {0};
	int ret = select_chosen(r->t, self, o->all, o->what, o->n, &v);

	for (size_t i = 0; !ret && i < v.n; i++)
		if ((!i || v.v[i].sym->addr != v.v[i - 1].sym->addr) &&
		    ki_vec_push(&r->syms, v.v[i].sym))
			ret = cli_no_memory();
	ki_vec_free(&v);
	return ret;
}

static bool tell(void *arg, size_t done, size_t all)
{
	const struct run *r = arg;
	const struct ki_listener *l = cli_listener(r->o->output.quiet);

	return l->progress(l->arg, "instrumenting", done, all);
}

static int install(struct run *r)
{
	const struct ki_listener *l = cli_listener(r->o->output.quiet);
	struct ki_cover_options o = r->o->cover;
	struct ki_err err = {0};
	int ret;

	o.size = sizeof(o);
	o.stay |= r->o->once; /* a function stays moved while one of its probes is left */
	o.progress = tell;
	o.arg = r;
	l->progress(l->arg, "instrumenting", 0, r->syms.n);
	ret = ki_cover_new(r->t, r->syms.v, r->syms.n, &o, &r->cover, &err);
	l->progress(l->arg, NULL, 0, 0);
	return ret ? cli_fail(&err) : CLI_OK;
}

/* ---- while it goes on ---- */

/* Take out what has been hit, now and then: rarely, when little was. */
static int remove_hit(struct run *r, double *next)
{
	static double pause = REMOVE_EVERY;
	struct ki_err err = {0};
	size_t n;

	if (!r->o->once || wait_now() < *next)
		return CLI_OK;
	if (ki_cover_remove_hit(r->cover, &n, &err))
		return cli_fail(&err);
	pause = n ? REMOVE_EVERY : pause * 2 > REMOVE_RARE ? REMOVE_RARE : pause * 2;
	*next = wait_now() + pause;
	return CLI_OK;
}

/* A process that is not the command may end. */
static bool has_ended(const struct run *r)
{
	struct pollfd p = {.fd = ki_cover_ended(r->cover), .events = POLLIN};

	return p.fd >= 0 && !r->command.pid && poll(&p, 1, 0) > 0;
}

static int watch(struct run *r)
{
	double next = wait_now();
	int ret = CLI_OK;

	run_start(&r->command);
	while (!ret && !has_ended(r)) {
		enum event e = run_wait(&r->command, r->o->once	      ? next
						     : r->o->open.pid ? wait_now() + LOOK
								      : -1);

		if (e != EVENT_TIME)
			break;
		ret = remove_hit(r, &next);
	}
	return ret;
}

static int show(struct run *r)
{
	struct ki_coverage *c;
	struct ki_err err = {0};
	int ret;

	if (ki_cover_remove(r->cover, &err) || ki_cover_read(r->cover, &c, &err))
		return cli_fail(&err);
	c->totals.seconds_run = r->seconds;
	ki_cover_warn_room(c, cli_listener(true));
	ret = cover_output_write(&r->o->output, c, r->t);
	ki_coverage_free(c);
	return ret;
}

static int measure(struct run *r, const struct verb *self)
{
	int ret = run_open(&r->o->open, &r->command, r->o->command, &r->t);

	if (!ret)
		ret = choose(r, self);
	if (!ret && !r->command.pid)
		ret = run_prepare(&r->command, r->o->command, false);
	if (!ret)
		ret = install(r);
	if (ret)
		return ret;
	r->seconds = wait_now();
	ret = watch(r);
	r->seconds = wait_now() - r->seconds;
	if (!ret)
		ret = show(r);
	run_failed(&r->command);
	return run_status(&r->command, ret);
}

int cover_live(const struct verb *self, int argc, char **argv)
{
	struct options o = {0};
	struct run r = {.o = &o};
	struct ki_predicate *when = NULL;
	bool done;
	int ret = parse_options(self, argc, argv, &o, &done);

	if (!done)
		ret = when_predicate(&o.when, self, &when);
	o.cover.when = when;
	if (!done && !ret) {
		wait_prepare();
		ret = measure(&r, self);
	}
	command_abandon(&r.command);
	ki_cover_free(r.cover);
	ki_target_free(r.t);
	ki_vec_free(&r.syms);
	cover_output_free(&o.output);
	ki_predicate_free(when);
	when_free(&o.when);
	return ret;
}
