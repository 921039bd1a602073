// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/top.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/presets.h"
#include "util/clock.h"
#include "util/listen.h"

int ki_top_view_new(struct ki_top_view *v, const struct ki_top_how *how, const char *what,
		    bool idle)
{
	v->how = how;
	v->what = strdup(what);
	v->model.what = v->what;
	v->model.when = how->condition;
	v->model.idle = idle;
	v->model.selected = KI_TOP_NONE;
	return v->what ? 0 : -ENOMEM;
}

static void close_gauge(struct ki_top_gauge *g)
{
	ki_points_free(&g->points);
	ki_reading_free(g->now);
	if (g->seen != g->now)
		ki_reading_free(g->seen);
	if (g->begin != g->now && g->begin != g->seen)
		ki_reading_free(g->begin);
	ki_target_free(g->t);
	*g = (struct ki_top_gauge){0};
}

void ki_top_view_free(struct ki_top_view *v)
{
	for (unsigned int i = 0; i < KI_TOP_COLUMNS; i++)
		close_gauge(&v->gauges[i]);
	ki_top_model_free(&v->model);
	ki_asked_free(&v->asked);
	free(v->what);
	*v = (struct ki_top_view){0};
}

static int read_gauge(struct ki_top_gauge *g, struct ki_err *err)
{
	const double now = ki_now();
	struct ki_reading *r;
	int ret;

	ret = ki_measure_read(g->points.measure, &r, err);
	if (ret)
		return ret;
	if (g->seen != g->begin)
		ki_reading_free(g->seen);
	g->seen = g->now;
	g->now = r;
	g->seconds = now - g->at;
	g->at = now;
	return 0;
}

/* What it has counted before this does not count. */
static int restart(struct ki_top_gauge *g, struct ki_err *err)
{
	int ret = read_gauge(g, err);

	if (g->begin != g->seen)
		ki_reading_free(g->begin);
	ki_reading_free(g->seen);
	g->seen = NULL;
	g->begin = g->now;
	g->begun = g->at;
	return ret;
}

static int begin_gauge(const struct ki_top_how *how, struct ki_top_gauge *g, struct ki_err *err)
{
	int ret = ki_points_put_in(&g->points, how->listener, err);

	if (ret)
		return ret;
	if (ki_points_all_refused(&g->points))
		return ki_points_nothing(&g->points, err);
	if (!how->silent)
		ki_points_warn_refused(&g->points, how->listener);
	return restart(g, err);
}

static int open_gauge(struct ki_top_view *v, struct ki_top_gauge *g, const struct ki_wanted *wanted,
		      struct ki_err *err)
{
	const struct ki_top_how *how = v->how;
	struct ki_points_how measured = {.size = sizeof(measured),
					 .wanted = *wanted,
					 .moving = how->pid ? KI_MOVING_NEVER : KI_MOVING_AUTO,
					 .when = how->when};
	int ret = how->open(how->open_arg, &g->t, err);

	if (!ret && v->preset && !v->model.rows)
		ret = ki_preset_ask(v->preset, g->t, &v->asked, err);
	if (!ret)
		ret = ki_points_find(&g->points, g->t, &v->asked, &measured, how->listener, err);
	if (!ret && ki_points_all_refused(&g->points))
		ret = ki_points_nothing(&g->points, err);
	if (!ret && v->model.rows && g->points.v.n != v->model.nrows)
		ret = ki_err_set(err, -ESTALE, 0, "modules have come or gone: begin again");
	return ret ? ret : begin_gauge(how, g, err);
}

/* The rows are those of the first metric's points. */
static int name_rows(struct ki_top_view *v)
{
	const struct ki_points *p = &v->gauges[0].points;

	if (ki_top_model_new(&v->model, p->v.n))
		return -ENOMEM;
	for (size_t i = 0; i < p->v.n; i++)
		v->model.rows[i].name = p->v.v[i].name;
	v->start = v->gauges[0].at;
	return 0;
}

/* Those that are no columns yet become some, of the next gauge. */
static void add_columns(struct ki_top_view *v, const struct ki_metric *const *metrics,
			unsigned int n, struct ki_wanted *fresh)
{
	for (unsigned int i = 0; i < n; i++) {
		const unsigned int before = v->model.ncolumns;
		const unsigned int at = ki_top_model_column(&v->model, metrics[i]->name,
							    metrics[i]->unit == KI_UNIT_SECONDS);

		if (at != before || at == KI_TOP_COLUMNS)
			continue;
		v->cells[at] = (struct ki_top_cell){v->ngauges, fresh->n};
		fresh->metrics[fresh->n++] = metrics[i];
	}
}

