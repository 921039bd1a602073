// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst top: which functions the kernel, or a process, is busy with, while it goes on.
 *
 * There are two views: the functions that were asked for, and the blocks of one of them, which are
 * measured as long as they are looked at. One loop serves both ways to show a view: the screen,
 * drawn at each look and each key; and tables, printed at each look.
 */
#include <errno.h>
#include <string.h>

#include "cli.h"
#include "kerninst/top.h"
#include "open.h"
#include "out/canvas.h"
#include "out/screen.h"
#include "process.h"
#include "run.h"
#include "top/top_options.h"
#include "top/top_wait.h"

struct run {
	struct top_options *o;
	struct ki_predicate *when;
	struct ki_top_how how;
	struct ki_top_view functions, blocks;
	struct ki_top_view *shown; /* one of these */
	struct command command;
	struct top_wait wait;
	bool screen; /* else tables */
	unsigned int tables;
	char status[256]; /* "": none */
	bool over;
	struct ki_err err;
};

static int told(struct run *r, int ret)
{
	ret = ret ? cli_fail(&r->err) : CLI_OK;
	ki_err_clear(&r->err);
	return ret;
}

/* ---- what is shown ---- */

static int draw(struct run *r)
{
	unsigned int width, height;
	struct ki_canvas c;

	if (!r->screen)
		return CLI_OK;
	ki_screen_size(&width, &height);
	if (ki_canvas_open(&c, width, height))
		return cli_no_memory();
	ki_top_draw(&c, &r->shown->model, r->status);
	ki_screen_show(&c);
	ki_canvas_close(&c);
	return CLI_OK;
}

static int print(struct run *r)
{
	struct ki_page page = cli_page();

	r->tables++;
	page.json = r->o->json;
	return ki_top_print(r->shown, r->o->rows, &page) ? cli_error("writing the result failed")
							 : CLI_OK;
}

/* What takes some time is said before. */
static void say(struct run *r, const char *what)
{
	snprintf(r->status, sizeof(r->status), "%s", what);
	draw(r);
	*r->status = 0;
}

/* ---- what keys do ---- */

/* What fails is said on the screen, and that is all. */
static void note(struct run *r, int failed)
{
	const char *said = ki_screen_said();

	if (failed)
		snprintf(r->status, sizeof(r->status), "%s", said);
}

static int ask_for_blocks(struct run *r, const struct ki_named_point *p,
			  const struct ki_metric *metric)
{
	int ret = told(r, ki_top_view_blocks(&r->blocks, &r->how, p, metric, &r->err));

	return ret ? ret : told(r, ki_top_view_read(&r->blocks, &r->err));
}

/* A second session would find the first one's springboards in the process's text. */
static bool may_add(struct run *r)
{
	if (r->how.pid)
		snprintf(
			r->status, sizeof(r->status),
			"a process is measured once at a time: name FUNCTION:blocks, or -m METRIC");
	return !r->how.pid;
}

static void enter(struct run *r)
{
	struct ki_top_model *m = &r->functions.model;
	const struct ki_named_point *p = ki_top_view_point(&r->functions, ki_top_model_selected(m));
	int ret;

	if (r->shown == &r->blocks || !p || !may_add(r))
		return;
	if (p->at.kind != KI_POINT_ENTRY) {
		snprintf(r->status, sizeof(r->status), "%s is no function", p->name);
		return;
	}
	say(r, "putting counters into all blocks ...");
	ret = ask_for_blocks(r, p, ki_metric_find(m->columns[m->by].metric));
	if (ret)
		ki_top_view_free(&r->blocks);
	else
		r->shown = &r->blocks;
	note(r, ret);
}

static void leave(struct run *r)
{
	int ret;

	if (r->shown == &r->functions)
		return;
	say(r, "taking them out ...");
	ret = told(r, ki_top_view_take_out(&r->blocks, &r->err));
	ki_top_view_free(&r->blocks);
	r->shown = &r->functions;
	note(r, ret);
}

