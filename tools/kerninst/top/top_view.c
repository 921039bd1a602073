// SPDX-License-Identifier: GPL-2.0-only
#include "top/top_view.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "command.h"
#include "open.h"
#include "points.h"

int top_view_open(struct top_view *v, const struct top_how *how, const char *what, bool idle)
{
	v->how = how;
	v->what = strdup(what);
	v->model.what = v->what;
	v->model.when = how->condition;
	v->model.idle = idle;
	v->model.selected = TOP_NONE;
	return v->what ? CLI_OK : cli_no_memory();
}

static void close_gauge(struct top_gauge *g)
{
	ki_points_free(&g->points);
	ki_reading_free(g->now);
	if (g->seen != g->now)
		ki_reading_free(g->seen);
	if (g->begin != g->now && g->begin != g->seen)
		ki_reading_free(g->begin);
	ki_target_close(g->t);
	*g = (struct top_gauge){0};
}

void top_view_close(struct top_view *v)
{
	for (unsigned int i = 0; i < TOP_COLUMNS; i++)
		close_gauge(&v->gauges[i]);
	top_model_close(&v->model);
	ki_asked_free(&v->asked);
	free(v->what);
	*v = (struct top_view){0};
}

static int read_gauge(struct top_gauge *g)
{
	struct ki_err err = {0};
	const double now = wait_now();
	struct ki_reading *r;

	if (ki_measure_read(g->points.measure, &r, &err))
		return cli_fail(&err);
	if (g->seen != g->begin)
		ki_reading_free(g->seen);
	g->seen = g->now;
	g->now = r;
	g->seconds = now - g->at;
	g->at = now;
	return CLI_OK;
}

/* What it has counted before this does not count. */
static int restart(struct top_gauge *g)
{
	int ret = read_gauge(g);

	if (g->begin != g->seen)
		ki_reading_free(g->begin);
	ki_reading_free(g->seen);
	g->seen = NULL;
	g->begin = g->now;
	g->begun = g->at;
	return ret;
}

static bool is_all_refused(const struct ki_points *p)
{
	return ki_points_refused(p) == p->cells.n;
}

static int begin_gauge(const struct top_how *how, struct top_gauge *g)
{
	int ret = points_put_in(&g->points, how->quiet);

	if (ret)
		return ret;
	if (is_all_refused(&g->points))
		return points_nothing(&g->points);
	if (!how->silent)
		points_warn_refused(&g->points);
	return restart(g);
}

static int open_gauge(struct top_view *v, struct top_gauge *g, const struct ki_wanted *wanted)
{
	const struct top_how *how = v->how;
	const struct open_options live = {.pid = how->pid};
	struct ki_points_how measured = {.wanted = *wanted,
					 .moving = how->pid ? KI_MOVING_NEVER : KI_MOVING_AUTO,
					 .when = how->when};
	int ret = open_or_fail(&live, &g->t);

	if (!ret && v->preset && !v->model.rows)
		ret = preset_ask(v->preset, g->t, &v->asked);
	if (!ret)
		ret = points_resolve(&g->points, g->t, &v->asked, &measured, how->quiet);
	if (!ret && is_all_refused(&g->points))
		ret = points_nothing(&g->points);
	if (!ret && v->model.rows && g->points.v.n != v->model.nrows)
		ret = cli_error("modules have come or gone: begin again");
	return ret ? ret : begin_gauge(how, g);
}

/* The rows are those of the first metric's points. */
static int name_rows(struct top_view *v)
{
	const struct ki_points *p = &v->gauges[0].points;

	if (top_model_open(&v->model, p->v.n))
		return cli_no_memory();
	for (size_t i = 0; i < p->v.n; i++)
		v->model.rows[i].name = p->v.v[i].name;
	v->start = v->gauges[0].at;
	return CLI_OK;
}

