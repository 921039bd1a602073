// SPDX-License-Identifier: GPL-2.0-only
#include "points.h"

#include <errno.h>
#include <inttypes.h>

#include "cli.h"
#include "command.h"

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

int points_take_metrics(struct ki_wanted *w, const struct verb *self, const char *list)
{
	struct ki_err err = {0};

	return ki_points_take_metrics(w, list, &err) ? said(self, &err) : CLI_OK;
}

int splits_add(struct ki_splits *s, const struct verb *self, char *text)
{
	struct ki_err err = {0};

	return ki_splits_add(s, text, &err) ? said(self, &err) : CLI_OK;
}

int splits_make(struct ki_splits *s, const struct verb *self, const char *all)
{
	struct ki_err err = {0};

	return ki_splits_make(s, all, &err) ? said(self, &err) : CLI_OK;
}

int preset_ask(const char *name, struct ki_target *t, struct ki_asked *a)
{
	struct ki_err err = {0};

	return ki_preset_ask(name, t, a, &err) ? cli_fail(&err) : CLI_OK;
}

int record_values_parse(struct ki_record_values *v, const struct verb *self, const char *text)
{
	struct ki_err err = {0};

	return ki_record_values_parse(v, text, &err) ? said(self, &err) : CLI_OK;
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

	return ki_aggregate_parse(b, also, &err) ? said(self, &err) : CLI_OK;
}

/* ---- what takes long ---- */

static bool show_installed(void *arg, size_t done, size_t all)
{
	(void)all;
	cli_progress_at(arg, done);
	return !wait_is_interrupted();
}

/* Of what the plan does next. */
static void begin_progress(struct ki_points *p, struct cli_progress *progress, const char *what,
			   bool quiet)
{
	struct ki_plan *plan = ki_measure_plan(p->measure);

	cli_progress_start(progress, what, ki_plan_chunks(plan), quiet);
	ki_plan_on_progress(plan, show_installed, progress);
}

static bool show_analysed(void *arg, size_t done, size_t all)
{
	struct cli_progress *p = arg;

	p->total = all;
	cli_progress_at(p, done);
	return !wait_is_interrupted();
}

int points_resolve(struct ki_points *p, struct ki_target *t, const struct ki_asked *a,
		   struct ki_points_how *how, bool quiet)
{
	struct cli_progress progress;
	struct ki_err err = {0};
	int ret;

	cli_progress_start(&progress, "analysing functions", 0, quiet);
	how->progress = show_analysed;
	how->progress_arg = &progress;
	ret = ki_points_resolve(p, t, a, how, &err);
	cli_progress_end(&progress);
	if (err.reason == KI_R_COUNTERS_FULL && p->v.n)
		cli_warn("%s: the first point without a counter", p->v.v[p->uncounted].name);
	return ret ? cli_fail(&err) : CLI_OK;
}

static bool wait_seconds(double seconds)
{
	struct command none = {0};

	return wait_event(&none, wait_now() + seconds) == EVENT_TIME;
}

int predict(struct ki_prediction *out, const struct ki_points *p, struct ki_target *t,
	    const struct ki_asked *asked, struct ki_points_how *how)
{
	struct cli_progress none;
	struct ki_err err = {0};

	cli_progress_start(&none, "", 0, true);
	how->progress = show_analysed;
	how->progress_arg = &none;
	out->pause = wait_seconds;
	return ki_predict(out, p, t, asked, how, &err) ? cli_fail(&err) : CLI_OK;
}

int points_put_in(struct ki_points *p, bool quiet)
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
	ki_points_note_refusals(p);
	return CLI_OK;
}

int points_take_out(struct ki_points *p, bool quiet)
{
	struct cli_progress progress;
	struct ki_err err = {0};
	int ret;

	begin_progress(p, &progress, "taking out", quiet);
	ret = ki_measure_stop(p->measure, &err);
	cli_progress_end(&progress);
	return ret ? cli_fail(&err) : CLI_OK;
}

int points_nothing(const struct ki_points *p)
{
	const struct ki_named_point *first = NULL;
	struct ki_err err = {0};

	for (size_t i = 0; !first; i++)
		if (ki_points_first(p, &p->v.v[i])->reason)
			first = &p->v.v[i];
	ki_err_reason(&err, ki_points_first(p, first)->reason, first->addr, "%s", first->name);
	return cli_fail(&err);
}

/* ---- what has no more to say than that it failed ---- */

