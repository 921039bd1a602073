// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/stat.h"

#include <errno.h>
#include <inttypes.h>

#include "kerninst/process_points.h"
#include "util/clock.h"
#include "util/listen.h"

static bool is_keyed(const struct ki_stat *s)
{
	return ki_aggregate_wanted(s->by);
}

/* By keys: each hit, or what goes on, is measured, and changes a row beside that. */
struct ki_points_how ki_stat_how(const struct ki_stat *s)
{
	struct ki_points_how how = {.size = sizeof(how),
				    .wanted = s->wanted,
				    .moving = s->moving,
				    .when = s->when,
				    .splits = s->splits,
				    .per_cpu = s->per_cpu,
				    .metered = s->costed,
				    .sheds = s->budget > 0};

	if (!is_keyed(s))
		return how;
	how.wanted = ki_aggregate_metrics(s->by);
	how.moving = KI_MOVING_NEVER;
	how.action = ki_aggregate_action;
	how.ends = ki_aggregate_ends;
	how.arg = s->by;
	return how;
}

/* Edges have a table of their own, however they were asked for; of the kernel -m comes before. */
static enum ki_shape shown(const struct ki_stat *s)
{
	if (s->wanted.shape != KI_SHAPE_WHOLE && !s->pid)
		return s->wanted.shape;
	for (size_t i = 0; i < s->points.v.n; i++)
		if (s->points.v.v[i].at.kind != KI_POINT_EDGE)
			return s->wanted.shape;
	return KI_SHAPE_EDGES;
}

int ki_stat_new(struct ki_stat *s, struct ki_err *err)
{
	s->report = (struct ki_measured){.out = s->out,
					 .separator = s->separator,
					 .shape = shown(s),
					 .timed = s->timed,
					 .per_cpu = s->per_cpu,
					 .bold = s->bold,
					 .cost = s->cost.parts ? &s->cost : NULL,
					 .budget = s->budget};
	if (ki_measured_new(&s->report, &s->points, s->json))
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	return 0;
}

int ki_stat_nothing(struct ki_stat *s, struct ki_err *err)
{
	ki_measured_refused(&s->report, &s->points);
	return ki_points_nothing(&s->points, err);
}

int ki_stat_take_out(struct ki_stat *s, struct ki_err *err)
{
	int ret;

	if (!s->pid)
		ki_measured_patches_read(&s->patches, s->t);
	ret = ki_points_take_out(&s->points, s->listener, err);
	if (!s->pid)
		ki_skipped_end(&s->skipped, s->t, s->quiet ? NULL : s->listener);
	if (s->hashed) {
		int hash = ki_text_watch_end(&s->text, s->t, err);

		ret = ret ? ret : hash;
	}
	return ret;
}

int ki_stat_put_in(struct ki_stat *s, struct ki_err *err)
{
	int ret;

	if (!s->pid)
		ki_skipped_begin(&s->skipped, s->t);
	ret = ki_points_put_in(&s->points, s->listener, err);
	if (ret)
		return ret;
	if (ki_points_all_refused(&s->points)) {
		ki_points_take_out(&s->points, s->listener, NULL);
		return ki_stat_nothing(s, err);
	}
	if (!s->quiet)
		ki_points_warn_refused(&s->points, s->listener);
	return 0;
}

static int read_values(struct ki_stat *s, struct ki_err *err)
{
	int ret;

	if (s->cost.parts) /* what reading costs is not of this time */
		ki_cost_mark(&s->cost, ki_now());
	ki_reading_free(s->seen);
	s->seen = s->now;
	s->now = NULL;
	ret = ki_measure_read(s->points.measure, &s->now, err);
	if (!ret)
		ki_points_read(&s->points, s->seen, s->now);
	return ret;
}

/* Those of keys, too. */
static int read_all(struct ki_stat *s, struct ki_err *err)
{
	int ret = read_values(s, err);

	return ret || !is_keyed(s) ? ret : ki_aggregate_end(s->by, err);
}

int ki_stat_begin(struct ki_stat *s, struct ki_err *err)
{
	int ret = read_values(s, err); /* what was counted before this moment does not count */

	if (!ret && is_keyed(s))
		ret = ki_aggregate_begin(s->by, err);
	if (ret)
		return ret;
	s->start = s->last = ki_now();
	if (!s->costed)
		return 0;
	ki_cost_begin(&s->cost, s->start);
	return ki_budget_new(&s->keeping, &s->cost, s->budget, err);
}