static void measure_too(struct run *r, const char *name)
{
	const struct ki_metric *metric = ki_metric_find(name);
	int ret;

	if (!may_add(r))
		return;
	say(r, "installing ...");
	ret = told(r, ki_top_view_measure(r->shown, &metric, 1, &r->err));
	if (!ret)
		ret = told(r, ki_top_view_read(r->shown, &r->err));
	note(r, ret);
}

static void sort_next(struct ki_top_model *m)
{
	m->sort = (enum ki_top_sort)((m->sort + 1) % KI_TOP_SORTS);
	ki_top_model_sort(m);
}

static void move(struct run *r, enum ki_top_key key)
{
	struct ki_top_model *m = &r->shown->model;
	unsigned int width, height;
	long page, by;

	ki_screen_size(&width, &height);
	page = height > 4 ? (long)height - 4 : 1;
	by = key == KI_TOP_KEY_PAGE_UP || key == KI_TOP_KEY_PAGE_DOWN ? page : 1;
	if (key == KI_TOP_KEY_FIRST || key == KI_TOP_KEY_LAST)
		by = (long)m->nrows;
	if (key == KI_TOP_KEY_UP || key == KI_TOP_KEY_PAGE_UP || key == KI_TOP_KEY_FIRST)
		by = -by;
	ki_top_model_move(m, by);
}

static void obey(struct run *r, enum ki_top_key key)
{
	static const char *const metrics[] = {[KI_TOP_KEY_CALLS] = "calls",
					      [KI_TOP_KEY_VTIME] = "vtime",
					      [KI_TOP_KEY_WALLTIME] = "walltime"};

	*r->status = 0;
	if (key <= KI_TOP_KEY_LAST)
		move(r, key);
	else if (key == KI_TOP_KEY_ENTER)
		enter(r);
	else if (key == KI_TOP_KEY_BACK)
		leave(r);
	else if (key == KI_TOP_KEY_SORT)
		sort_next(&r->shown->model);
	else if (key == KI_TOP_KEY_QUIT)
		r->over = true;
	else
		measure_too(r, metrics[key]);
}

/* ---- from the beginning to the end ---- */

static int look(struct run *r)
{
	int ret = told(r, ki_top_view_read(&r->functions, &r->err));

	if (!ret && r->shown != &r->functions)
		ret = told(r, ki_top_view_read(&r->blocks, &r->err));
	if (!ret)
		ret = r->screen ? draw(r) : print(r);
	r->over |= r->o->count && r->tables == r->o->count;
	return ret;
}

static int watch(struct run *r)
{
	double next = wait_now() + r->o->interval;
	int ret = draw(r);

	while (!ret && !r->over) {
		switch (top_wait(&r->wait, &r->command, next)) {
		case TOP_TIME:
			next += r->o->interval;
			ret = look(r);
			break;
		case TOP_KEY:
			obey(r, r->wait.key);
			ret = draw(r);
			break;
		case TOP_RESIZED:
			ret = draw(r);
			break;
		default:
			return CLI_OK;
		}
		if (next < wait_now())
			next = wait_now() + r->o->interval;
	}
	return ret;
}

/* On the screen all was shown; what is left is what it was altogether. Tables have said all but
   what came since the last one. */
static int last_table(struct run *r)
{
	int ret;

	if (r->over && !r->screen)
		return CLI_OK;
	ret = told(r, ki_top_view_read(&r->functions, &r->err));
	if (!ret && r->shown != &r->functions)
		ret = told(r, ki_top_view_read(&r->blocks, &r->err));
	if (!ret && r->screen)
		ki_top_view_whole(r->shown);
	return ret ? ret : print(r);
}

static void tell(const struct run *r)
{
	const struct ki_splice_process *s = ki_top_view_process(&r->functions);

	if (!s || r->o->quiet)
		return;
	process_warn_lost(s, r->how.pid);
	process_tell_cost(s, r->how.pid, !r->o->command && ki_process_points_ended(s));
}

