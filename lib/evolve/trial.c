// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Is it better? Windows of time without the layouts and with them, in turn, so that what changes
 * meanwhile (load, heat) falls on both.
 */
#include <errno.h>
#include <math.h>
#include <time.h>

#include "evolve/inside.h"
#include "kerninst/metric.h"
#include "util/welch.h"

#define CONFIDENCE 0.95

static bool just_wait(double seconds)
{
	struct timespec left = {.tv_sec = (time_t)seconds};

	left.tv_nsec = (long)((seconds - (double)left.tv_sec) * 1e9);
	while (nanosleep(&left, &left) && errno == EINTR)
		;
	return true;
}

static int add_judge(struct ki_measure *m, struct ki_target *target,
		     const struct ki_evolve_trial *t, uint32_t *curve, struct ki_err *err)
{
	const struct ki_metric *metric = ki_metric_find(t->metric ? t->metric : "vtime/call");
	const struct ki_point whole = {.kind = KI_POINT_ENTRY};
	struct ki_function *fn = NULL;
	struct ki_spans spans = {0};
	int ret;

	if (!metric || metric->form != KI_FORM_MEAN)
		return ki_err_set(err, -EINVAL, 0, "%s: no metric of what one call takes",
				  t->metric);
	ret = ki_function_analyze(target, t->judge, &fn, err);
	if (!ret)
		ret = ki_spans_find(fn, &spans, err);
	if (!ret)
		ret = ki_measure_add(m, metric,
				     &(struct ki_measured_at){fn, &spans, &whole, 0, NULL}, curve,
				     err);
	ki_spans_free(&spans);
	ki_function_free(fn);
	return ret;
}

static int read_judge(struct ki_measure *m, const struct ki_evolve_trial *t, uint32_t curve,
		      double *value, struct ki_err *err)
{
	struct ki_reading *r;
	int ret;

	if (!(t->wait ? t->wait(t->arg, t->seconds) : just_wait(t->seconds)))
		return ki_err_set(err, -ECANCELED, 0, "trial: stopped");
	ret = ki_measure_read(m, &r, err);
	if (ret)
		return ret;
	*value = ki_reading_value(m, NULL, r, curve, KI_ALL_CPUS);
	ki_reading_free(r);
	if (isnan(*value))
		ret = ki_err_set(err, -ENODATA, t->judge->addr,
				 "%s: was not called for %g s, so nothing can be compared: let a "
				 "load run, or name another --judge",
				 t->judge->name, t->seconds);
	return ret;
}

/* The judge's measurement, which runs: *m and its curve. */
static int start_judge(struct ki_target *target, const struct ki_evolve_trial *t,
		       struct ki_measure **m, uint32_t *curve, struct ki_err *err)
{
	int ret = ki_measure_new(target, m, err);

	if (ret)
		return ret;
	ret = add_judge(*m, target, t, curve, err);
	if (!ret)
		ret = ki_measure_start(*m, err);
	if (!ret && ki_measure_refusal(*m, *curve))
		ret = ki_err_reason(err, ki_measure_refusal(*m, *curve), t->judge->addr, "%s",
				    t->judge->name);
	if (ret)
		ki_measure_free(*m);
	return ret;
}

bool ki_evolve_can_judge(struct ki_target *t, const struct ki_symbol *sym)
{
	const struct ki_evolve_trial trial = {.judge = sym};
	struct ki_measure *m;
	uint32_t curve;

	if (start_judge(t, &trial, &m, &curve, NULL))
		return false;
	ki_measure_free(m);
	return true;
}

/* What one call took in a window of time that begins now. */
static int measure(struct ki_target *target, const struct ki_evolve_trial *t, uint64_t judge,
		   double *value, struct ki_err *err)
{
	struct ki_evolve_trial now = *t;
	struct ki_measure *m;
	uint32_t curve;
	int ret;

	now.judge = ki_target_symbol_at(target, judge);
	if (!now.judge)
		return ki_err_set(err, -ENOENT, judge, "the judge is there no more");
	ret = start_judge(target, &now, &m, &curve, err);
	if (ret)
		return ret;
	ret = read_judge(m, &now, curve, value, err);
	ki_measure_free(m);
	return ret;
}

int ki_evolve_take_turns(const struct ki_evolve_turn *x, const struct ki_evolve_trial *t,
			 double *before, double *after, struct ki_err *err)
{
	const uint64_t judge = t->judge->addr;
	int ret = 0;

	for (size_t i = 0; !ret && i < t->windows; i++) {
		if (i)
			ret = x->undo(x->arg, err);
		if (!ret)
			ret = measure(x->t, t, judge, &before[i], err);
		if (!ret)
			ret = x->install(x->arg, err);
		if (!ret)
			ret = measure(x->t, t, judge, &after[i], err);
	}
	if (ret)
		x->undo(x->arg, NULL);
	return ret;
}

static int put_in(void *evolve, struct ki_err *err)
{
	return ki_evolve_install(evolve, err);
}

static int take_out(void *evolve, struct ki_err *err)
{
	return ki_evolve_undo(evolve, err);
}

int ki_evolve_try(struct ki_evolve *e, const struct ki_evolve_trial *t, double *before,
		  double *after, struct ki_err *err)
{
	const struct ki_evolve_turn turn = {e->t, put_in, take_out, e};

	return ki_evolve_take_turns(&turn, t, before, after, err);
}

void ki_evolve_judge(const double *before, const double *after, size_t n,
		     struct ki_evolve_verdict *out)
{
	struct ki_sample a, b;
	struct ki_comparison c;

	ki_sample_of(before, n, &a);
	ki_sample_of(after, n, &b);
	ki_sample_compare(&a, &b, CONFIDENCE, &c);
	*out = (struct ki_evolve_verdict){.before = a.mean, .after = b.mean};
	out->low = c.low / a.mean;
	out->high = c.high / a.mean;
	out->better = c.high < 0;
	out->worse = c.low > 0;
}
