// SPDX-License-Identifier: GPL-2.0-only
#include "points.h"

#include <errno.h>
#include <string.h>

#include "cli.h"
#include "out/progress.h"
#include "command.h"
#include "kerninst/budget.h"

/* ---- what a user wrote ---- */

/* What is wrong with it is misuse; all else is not the user's fault. */
static int said(const struct verb *self, const struct ki_err *err)
{
	return err->code == -EINVAL && !err->reason ? cli_misuse(self, "%s", err->msg)
						    : cli_fail(err);
}

int points_ask(struct ki_asked *a, const struct verb *self, const char *text)
{
	struct ki_err err = {0};

	return ki_points_ask(a, text, &err) ? said(self, &err) : CLI_OK;
}

int take_metrics(const void *self, const char *list, void *to)
{
	struct ki_err err = {0};

	return ki_points_take_metrics(to, list, &err) ? said(self, &err) : CLI_OK;
}

int take_preset(const void *self, const char *name, void *to)
{
	*(const char **)to = name;
	return ki_preset_is(name)
		       ? CLI_OK
		       : cli_misuse(self, "no preset '%s'; scheduling, memory or network", name);
}

int take_budget(const void *self, const char *share, void *to)
{
	return ki_budget_parse(share, to)
		       ? CLI_OK
		       : cli_misuse(self, "--budget '%s': a share of the machine, as 2%%", share);
}

int splits_add(struct ki_splits *s, const struct verb *self, char *text)
{
	struct ki_err err = {0};

	return ki_splits_add(s, text, &err) ? said(self, &err) : CLI_OK;
}

int splits_make(struct ki_splits *s, const struct verb *self, const char *all)
{
	struct ki_err err = {0};

	return ki_splits_new(s, all, &err) ? said(self, &err) : CLI_OK;
}

int record_values_parse(struct ki_record_values *v, const struct verb *self, const char *text)
{
	struct ki_err err = {0};

	return ki_record_values_new(v, text, &err) ? said(self, &err) : CLI_OK;
}

int record_written_when(struct ki_record_values *v, const struct verb *self,
			const struct ki_predicate *when)
{
	struct ki_err err = {0};

	return ki_record_written_when(v, when, &err) ? said(self, &err) : CLI_OK;
}

int stat_by_parse(struct ki_aggregate *b, const struct verb *self, const struct ki_wanted *also)
{
	struct ki_err err = {0};

	return ki_aggregate_new(b, also, &err) ? said(self, &err) : CLI_OK;
}

/* ---- what takes long ---- */

/* One thing at a time. arg: not NULL, if no progress is to be shown. */
static bool show_progress(void *arg, const char *what, size_t done, size_t total)
{
	static struct ki_progress p;

	if (what && (!p.what || strcmp(p.what, what) != 0))
		ki_progress_start(&p, what, total, arg != NULL);
	p.total = total;
	if (what)
		ki_progress_at(&p, done);
	else
		ki_progress_end(&p);
	p.what = what;
	return !wait_is_interrupted();
}

static void show_warning(void *arg, const char *line)
{
	(void)arg;
	cli_warn("%s", line);
}

const struct ki_listener *cli_listener(bool quiet)
{
	static struct ki_listener loud = {show_progress, show_warning, NULL},
				  silent = {show_progress, show_warning, &silent};

	return quiet ? &silent : &loud;
}

bool pause_seconds(double seconds)
{
	struct command none = {0};

	return wait_event(&none, wait_now() + seconds) == EVENT_TIME;
}

/* ---- what is said ---- */

int report_failed(void)
{
	return cli_unwritten("result");
}

int report_code(struct ki_measured *r, const struct ki_points *p)
{
	struct ki_err err = {0};

	return ki_measured_code(r, p, &err) ? cli_fail(&err) : CLI_OK;
}

int report_dry(struct ki_measured *r, struct ki_points *p, const struct ki_prediction *pr,
	       bool quiet)
{
	const struct ki_plan *plan = ki_measure_plan(p->measure);
	struct ki_err err = {0};

	if (ki_measured_dry(r, p, pr, &err))
		return cli_fail(&err);
	if (!quiet)
		cli_warn("nothing is installed; it would be %zu windows, %zu of them for bounces "
			 "only; %zu may have to wait; %zu functions would be moved",
			 ki_plan_windows(plan), ki_plan_hosts(plan), ki_plan_waits(plan),
			 ki_plan_moved(plan));
	if (ki_points_refused(p) < p->cells.n)
		return CLI_OK;
	ki_points_nothing(p, &err);
	return cli_fail(&err);
}
