// SPDX-License-Identifier: GPL-2.0-only
/*
 * The counters stand where the same texts lead to, so the points are the same, one by one. Of a
 * function, whatever is to be measured of it, its calls are counted. A predicate is taken to hold
 * each time, which is the most that the code can cost.
 */
#include "predict.h"

#include <math.h>
#include <stdlib.h>
#include <unistd.h>

#include "cli.h"
#include "command.h"
#include "cost.h"
#include "kerninst/speed.h"

#define SECONDS 0.3

static int count(struct prediction *out, struct points *trial)
{
	struct command none = {0};
	struct ki_err err = {0};
	double from;

	if (ki_measure_start(trial->measure, &err))
		return cli_fail(&err);
	points_note_refusals(trial);
	for (size_t i = 0; i < trial->v.n; i++) {
		const struct cell *c = points_first(trial, &trial->v.v[i]);

		out->hits[i] = c->reason ? NAN : (double)ki_measure_hits(trial->measure, c->curve);
	}
	from = wait_now();
	if (wait_event(&none, from + SECONDS) != EVENT_TIME)
		return cli_error("interrupted while counting; nothing is installed");
	out->seconds = wait_now() - from;
	for (size_t i = 0; i < trial->v.n; i++) {
		const struct cell *c = points_first(trial, &trial->v.v[i]);

		if (!c->reason)
			out->hits[i] =
				((double)ki_measure_hits(trial->measure, c->curve) - out->hits[i]) /
				out->seconds;
	}
	return ki_measure_stop(trial->measure, &err) ? cli_fail(&err) : CLI_OK;
}

int predict(struct prediction *out, const struct points *p, struct ki_target *t,
	    const struct asked *asked, const struct points_how *how)
{
	struct points_how bare = {.wanted = {.shape = how->wanted.shape,
					     .metrics = {ki_metric_find("calls")},
					     .n = 1},
				  .moving = how->moving,
				  .quiet = how->quiet,
				  .separate = how->separate};
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);
	struct points trial = {0};
	int ret;

	out->machine = ki_cpu_speed() * (cpus > 0 ? (double)cpus : 1);
	out->hits = calloc(p->v.n + 1, sizeof(*out->hits));
	if (!out->hits)
		return cli_no_memory();
	ret = points_resolve(&trial, t, asked, &bare);
	if (!ret && trial.v.n != p->v.n)
		ret = cli_error("the functions have changed meanwhile");
	if (!ret)
		ret = count(out, &trial);
	points_free(&trial);
	return ret;
}

void prediction_free(struct prediction *p)
{
	free(p->hits);
	p->hits = NULL;
}

double prediction_pass(const struct points *p, const struct cell *c)
{
	return ki_measure_pass_cost(p->measure, ki_measure_part(p->measure, c->curve)).most;
}

double prediction_cost(const struct prediction *pr, const struct points *p, const struct point *pt,
		       const struct cell *c)
{
	return c->reason ? 0 : pr->hits[pt - p->v.v] * prediction_pass(p, c);
}

double prediction_all(const struct prediction *pr, const struct points *p)
{
	double all = 0;

	for (const struct point *pt = p->v.v; pt < p->v.v + p->v.n; pt++)
		for (unsigned int i = 0; i < pt->ncells; i++) {
			const struct cell *v = &p->cells.v[pt->cell];
			bool charged = v[i].reason || isnan(pr->hits[pt - p->v.v]);

			for (unsigned int k = 0; k < i && !charged; k++)
				charged = !v[k].reason &&
					  ki_measure_part(p->measure, v[k].curve) ==
						  ki_measure_part(p->measure, v[i].curve);
			all += charged ? 0 : prediction_cost(pr, p, pt, &v[i]);
		}
	return all;
}
