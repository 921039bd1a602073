// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The counters stand where the same texts lead to, so the points are the same, one by one. Of a
 * function, whatever is to be measured of it, its calls are counted. A predicate is taken to hold
 * each time, which is the most that the code can cost.
 */
#include "kerninst/predict.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "kerninst/cost.h"
#include "kerninst/speed.h"

#define SECONDS 0.3

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static int count(struct ki_prediction *out, struct ki_points *trial, struct ki_err *err)
{
	double from;
	int ret = ki_measure_start(trial->measure, err);

	if (ret)
		return ret;
	ki_points_note_refusals(trial);
	for (size_t i = 0; i < trial->v.n; i++) {
		const struct ki_cell *c = ki_points_first(trial, &trial->v.v[i]);

		out->hits[i] = c->reason ? NAN : (double)ki_measure_hits(trial->measure, c->curve);
	}
	from = now();
	if (!out->pause(SECONDS))
		return ki_err_set(err, -ECANCELED, 0,
				  "interrupted while counting; nothing is installed");
	out->seconds = now() - from;
	for (size_t i = 0; i < trial->v.n; i++) {
		const struct ki_cell *c = ki_points_first(trial, &trial->v.v[i]);

		if (!c->reason)
			out->hits[i] =
				((double)ki_measure_hits(trial->measure, c->curve) - out->hits[i]) /
				out->seconds;
	}
	return ki_measure_stop(trial->measure, err);
}

int ki_predict(struct ki_prediction *out, const struct ki_points *p, struct ki_target *t,
	       const struct ki_asked *asked, const struct ki_points_how *how, struct ki_err *err)
{
	struct ki_points_how bare = {.size = sizeof(bare),
				     .wanted = {.shape = how->wanted.shape,
						.metrics = {ki_metric_find("calls")},
						.n = 1},
				     .moving = how->moving,
				     .progress = how->progress,
				     .progress_arg = how->progress_arg,
				     .separate = how->separate};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct ki_points trial = {0};
	int ret;

	out->machine = ki_cpu_speed() * (cpus > 0 ? (double)cpus : 1);
	out->hits = calloc(p->v.n + 1, sizeof(*out->hits));
	if (!out->hits)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	ret = ki_points_resolve(&trial, t, asked, &bare, err);
	if (!ret && trial.v.n != p->v.n)
		ret = ki_err_set(err, -EINVAL, 0, "the functions have changed meanwhile");
	if (!ret)
		ret = count(out, &trial, err);
	ki_points_free(&trial);
	return ret;
}

void ki_prediction_free(struct ki_prediction *p)
{
	free(p->hits);
	p->hits = NULL;
}

double ki_prediction_pass(const struct ki_points *p, const struct ki_cell *c)
{
	return ki_measure_pass_cost(p->measure, ki_measure_part(p->measure, c->curve)).most;
}

double ki_prediction_cost(const struct ki_prediction *pr, const struct ki_points *p,
			  const struct ki_named_point *pt, const struct ki_cell *c)
{
	return c->reason ? 0 : pr->hits[pt - p->v.v] * ki_prediction_pass(p, c);
}

double ki_prediction_all(const struct ki_prediction *pr, const struct ki_points *p)
{
	double all = 0;

	for (const struct ki_named_point *pt = p->v.v; pt < p->v.v + p->v.n; pt++)
		for (unsigned int i = 0; i < pt->ncells; i++) {
			const struct ki_cell *v = &p->cells.v[pt->cell];
			bool charged = v[i].reason || isnan(pr->hits[pt - p->v.v]);

			for (unsigned int k = 0; k < i && !charged; k++)
				charged = !v[k].reason &&
					  ki_measure_part(p->measure, v[k].curve) ==
						  ki_measure_part(p->measure, v[i].curve);
			all += charged ? 0 : ki_prediction_cost(pr, p, pt, &v[i]);
		}
	return all;
}
