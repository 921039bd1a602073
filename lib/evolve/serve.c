// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A kernel that goes on to improve itself: rounds of search, profile, trial, and a rest that is
 * long enough for what they cost.
 *
 * Each function is laid out by itself, so that each can be judged, and go, by itself. What is not
 * called any more when it is tried again is taken out: a profile of another load says nothing of
 * the load that may come.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "evolve/inside.h"

/* A function of which a verdict was reached. */
struct known {
	const struct ki_symbol *sym, *judge;
	struct ki_evolve *evolve; /* its layout is in; NULL: it has none */
	unsigned int round;	  /* of the verdict */
};

struct service {
	struct ki_target *t;
	const struct ki_evolve_service *o;
	ki_vec(struct known) known;
	unsigned int round;
	double busy; /* seconds of this round in which more than layouts was in */
	size_t kept;
	bool over;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void tell(const struct service *s, struct ki_evolve_notice n)
{
	n.kept = s->kept;
	s->o->tell(s->o->arg, &n);
}

/* ---- what is known ---- */

static struct known *find(struct service *s, const struct ki_symbol *sym)
{
	for (size_t i = 0; i < s->known.n; i++)
		if (s->known.v[i].sym == sym)
			return &s->known.v[i];
	return NULL;
}

static bool is_candidate(struct service *s, const struct ki_symbol *sym)
{
	const struct known *k = find(s, sym);

	return !k || (!k->evolve && s->round - k->round >= s->o->again);
}

/* e: its layout, which is in, or NULL. */
static int remember(struct service *s, const struct ki_evolve_hot *h, struct ki_evolve *e)
{
	struct known *k = find(s, h->sym);

	if (!k && ki_vec_push(&s->known, (struct known){.sym = h->sym}))
		return -ENOMEM;
	k = k ? k : &s->known.v[s->known.n - 1];
	k->judge = h->caller;
	k->evolve = e;
	k->round = s->round;
	s->kept += e ? 1 : 0;
	return 0;
}

/* ---- a trial ---- */

/* Then the layout is in. -ECANCELED: the service is to end. */
static int try(struct service *s, struct ki_evolve *e, const struct ki_symbol *judge,
	       struct ki_evolve_verdict *v, struct ki_err *err)
{
	struct ki_evolve_trial t = s->o->trial;
	double *values, start = now();
	int ret;

	t.judge = t.judge ? t.judge : judge;
	if (!t.judge)
		return ki_err_set(
			err, -ENODATA, 0,
			"none of its callers was seen, so none can judge: name a --judge");
	values = calloc(2 * t.windows, sizeof(*values));
	if (!values)
		return ki_err_set(err, -ENOMEM, 0, "trial: out of memory");
	ret = ki_evolve_try(e, &t, values, values + t.windows, err);
	s->busy += now() - start;
	if (!ret)
		ki_evolve_judge(values, values + t.windows, t.windows, v);
	free(values);
	return ret;
}

static int refuse(struct service *s, const struct ki_evolve_hot *h, struct ki_evolve *e, int why,
		  const struct ki_err *err)
{
	ki_evolve_free(e);
	if (why == -ECANCELED)
		return why;
	if (remember(s, h, NULL))
		return -ENOMEM;
	tell(s, (struct ki_evolve_notice){KI_EVOLVE_REFUSED, .sym = h->sym, .err = err});
	return 0;
}

static int drop(struct service *s, const struct ki_evolve_hot *h, struct ki_evolve *e,
		const struct ki_evolve_verdict *v, struct ki_err *err)
{
	int ret = ki_evolve_undo(e, err);

	ki_evolve_free(e);
	if (!ret && remember(s, h, NULL))
		ret = ki_err_set(err, -ENOMEM, 0, "layouts: out of memory");
	if (!ret)
		tell(s, (struct ki_evolve_notice){KI_EVOLVE_DROPPED, .sym = h->sym, .verdict = v});
	return ret;
}

static int keep(struct service *s, const struct ki_evolve_hot *h, struct ki_evolve *e,
		const struct ki_evolve_verdict *v, struct ki_err *err)
{
	if (remember(s, h, e)) {
		ki_evolve_undo(e, NULL);
		ki_evolve_free(e);
		return ki_err_set(err, -ENOMEM, 0, "layouts: out of memory");
	}
	tell(s, (struct ki_evolve_notice){KI_EVOLVE_KEPT, .sym = h->sym, .verdict = v});
	return 0;
}

static int lay_out(struct service *s, const struct ki_coverage *profile,
		   const struct ki_evolve_hot *h, struct ki_err *err)
{
	struct ki_evolve_forecast forecast;
	struct ki_evolve_verdict v;
	struct ki_evolve *e = NULL;
	int ret = ki_evolve_new(s->t, &s->o->choice, &e, err);

	if (!ret)
		ret = ki_evolve_add(e, profile, h->sym, &forecast, err);
	if (!ret)
		ret = ki_evolve_check(e, err);
	if (!ret)
		ret = try(s, e, h->caller, &v, err);
	if (ret)
		return refuse(s, h, e, ret, err);
	return v.better ? keep(s, h, e, &v, err) : drop(s, h, e, &v, err);
}

/* ---- what has been kept ---- */

static int take_out(struct service *s, struct known *k, struct ki_err *err)
{
	int ret = ki_evolve_undo(k->evolve, err);

	ki_evolve_free(k->evolve);
	k->evolve = NULL;
	k->round = s->round;
	s->kept--;
	return ret;
}

static int try_again(struct service *s, struct known *k, struct ki_err *err)
{
	struct ki_evolve_verdict v = {0};
	struct ki_err why = {0};
	int ret = ki_evolve_undo(k->evolve, err), out;

	if (!ret)
		ret = try(s, k->evolve, k->judge, &v, &why);
	k->round = s->round;
	if (!ret && !v.worse) {
		tell(s,
		     (struct ki_evolve_notice){KI_EVOLVE_CONFIRMED, .sym = k->sym, .verdict = &v});
		return 0;
	}
	out = take_out(s, k, err);
	if (out || ret == -ECANCELED)
		return out ? out : ret;
	tell(s, (struct ki_evolve_notice){KI_EVOLVE_UNDONE, .sym = k->sym,
					  .verdict = ret ? NULL : &v, .err = ret ? &why : NULL});
	return 0;
}

static int try_kept(struct service *s, struct ki_err *err)
{
	int ret = 0;

	for (size_t i = 0; i < s->known.n && !ret; i++) {
		struct known *k = &s->known.v[i];

		if (k->evolve && s->round - k->round >= s->o->again)
			ret = try_again(s, k, err);
	}
	return ret;
}

static int end(struct service *s, int ret, struct ki_err *err)
{
	for (size_t i = 0; i < s->known.n; i++) {
		int out = s->known.v[i].evolve ? take_out(s, &s->known.v[i], err) : 0;

		ret = out ? out : ret;
	}
	ki_vec_free(&s->known);
	return ret == -ECANCELED ? 0 : ret;
}

/* ---- a round ---- */

static int profile(struct service *s, const struct ki_symbol **v, size_t n,
		   struct ki_coverage **out, struct ki_err *err)
{
	const struct ki_cover_options how = {.mode = KI_COVER_EDGES};
	const struct ki_evolve_search *search = &s->o->search;
	struct ki_cover *cover;
	double start = now();
	int ret = ki_cover_install(s->t, v, n, &how, &cover, err);

