// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Points are put in and taken out, and who waits for it is told. */
#include <errno.h>
#include <stdio.h>

#include "kerninst/points.h"
#include "util/listen.h"

struct telling {
	const struct ki_listener *l;
	const char *what;
	size_t total; /* 0: as it is told */
};

static bool tell(void *arg, size_t done, size_t all)
{
	const struct telling *t = arg;

	return ki_listener_progress(t->l, t->what, done, t->total ? t->total : all);
}

int ki_points_find(struct ki_points *p, struct ki_target *t, const struct ki_asked *a,
		   struct ki_points_how *how, const struct ki_listener *l, struct ki_err *err)
{
	struct telling telling = {l, "analysing functions", 0};
	struct ki_err own = {0};
	int ret;

	tell(&telling, 0, 0);
	how->progress = tell;
	how->progress_arg = &telling;
	ret = ki_points_resolve(p, t, a, how, &own);
	how->progress = NULL;
	ki_listener_over(l);
	if (own.reason == KI_R_COUNTERS_FULL && p->v.n)
		ki_listener_warn(l, "%s: the first point without a counter",
				 p->v.v[p->uncounted].name);
	if (ret && err && !err->code)
		*err = own;
	return ret;
}

/* The plan may live on: it is to tell nobody then. */
static int change(struct ki_points *p, const char *what,
		  int (*action)(struct ki_measure *m, struct ki_err *err),
		  const struct ki_listener *l, struct ki_err *err)
{
	struct ki_plan *plan = ki_measure_plan(p->measure);
	struct telling telling = {l, what, ki_plan_chunks(plan)};
	int ret;

	tell(&telling, 0, 0);
	ki_plan_on_progress(plan, tell, &telling);
	ret = action(p->measure, err);
	ki_plan_on_progress(plan, NULL, NULL);
	ki_listener_over(l);
	return ret;
}

int ki_points_put_in(struct ki_points *p, const struct ki_listener *l, struct ki_err *err)
{
	struct ki_err own = {0};
	int ret = change(p, "installing", ki_measure_start, l, &own);

	if (ret == -ECANCELED)
		return ki_err_set(err, ret, 0,
				  "interrupted while installing; nothing is installed");
	if (!ret)
		ki_points_note_refusals(p);
	else if (err && !err->code)
		*err = own;
	return ret;
}

int ki_points_take_out(struct ki_points *p, const struct ki_listener *l, struct ki_err *err)
{
	return change(p, "taking out", ki_measure_stop, l, err);
}

int ki_points_take(struct ki_points *p, struct ki_err *err)
{
	struct ki_reading *now = NULL;
	int ret = ki_measure_read(p->measure, &now, err);

	if (!ret)
		ki_points_read(p, NULL, now);
	ki_reading_free(now);
	return ret;
}

bool ki_points_all_refused(const struct ki_points *p)
{
	return ki_points_refused(p) == p->cells.n;
}

int ki_points_nothing(const struct ki_points *p, struct ki_err *err)
{
	const struct ki_named_point *first = NULL;

	for (size_t i = 0; !first; i++)
		if (ki_points_first(p, &p->v.v[i])->reason)
			first = &p->v.v[i];
	return ki_err_reason(err, ki_points_first(p, first)->reason, first->addr, "%s",
			     first->name);
}

static void warn_reason(const struct ki_listener *l, const char *who, const char *what,
			unsigned int reason)
{
	const char *hint = ki_reason_hint(reason);

	ki_listener_warn(l, "%s: %s: %s [%s]%s%s", who, what, ki_reason_text(reason),
			 ki_reason_tag(reason), *hint ? "; " : "", hint);
}

static void warn_each(const struct ki_points *p, const struct ki_named_point *pt,
		      const struct ki_listener *l)
{
	for (size_t i = pt->cell; i < pt->cell + pt->ncells; i++) {
		const struct ki_cell *c = &p->cells.v[i];
		const char *part = ki_points_part(p, c->part);
		char what[128];

		snprintf(what, sizeof(what), pt->ncells > 1 ? "no %s%s%.40s" : "not counted",
			 c->metric->name, part ? " of " : "", part ? part : "");
		if (c->reason)
			warn_reason(l, pt->name, what, c->reason);
	}
}

#define WARN_EACH 10

void ki_points_warn_refused(const struct ki_points *p, const struct ki_listener *l)
{
	size_t counts[KI_R_COUNT] = {0}, all = ki_points_refused(p);
	char who[64];

	for (size_t i = 0; i < p->cells.n; i++)
		counts[p->cells.v[i].reason < KI_R_COUNT ? p->cells.v[i].reason : 0]++;
	for (size_t i = 0; all <= WARN_EACH && i < p->v.n; i++)
		warn_each(p, &p->v.v[i], l);
	for (unsigned int r = 1; all > WARN_EACH && r < KI_R_COUNT; r++) {
		snprintf(who, sizeof(who), "%zu points", counts[r]);
		if (counts[r])
			warn_reason(l, who, "not counted", r);
	}
}

void ki_points_warn_deep(const struct ki_points *p, const struct ki_listener *l)
{
	for (size_t i = 0; i < p->v.n; i++)
		for (size_t k = p->v.v[i].cell; k < p->v.v[i].cell + p->v.v[i].ncells; k++) {
			const struct ki_cell *c = &p->cells.v[k];
			uint64_t n = c->reason ? 0 : ki_measure_too_deep(p->measure, c->curve);

			if (n)
				ki_listener_warn(
					l,
					"%s %s: recursion too deep: %llu calls were more than 127 "
					"deep inside themselves; their time is too short",
					p->v.v[i].name, c->metric->name, (unsigned long long)n);
		}
}