static int run_all(struct run *r)
{
	int ret = r->screen ? ki_screen_open() : 0, out;

	ret = ret ? cli_error("the terminal: %s", strerror(-ret)) : CLI_OK;

	if (!ret)
		ret = told(r, ki_top_view_begin(&r->functions, &r->err));
	if (!ret && r->o->command)
		command_start(&r->command);
	/* A command goes on to its end. */
	if (r->how.pid && !r->o->command)
		r->wait.ended = ki_process_ended(ki_top_view_process(&r->functions));
	if (!ret)
		ret = watch(r);
	ki_screen_close();
	r->how.listener = cli_listener(r->o->quiet);
	if (!ret)
		ret = last_table(r);
	for (unsigned int i = 0; i < 2; i++) {
		out = told(r, ki_top_view_take_out(i ? &r->functions : &r->blocks, &r->err));
		ret = ret ? ret : out;
	}
	tell(r);
	if (ret || !r->o->command)
		return ret;
	run_failed(&r->command);
	return r->command.ended || r->command.stopped_by ? command_exit_status(&r->command)
							 : CLI_OK;
}

/* The process that is measured; a command is one at its entry. */
static int find_process(struct run *r)
{
	int ret = CLI_OK;

	r->how.pid = r->o->pid;
	if (r->o->pid == OPEN_COMMAND) {
		ret = run_reach_entry(&r->command, r->o->command, r->screen);
		r->how.pid = r->command.pid;
	}
	return ret;
}

static int open_live(void *arg, struct ki_target **t, struct ki_err *err)
{
	const struct run *r = arg;

	return open_checked(&(struct open_options){.pid = r->how.pid}, t, err);
}

static int prepare(struct run *r, const struct verb *self)
{
	struct top_options *o = r->o;
	int ret = when_predicate(&o->when, self, &r->when);

	r->screen = !o->batch && !o->json && ki_screen_possible();
	r->how = (struct ki_top_how){.when = r->when,
				     .condition = o->when.text,
				     .silent = o->quiet,
				     .listener = cli_listener(o->quiet),
				     .open = open_live,
				     .open_arg = r};
	r->functions.preset = o->preset;
	if (!ret)
		ret = find_process(r);
	if (!ret)
		ret = ki_top_view_new(&r->functions, &r->how, "points", false) ? cli_no_memory()
									       : CLI_OK;
	for (int i = 0; !ret && i < o->npoints; i++)
		ret = points_ask(&r->functions.asked, self, o->points[i]);
	if (!ret)
		ret = told(r, ki_top_view_measure(&r->functions, o->wanted.metrics, o->wanted.n,
						  &r->err));
	if (ret)
		return ret;
	r->functions.model.sort = o->sort;
	r->how.silent = r->screen || o->quiet;
	r->how.listener = cli_listener(r->how.silent);
	ret = top_wait_open(&r->wait, r->screen);
	if (ret)
		return cli_error("signals: %s", strerror(-ret));
	return r->command.pid ? CLI_OK : run_prepare(&r->command, o->command, r->screen);
}

static int run(const struct verb *self, int argc, char **argv)
{
	struct top_options o = {0};
	struct run r = {.o = &o, .shown = &r.functions};
	bool done;
	int ret;

	ret = top_parse(self, argc, argv, &o, &done);
	if (!done) {
		wait_prepare();
		ret = prepare(&r, self);
		if (!ret)
			ret = run_all(&r);
		command_abandon(&r.command);
		top_wait_close(&r.wait);
		ki_top_view_free(&r.blocks);
		ki_top_view_free(&r.functions);
		ki_predicate_free(r.when);
	}
	top_options_free(&o);
	return ret;
}

const struct verb verb_top = {
	.name = "top",
	.summary = "the busiest functions and their blocks, while it goes on, in the terminal",
	.usage = top_usage,
	.run = run,
};
