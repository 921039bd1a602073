// SPDX-License-Identifier: GPL-2.0-only
/*
 * A measurement of points goes in and out, with progress.
 */
#include "cli.h"
#include "command.h"
#include "points.h"

static bool show_installed(void *arg, size_t done, size_t all)
{
	(void)all;
	cli_progress_at(arg, done);
	return !wait_is_interrupted();
}

/* Of what the plan does next. */
static void begin_progress(struct points *p, struct cli_progress *progress, const char *what,
			   bool quiet)
{
	struct ki_plan *plan = ki_measure_plan(p->measure);

	cli_progress_start(progress, what, ki_plan_chunks(plan), quiet);
	ki_plan_on_progress(plan, show_installed, progress);
}

int points_put_in(struct points *p, bool quiet)
{
	struct cli_progress progress;
	struct ki_err err = {0};
	int ret;

	begin_progress(p, &progress, "installing", quiet);
	ret = ki_measure_start(p->measure, &err);
	cli_progress_end(&progress);
	if (ret == -ECANCELED)
		return cli_error("interrupted while installing; nothing is installed");
	if (ret)
		return cli_fail(&err);
	points_note_refusals(p);
	return CLI_OK;
}

int points_take_out(struct points *p, bool quiet)
{
	struct cli_progress progress;
	struct ki_err err = {0};
	int ret;

	begin_progress(p, &progress, "taking out", quiet);
	ret = ki_measure_stop(p->measure, &err);
	cli_progress_end(&progress);
	return ret ? cli_fail(&err) : CLI_OK;
}

int points_nothing(const struct points *p)
{
	const struct point *first = NULL;
	struct ki_err err = {0};

	for (size_t i = 0; !first; i++)
		if (points_first(p, &p->v.v[i])->reason)
			first = &p->v.v[i];
	ki_err_reason(&err, points_first(p, first)->reason, first->addr, "%s", first->name);
	return cli_fail(&err);
}