int cost_open(struct ki_costs *c, const struct ki_points *p)
{
	struct ki_err err = {0};

	return ki_cost_open(c, p, &err) ? cli_fail(&err) : CLI_OK;
}

int cost_add(struct ki_costs *c, const struct ki_points *p)
{
	struct ki_err err = {0};

	return ki_cost_add(c, p, &err) ? cli_fail(&err) : CLI_OK;
}

int budget_begin(struct ki_budget *b, struct ki_costs *cost, double share)
{
	struct ki_err err = {0};

	return ki_budget_begin(b, cost, share, &err) ? cli_fail(&err) : CLI_OK;
}

int budget_look(struct ki_budget *b, double now, ki_budget_told *told, void *arg)
{
	struct ki_err err = {0};

	return ki_budget_look(b, now, told, arg, &err) ? cli_fail(&err) : CLI_OK;
}

int stat_by_open(struct ki_aggregate *b, struct ki_target *t, const struct ki_points *points)
{
	struct ki_err err = {0};

	return ki_aggregate_open(b, t, points, &err) ? cli_fail(&err) : CLI_OK;
}

int stat_by_begin(struct ki_aggregate *b)
{
	struct ki_err err = {0};

	return ki_aggregate_begin(b, &err) ? cli_fail(&err) : CLI_OK;
}

int stat_by_end(struct ki_aggregate *b)
{
	struct ki_err err = {0};

	return ki_aggregate_end(b, &err) ? cli_fail(&err) : CLI_OK;
}

/* ---- what is said ---- */

static void warn_reason(const char *who, const char *what, unsigned int reason)
{
	const char *hint = ki_reason_hint(reason);

	cli_warn("%s: %s: %s [%s]%s%s", who, what, ki_reason_text(reason), ki_reason_tag(reason),
		 *hint ? "; " : "", hint);
}

static void warn_each(const struct ki_points *p, const struct ki_named_point *pt)
{
	for (size_t i = pt->cell; i < pt->cell + pt->ncells; i++) {
		const struct ki_cell *c = &p->cells.v[i];
		const char *part = ki_points_part(p, c->part);
		char what[128];

		snprintf(what, sizeof(what), pt->ncells > 1 ? "no %s%s%.40s" : "not counted",
			 c->metric->name, part ? " of " : "", part ? part : "");
		if (c->reason)
			warn_reason(pt->name, what, c->reason);
	}
}

#define WARN_EACH 10

void points_warn_refused(const struct ki_points *p)
{
	size_t counts[KI_R_COUNT] = {0}, all = ki_points_refused(p);
	char who[64];

	for (size_t i = 0; i < p->cells.n; i++)
		counts[p->cells.v[i].reason < KI_R_COUNT ? p->cells.v[i].reason : 0]++;
	for (size_t i = 0; all <= WARN_EACH && i < p->v.n; i++)
		warn_each(p, &p->v.v[i]);
	for (unsigned int r = 1; all > WARN_EACH && r < KI_R_COUNT; r++) {
		snprintf(who, sizeof(who), "%zu points", counts[r]);
		if (counts[r])
			warn_reason(who, "not counted", r);
	}
}

void points_warn_deep(const struct ki_points *p)
{
	for (size_t i = 0; i < p->v.n; i++)
		for (size_t k = p->v.v[i].cell; k < p->v.v[i].cell + p->v.v[i].ncells; k++) {
			const struct ki_cell *c = &p->cells.v[k];
			uint64_t n = c->reason ? 0 : ki_measure_too_deep(p->measure, c->curve);

			if (n)
				cli_warn("%s %s: recursion too deep: %llu calls were more than 127 "
					 "deep inside themselves; their time is too short",
					 p->v.v[i].name, c->metric->name, (unsigned long long)n);
		}
}

int stat_by_report(struct ki_aggregate *b, struct ki_aggregate_show *how)
{
	struct ki_err err = {0};
	int ret;

	how->bold = cli_bold(how->out);
	ret = ki_aggregate_report(b, how, &err);
	if (b->lost)
		cli_warn("%" PRIu64
			 " changes were lost: there was no place for their rows (--rows)",
			 b->lost);
	if (ki_aggregate_stacks_lost(b))
		cli_warn("%" PRIu64 " stacks found no place: they are counted as none",
			 ki_aggregate_stacks_lost(b));
	return ret ? cli_fail(&err) : CLI_OK;
}

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
	return ki_points_refused(p) < p->cells.n ? CLI_OK : points_nothing(p);
}