	if (ret)
		return ret;
	if (!search->wait(search->arg, s->o->seconds))
		ret = ki_err_set(err, -ECANCELED, 0, "profile: stopped");
	if (!ret)
		ret = ki_cover_remove(cover, err);
	s->busy += now() - start;
	if (!ret)
		ret = ki_cover_read(cover, out, err);
	ki_cover_close(cover);
	return ret;
}

static int by_address(const void *a, const void *b)
{
	const struct ki_evolve_hot *x = a, *y = b;

	return (x->sym > y->sym) - (x->sym < y->sym);
}

static int take_profile(struct service *s, struct ki_evolve_hot *v, size_t n,
			struct ki_coverage **out, struct ki_err *err)
{
	const struct ki_symbol **syms = calloc(n, sizeof(*syms));
	int ret;

	if (!syms)
		return ki_err_set(err, -ENOMEM, 0, "profile: out of memory");
	qsort(v, n, sizeof(*v), by_address);
	for (size_t i = 0; i < n; i++)
		syms[i] = v[i].sym;
	ret = profile(s, syms, n, out, err);
	free(syms);
	return ret;
}

/* None of them can be profiled. */
static int pass_over(struct service *s, const struct ki_evolve_hot *v, size_t n,
		     const struct ki_err *why)
{
	for (size_t i = 0; i < n; i++)
		if (remember(s, &v[i], NULL))
			return -ENOMEM;
	tell(s, (struct ki_evolve_notice){KI_EVOLVE_REFUSED, .err = why});
	return 0;
}

static int try_new(struct service *s, struct ki_evolve_hot *v, size_t n, struct ki_err *err)
{
	struct ki_coverage *profile = NULL;
	size_t left = 0;
	int ret = 0;

	for (size_t i = 0; i < n; i++)
		if (is_candidate(s, v[i].sym))
			v[left++] = v[i];
	if (!left)
		return 0;
	ret = take_profile(s, v, left, &profile, err);
	if (ret && ret != -ECANCELED)
		return pass_over(s, v, left, err);
	for (size_t i = 0; i < left && !ret; i++) {
		struct ki_err one = {0};

		ret = lay_out(s, profile, &v[i], &one);
		if (ret)
			*err = one;
	}
	ki_coverage_free(profile);
	return ret;
}

static int rest(struct service *s, struct ki_err *err)
{
	const struct ki_evolve_search *search = &s->o->search;
	double seconds = s->busy * (KI_EVOLVE_COST / s->o->budget - 1);

	seconds = seconds > s->o->seconds ? seconds : s->o->seconds;
	tell(s, (struct ki_evolve_notice){KI_EVOLVE_RESTS, .seconds = seconds});
	if (search->wait(search->arg, seconds))
		return 0;
	return ki_err_set(err, -ECANCELED, 0, "rest: stopped");
}

static int round_do(struct service *s, struct ki_err *err)
{
	struct ki_evolve_hot *v = NULL;
	double start = now();
	size_t n;
	int ret = ki_evolve_hottest(s->t, &s->o->search, &v, &n, err);

	s->busy = now() - start;
	if (!ret)
		ret = try_new(s, v, n, err);
	free(v);
	if (!ret)
		ret = try_kept(s, err);
	if (!ret)
		ret = rest(s, err);
	s->round++;
	return ret;
}

int ki_evolve_serve(struct ki_target *t, const struct ki_evolve_service *o, struct ki_err *err)
{
	struct service s = {.t = t, .o = o};
	int ret = 0;

	while (!ret)
		ret = round_do(&s, err);
	return end(&s, ret, err);
}