static int write_keys(struct ki_stat *s, double now, struct ki_err *err)
{
	struct ki_aggregate_show how = {.out = s->out,
					.separator = s->separator,
					.json = s->json,
					.timed = s->timed,
					.bold = s->bold,
					.time = now - s->start,
					.seconds = now - s->last};
	int ret = ki_aggregate_report(s->by, &how, err);

	if (s->by->lost)
		ki_listener_warn(s->listener,
				 "%" PRIu64
				 " changes were lost: there was no place for their rows (--rows)",
				 s->by->lost);
	if (ki_aggregate_stacks_lost(s->by))
		ki_listener_warn(s->listener,
				 "%" PRIu64 " stacks found no place: they are counted as none",
				 ki_aggregate_stacks_lost(s->by));
	return ret;
}

/* What came since the last time. */
static int write_values(struct ki_stat *s, double now, struct ki_err *err)
{
	if (is_keyed(s)) {
		int ret = write_keys(s, now, err);

		if (ret || !s->costed)
			return ret;
		if (!s->json)
			putc('\n', s->out);
	}
	return ki_measured_values(&s->report, &s->points, now - s->start, now - s->last) ? -EIO : 0;
}

/* A part has been shed: say it of each metric that comes of it. */
static int tell_shed(void *arg, const struct ki_budget_change *change)
{
	const double now = change->time, rate = change->rate;
	struct ki_stat *s = arg;

	for (size_t i = 0; i < s->points.v.n; i++) {
		const struct ki_named_point *pt = &s->points.v.v[i];

		for (size_t k = pt->cell; k < pt->cell + pt->ncells; k++) {
			const struct ki_cell *c = &s->points.cells.v[k];
			const char *part = ki_points_part(&s->points, c->part);

			if (c->reason ||
			    ki_measure_part(s->points.measure, c->curve) != change->part)
				continue;
			ki_measured_shed(&s->report, pt, c, rate, now - s->start);
			if (!s->quiet)
				ki_listener_warn(
					s->listener,
					"budget: %s %s%s%s: taken out after %.3f s, it cost %.0f "
					"instructions a second; its numbers are of that time only",
					pt->name, c->metric->name, part ? " " : "",
					part ? part : "", now - s->start, rate);
		}
	}
	return 0;
}

double ki_stat_next(const struct ki_stat *s, double end, double next, bool *tick)
{
	double at = ki_budget_next(&s->keeping);

	*tick = next > 0 && (end < 0 || next < end);
	if (*tick && (at < 0 || next <= at))
		return next;
	*tick = false;
	return at < 0 || (end >= 0 && end <= at) ? end : at;
}

int ki_stat_look(struct ki_stat *s, double now, struct ki_err *err)
{
	return ki_budget_look(&s->keeping, now, tell_shed, s, err);
}

bool ki_stat_over(struct ki_stat *s)
{
	s->ended = ki_process_points_ended(ki_measure_process(s->points.measure));
	return s->ended ||
	       ki_process_points_changed(&s->points, s->t, s->pid, s->quiet ? NULL : s->listener);
}

int ki_stat_table(struct ki_stat *s, double now, struct ki_err *err)
{
	int ret = read_all(s, err);

	if (!ret)
		ret = write_values(s, now, err);
	if (ret)
		return ret;
	ki_aggregate_next(s->by);
	s->last = now;
	return 0;
}

int ki_stat_end(struct ki_stat *s, struct ki_err *err)
{
	int ret = read_all(s, err);

	if (!ret && !s->quiet && !s->pid)
		ki_points_warn_deep(&s->points, s->listener);
	return ret;
}

static void warn_lost(const struct ki_stat *s)
{
	ki_process_points_lost(ki_measure_process(s->points.measure), s->pid, s->listener);
	ki_points_warn_deep(&s->points, s->listener);
}

int ki_stat_result(struct ki_stat *s, double end, struct ki_err *err)
{
	int ret = s->hashed ? ki_measured_hash(&s->report, "before", s->text.before) : 0;

	if (s->pid && !s->quiet)
		warn_lost(s);
	if (!ret)
		ret = write_values(s, end, err);
	if (!ret)
		ret = ki_measured_refused(&s->report, &s->points);
	if (!ret)
		ret = ki_measured_skipped(&s->report, s->skipped.n);
	if (!ret)
		ret = ki_measured_patches_show(&s->report, &s->patches);
	if (ret || !s->hashed || !*s->text.after)
		return ret;
	ret = ki_measured_hash(&s->report, "after", s->text.after);
	return ret ? ret : ki_text_watch_check(&s->text, s->t, err);
}

void ki_stat_free(struct ki_stat *s)
{
	ki_measured_free(&s->report);
	ki_budget_free(&s->keeping);
	ki_cost_free(&s->cost);
	ki_points_free(&s->points);
	ki_reading_free(s->seen);
	ki_reading_free(s->now);
}