int ki_top_view_measure(struct ki_top_view *v, const struct ki_metric *const *metrics,
			unsigned int n, struct ki_err *err)
{
	const unsigned int before = v->model.ncolumns;
	struct ki_top_gauge *g = &v->gauges[v->ngauges];
	struct ki_wanted fresh = {0};
	int ret = 0;

	add_columns(v, metrics, n, &fresh);
	if (ki_top_model_column(&v->model, metrics[0]->name, false) == KI_TOP_COLUMNS)
		return ki_err_set(err, -E2BIG, 0, "more than %d metrics", KI_TOP_COLUMNS);
	if (fresh.n) {
		ret = open_gauge(v, g, &fresh, err);
		if (!ret && !v->model.rows)
			ret = name_rows(v) ? ki_err_set(err, -ENOMEM, 0, "out of memory") : 0;
		if (ret) {
			close_gauge(g);
			v->model.ncolumns = before;
			return ret;
		}
		v->ngauges++;
	}
	v->model.by = ki_top_model_column(&v->model, metrics[0]->name, false);
	return 0;
}

int ki_top_view_begin(struct ki_top_view *v, struct ki_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < v->ngauges; i++)
		ret = restart(&v->gauges[i], err);
	v->start = v->gauges[0].at;
	return ret;
}

/* from: where the rate begins. */
static void set_values(struct ki_top_view *v, unsigned int column, const struct ki_reading *from,
		       double seconds)
{
	const struct ki_top_cell *at = &v->cells[column];
	const struct ki_top_gauge *g = &v->gauges[at->gauge];

	for (size_t i = 0; i < v->model.nrows; i++) {
		const struct ki_cell *c = ki_points_first(&g->points, &g->points.v.v[i]) + at->cell;
		struct ki_top_value *value = &v->model.rows[i].values[column];

		if (c->reason) {
			*value = (struct ki_top_value){NAN, NAN};
			continue;
		}
		value->total = ki_reading_value(g->points.measure, g->begin, g->now, c->curve,
						KI_ALL_CPUS);
		value->rate = seconds > 0 ? ki_reading_value(g->points.measure, from, g->now,
							     c->curve, KI_ALL_CPUS) /
						    seconds
					  : 0;
	}
}

int ki_top_view_read(struct ki_top_view *v, struct ki_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < v->ngauges; i++)
		ret = read_gauge(&v->gauges[i], err);
	for (unsigned int i = 0; !ret && i < v->model.ncolumns; i++) {
		const struct ki_top_gauge *g = &v->gauges[v->cells[i].gauge];

		set_values(v, i, g->seen, g->seconds);
	}
	v->model.time = v->gauges[0].at - v->start;
	v->model.seconds = v->gauges[0].seconds;
	ki_top_model_sort(&v->model);
	return ret;
}

void ki_top_view_whole(struct ki_top_view *v)
{
	for (unsigned int i = 0; i < v->model.ncolumns; i++) {
		const struct ki_top_gauge *g = &v->gauges[v->cells[i].gauge];

		set_values(v, i, g->begin, g->at - g->begun);
	}
	v->model.seconds = v->model.time;
	ki_top_model_sort(&v->model);
}

int ki_top_view_take_out(struct ki_top_view *v, struct ki_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < v->ngauges; i++) {
		int out = ki_points_take_out(&v->gauges[i].points, v->how->listener, err);

		ret = ret ? ret : out;
	}
	return ret;
}

const struct ki_splice_process *ki_top_view_process(const struct ki_top_view *v)
{
	return v->how->pid && v->ngauges ? ki_measure_process(v->gauges[0].points.measure) : NULL;
}

const struct ki_named_point *ki_top_view_point(const struct ki_top_view *v, size_t row)
{
	return row < v->model.nrows ? &v->gauges[0].points.v.v[row] : NULL;
}

int ki_top_view_blocks(struct ki_top_view *v, const struct ki_top_how *how,
		       const struct ki_named_point *p, const struct ki_metric *metric,
		       struct ki_err *err)
{
	char text[768];
	int ret;

	snprintf(text, sizeof(text), "blocks of %s", p->name);
	ret = ki_top_view_new(v, how, text, true);
	if (ret)
		return ki_err_set(err, ret, 0, "out of memory");
	snprintf(text, sizeof(text), "%s:%s@0x%llx:blocks", ki_symbol_module(p->sym), p->sym->name,
		 (unsigned long long)p->sym->addr);
	ret = ki_points_ask(&v->asked, text, err);
	return ret ? ret : ki_top_view_measure(v, &metric, 1, err);
}
