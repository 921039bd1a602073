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
#include "open.h"
#include "process.h"
#include "run.h"
#include "top/top_options.h"
#include "top/top_print.h"
#include "top/top_screen.h"
#include "top/top_view.h"
#include "top/top_wait.h"

struct run {
	struct top_options *o;
	struct ki_predicate *when;
	struct top_how how;
	struct top_view functions, blocks;
	struct top_view *shown; /* one of these */
	struct command command;
	struct top_wait wait;
	bool screen; /* else tables */
	unsigned int tables;
	char status[256]; /* "": none */
	bool over;
};

/* ---- what is shown ---- */

static int draw(struct run *r)
{
	unsigned int width, height;
	struct top_canvas c;

	if (!r->screen)
		return CLI_OK;
	top_screen_size(&width, &height);
	if (top_canvas_open(&c, width, height))
		return cli_no_memory();
	top_draw(&c, &r->shown->model, r->status);
	top_screen_show(&c);
	top_canvas_close(&c);
	return CLI_OK;
}

static int print(struct run *r)
{
	r->tables++;
	return top_print(r->shown, r->o->rows, r->o->json) ? cli_error("writing the result failed")
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
	const char *said = top_screen_said();

	if (failed)
		snprintf(r->status, sizeof(r->status), "%s", said);
}

static int ask_for_blocks(struct run *r, const struct ki_named_point *p,
			  const struct ki_metric *metric)
{
	char text[768];
	int ret;

	snprintf(text, sizeof(text), "blocks of %s", p->name);
	ret = top_view_open(&r->blocks, &r->how, text, true);
	snprintf(text, sizeof(text), "%s:%s@0x%llx:blocks", cli_module(p->sym), p->sym->name,
		 (unsigned long long)p->sym->addr);
	if (!ret)
		ret = points_ask(&r->blocks.asked, NULL, text);
	if (!ret)
		ret = top_view_measure(&r->blocks, &metric, 1);
	if (!ret)
		ret = top_view_read(&r->blocks);
	return ret;
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
	struct top_model *m = &r->functions.model;
	const struct ki_named_point *p = top_view_point(&r->functions, top_model_selected(m));
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
		top_view_close(&r->blocks);
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
	ret = top_view_take_out(&r->blocks);
	top_view_close(&r->blocks);
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
	ret = top_view_measure(r->shown, &metric, 1);
	if (!ret)
		ret = top_view_read(r->shown);
	note(r, ret);
}

static void sort_next(struct top_model *m)
{
	m->sort = (enum top_sort)((m->sort + 1) % TOP_SORTS);
	top_model_sort(m);
}

static void move(struct run *r, enum top_key key)
{
	struct top_model *m = &r->shown->model;
	unsigned int width, height;
	long page, by;

	top_screen_size(&width, &height);
	page = height > 4 ? (long)height - 4 : 1;
	by = key == TOP_KEY_PAGE_UP || key == TOP_KEY_PAGE_DOWN ? page : 1;
	if (key == TOP_KEY_FIRST || key == TOP_KEY_LAST)
		by = (long)m->nrows;
	if (key == TOP_KEY_UP || key == TOP_KEY_PAGE_UP || key == TOP_KEY_FIRST)
		by = -by;
	top_model_move(m, by);
}

static void obey(struct run *r, enum top_key key)
{
	static const char *const metrics[] = {[TOP_KEY_CALLS] = "calls",
					      [TOP_KEY_VTIME] = "vtime",
					      [TOP_KEY_WALLTIME] = "walltime"};

	*r->status = 0;
	if (key <= TOP_KEY_LAST)
		move(r, key);
	else if (key == TOP_KEY_ENTER)
		enter(r);
	else if (key == TOP_KEY_BACK)
		leave(r);
	else if (key == TOP_KEY_SORT)
		sort_next(&r->shown->model);
	else if (key == TOP_KEY_QUIT)
		r->over = true;
	else
		measure_too(r, metrics[key]);
}

/* ---- from the beginning to the end ---- */

static int look(struct run *r)
{
	int ret = top_view_read(&r->functions);

	if (!ret && r->shown != &r->functions)
		ret = top_view_read(&r->blocks);
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
	ret = top_view_read(&r->functions);
	if (!ret && r->shown != &r->functions)
		ret = top_view_read(&r->blocks);
	if (!ret && r->screen)
		top_view_whole(r->shown);
	return ret ? ret : print(r);
}

static void tell(const struct run *r)
{
	const struct ki_splice_process *s = top_view_process(&r->functions);

	if (!s || r->o->quiet)
		return;
	process_warn_lost(s, r->how.pid);
	process_tell_cost(s, r->how.pid, !r->o->command && process_has_ended(s));
}

static int run_all(struct run *r)
{
	int ret = r->screen ? top_screen_open() : CLI_OK, out;

	if (!ret)
		ret = top_view_begin(&r->functions);
	if (!ret && r->o->command)
		command_start(&r->command);
	/* A command goes on to its end. */
	if (r->how.pid && !r->o->command)
		r->wait.ended = ki_process_ended(top_view_process(&r->functions));
	if (!ret)
		ret = watch(r);
	top_screen_close();
	r->how.quiet = r->o->quiet;
	if (!ret)
		ret = last_table(r);
	for (unsigned int i = 0; i < 2; i++) {
		out = top_view_take_out(i ? &r->functions : &r->blocks);
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

static int prepare(struct run *r, const struct verb *self)
{
	struct top_options *o = r->o;
	int ret = when_predicate(&o->when, self, &r->when);

	r->screen = !o->batch && !o->json && top_screen_possible();
	r->how = (struct top_how){
		.when = r->when, .condition = o->when.text, .quiet = o->quiet, .silent = o->quiet};
	r->functions.preset = o->preset;
	if (!ret)
		ret = find_process(r);
	if (!ret)
		ret = top_view_open(&r->functions, &r->how, "points", false);
	for (int i = 0; !ret && i < o->npoints; i++)
		ret = points_ask(&r->functions.asked, self, o->points[i]);
	if (!ret)
		ret = top_view_measure(&r->functions, o->wanted.metrics, o->wanted.n);
	if (ret)
		return ret;
	r->functions.model.sort = o->sort;
	r->how.quiet = r->how.silent = r->screen || o->quiet;
	if (top_wait_open(&r->wait, r->screen))
		return cli_error("signals: %s", strerror(errno));
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
		top_view_close(&r.blocks);
		top_view_close(&r.functions);
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