/* Those that are no columns yet become some, of the next gauge. */
static void add_columns(struct top_view *v, const struct ki_metric *const *metrics, unsigned int n,
			struct ki_wanted *fresh)
{
	for (unsigned int i = 0; i < n; i++) {
		const unsigned int before = v->model.ncolumns;
		const unsigned int at = top_model_column(&v->model, metrics[i]->name,
							 metrics[i]->unit == KI_UNIT_SECONDS);

		if (at != before || at == TOP_COLUMNS)
			continue;
		v->cells[at] = (struct top_cell){v->ngauges, fresh->n};
		fresh->metrics[fresh->n++] = metrics[i];
	}
}

int top_view_measure(struct top_view *v, const struct ki_metric *const *metrics, unsigned int n)
{
	const unsigned int before = v->model.ncolumns;
	struct top_gauge *g = &v->gauges[v->ngauges];
	struct ki_wanted fresh = {0};
	int ret = CLI_OK;

	add_columns(v, metrics, n, &fresh);
	if (top_model_column(&v->model, metrics[0]->name, false) == TOP_COLUMNS)
		return cli_error("more than %d metrics", TOP_COLUMNS);
	if (fresh.n) {
		ret = open_gauge(v, g, &fresh);
		if (!ret && !v->model.rows)
			ret = name_rows(v);
		if (ret) {
			close_gauge(g);
			v->model.ncolumns = before;
			return ret;
		}
		v->ngauges++;
	}
	v->model.by = top_model_column(&v->model, metrics[0]->name, false);
	return CLI_OK;
}

int top_view_begin(struct top_view *v)
{
	int ret = CLI_OK;

	for (unsigned int i = 0; !ret && i < v->ngauges; i++)
		ret = restart(&v->gauges[i]);
	v->start = v->gauges[0].at;
	return ret;
}

/* from: where the rate begins. */
static void set_values(struct top_view *v, unsigned int column, const struct ki_reading *from,
		       double seconds)
{
	const struct top_cell *at = &v->cells[column];
	const struct top_gauge *g = &v->gauges[at->gauge];

	for (size_t i = 0; i < v->model.nrows; i++) {
		const struct ki_cell *c = ki_points_first(&g->points, &g->points.v.v[i]) + at->cell;
		struct top_value *value = &v->model.rows[i].values[column];

		if (c->reason) {
			*value = (struct top_value){NAN, NAN};
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

int top_view_read(struct top_view *v)
{
	int ret = CLI_OK;

	for (unsigned int i = 0; !ret && i < v->ngauges; i++)
		ret = read_gauge(&v->gauges[i]);
	for (unsigned int i = 0; !ret && i < v->model.ncolumns; i++) {
		const struct top_gauge *g = &v->gauges[v->cells[i].gauge];

		set_values(v, i, g->seen, g->seconds);
	}
	v->model.time = v->gauges[0].at - v->start;
	v->model.seconds = v->gauges[0].seconds;
	top_model_sort(&v->model);
	return ret;
}

void top_view_whole(struct top_view *v)
{
	for (unsigned int i = 0; i < v->model.ncolumns; i++) {
		const struct top_gauge *g = &v->gauges[v->cells[i].gauge];

		set_values(v, i, g->begin, g->at - g->begun);
	}
	v->model.seconds = v->model.time;
	top_model_sort(&v->model);
}

int top_view_take_out(struct top_view *v)
{
	int ret = CLI_OK;

	for (unsigned int i = 0; i < v->ngauges; i++) {
		int out = points_take_out(&v->gauges[i].points, v->how->quiet);

		ret = ret ? ret : out;
	}
	return ret;
}

const struct ki_splice_process *top_view_process(const struct top_view *v)
{
	return v->how->pid && v->ngauges ? ki_measure_process(v->gauges[0].points.measure) : NULL;
}

const struct ki_named_point *top_view_point(const struct top_view *v, size_t row)
{
	return row < v->model.nrows ? &v->gauges[0].points.v.v[row] : NULL;
}
