// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A kernel that goes on to improve itself: rounds of search, profile, trial, and a rest that is
 * long enough for what they cost.
 *
 * What is tried policies say (ideas.c); each is judged, and goes, by itself. What is not called any
 * more when it is tried again is taken out: a profile of another load says nothing of the load that
 * may come.
 */
#include <errno.h>
#include <stdlib.h>
#include <time.h>

#include "evolve/inside.h"

/* A function of which a verdict was reached: it, or one that it is in, is not tried again soon. */
struct known {
	const struct ki_symbol *sym;
	unsigned int round; /* of the verdict */
};

/* Something that is in. */
struct held {
	struct ki_evolve_idea idea;
	const struct ki_symbol **syms; /* what it is about; the first names it */
	const struct ki_symbol *judge;
	unsigned int round; /* of the last verdict */
};

struct service {
	struct ki_target *t;
	const struct ki_evolve_service *o;
	ki_vec(struct known) known;
	ki_vec(struct held) held;
	unsigned int round;
	double busy; /* seconds of this round in which more than what is kept was in */
};

/* What is tried. */
struct trial {
	struct ki_evolve_case c;
	struct ki_evolve_idea idea;
};

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

static void tell(const struct service *s, struct ki_evolve_notice n)
{
	n.kept = s->held.n;
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

static bool is_held(const struct service *s, const struct ki_symbol *sym)
{
	for (size_t i = 0; i < s->held.n; i++)
		for (size_t k = 0; k < s->held.v[i].idea.functions; k++)
			if (s->held.v[i].syms[k] == sym)
				return true;
	return false;
}

static bool is_candidate(struct service *s, const struct ki_symbol *sym)
{
	const struct known *k = find(s, sym);

	return !is_held(s, sym) && (!k || s->round - k->round >= s->o->again);
}

static int remember(struct service *s, const struct ki_symbol *sym)
{
	struct known *k = find(s, sym);

	if (!k)
		return ki_vec_push(&s->known, ((struct known){sym, s->round}));
	k->round = s->round;
	return 0;
}

/* ---- a trial ---- */

/* Then it is in. -ECANCELED: the service is to end. */
static int try(struct service *s, const struct ki_evolve_idea *idea, const struct ki_symbol *judge,
	       struct ki_evolve_verdict *v, struct ki_err *err)
{
	const struct ki_evolve_turn turn = {s->t, idea->install, idea->undo, idea->own};
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
	ret = ki_evolve_take_turns(&turn, &t, values, values + t.windows, err);
	s->busy += now() - start;
	if (!ret)
		ki_evolve_judge(values, values + t.windows, t.windows, v);
	free(values);
	return ret;
}

static int hold(struct service *s, const struct trial *x)
{
	struct held h = {.idea = x->idea, .judge = x->c.hot->caller, .round = s->round};

	h.syms = calloc(x->idea.functions, sizeof(*h.syms));
	if (!h.syms || ki_vec_reserve(&s->held, 1)) {
		free(h.syms);
		return -ENOMEM;
	}
	for (size_t i = 0; i < x->idea.functions; i++)
		h.syms[i] = x->c.hot[i].sym;
	s->held.v[s->held.n++] = h;
	return 0;
}

/* 1: it is in and stays; 0: it is out. */
static int decide(struct service *s, const struct trial *x, struct ki_err *err)
{
	struct ki_evolve_notice n = {
		.sym = x->c.hot->sym, .what = x->idea.what, .functions = x->idea.functions};
	struct ki_evolve_verdict v;
	struct ki_err why = {0};
	int ret = try(s, &x->idea, x->c.hot->caller, &v, &why);

	if (ret == -ECANCELED || ret == -ENOMEM)
		return ki_err_set(err, ret, why.addr, "%s", why.msg);
	if (!ret && v.better) {
		ret = hold(s, x);
		if (!ret) {
			n.news = KI_EVOLVE_KEPT;
			n.verdict = &v;
			tell(s, n);
			return 1;
		}
		x->idea.undo(x->idea.own, NULL);
		return ki_err_set(err, ret, 0, "layouts: out of memory");
	}
	n.news = ret ? KI_EVOLVE_REFUSED : KI_EVOLVE_DROPPED;
	n.verdict = ret ? NULL : &v;
	n.err = ret ? &why : NULL;
	ret = ret ? 0 : x->idea.undo(x->idea.own, err);
	if (!ret)
		tell(s, n);
	return ret;
}

/* What one policy says of a function: as decide(). */
static int follow(struct service *s, ki_evolve_policy *policy, const struct ki_evolve_case *c,
		  struct ki_err *err)
{
	struct trial x = {.c = *c};
	struct ki_err why = {0};
	const double start = now();
	int ret = policy(c, &x.idea, &why);

	s->busy += now() - start;
	if (ret == -ECANCELED || ret == -ENOMEM)
		return ki_err_set(err, ret, why.addr, "%s", why.msg);
	if (ret) {
		if (ret != -ENODATA || why.code)
			tell(s, (struct ki_evolve_notice){KI_EVOLVE_REFUSED, .sym = c->hot->sym,
							  .err = &why});
		return 0;
	}
	ret = decide(s, &x, err);
	if (ret != 1)
		x.idea.free(x.idea.own);
	return ret;
}

/* The first that is better is kept. */
static int improve(struct service *s, const struct ki_evolve_case *c, struct ki_err *err)
{
	static ki_evolve_policy *const layout = ki_evolve_propose_layout;
	ki_evolve_policy *const *v = s->o->npolicies ? s->o->policies : &layout;
	const size_t n = s->o->npolicies ? s->o->npolicies : 1;
	int ret = 0;

	for (size_t i = 0; i < n && !ret; i++)
		ret = follow(s, v[i], c, err);
	if (ret < 0)
		return ret;
	return remember(s, c->hot->sym) ? ki_err_set(err, -ENOMEM, 0, "layouts: out of memory") : 0;
}

/* ---- what has been kept ---- */

static int take_out(struct service *s, size_t i, struct ki_err *err)
{
	struct held h = s->held.v[i];
	int ret = h.idea.undo(h.idea.own, err);

	for (size_t k = 0; k < h.idea.functions && !ret; k++)
		if (remember(s, h.syms[k]))
			ret = ki_err_set(err, -ENOMEM, 0, "layouts: out of memory");
	h.idea.free(h.idea.own);
	free(h.syms);
	s->held.v[i] = s->held.v[--s->held.n];
	return ret;
}

/* 1: it is out. */
static int try_again(struct service *s, size_t i, struct ki_err *err)
{
	struct held *h = &s->held.v[i];
	struct ki_evolve_notice n = {KI_EVOLVE_CONFIRMED, .sym = h->syms[0], .what = h->idea.what,
				     .functions = h->idea.functions};
	struct ki_evolve_verdict v = {0};
	struct ki_err why = {0};
	int ret = h->idea.undo(h->idea.own, err), out;

	if (!ret)
		ret = try(s, &h->idea, h->judge, &v, &why);
	h->round = s->round;
	n.verdict = ret ? NULL : &v;
	n.err = ret ? &why : NULL;
	if (!ret && !v.worse) {
		tell(s, n);
		return 0;
	}
	out = take_out(s, i, err);
	if (out || ret == -ECANCELED)
		return out ? out : ret;
	n.news = KI_EVOLVE_UNDONE;
	tell(s, n);
	return 1;
}

static int try_kept(struct service *s, struct ki_err *err)
{
	size_t i = 0;

	while (i < s->held.n) {
		int ret = s->round - s->held.v[i].round >= s->o->again ? try_again(s, i, err) : 0;

		if (ret < 0)
			return ret;
		i += !ret; /* the last one stands in its place now */
	}
	return 0;
}

static int end(struct service *s, int ret, struct ki_err *err)
{
	while (s->held.n) {
		int out = take_out(s, s->held.n - 1, err);

		ret = out ? out : ret;
	}
	ki_vec_free(&s->held);
	ki_vec_free(&s->known);
	return ret == -ECANCELED ? 0 : ret;
}

/* ---- a round ---- */

static int profile(struct service *s, const struct ki_symbol **v, size_t n,
		   struct ki_coverage **out, struct ki_err *err)
{
	const struct ki_cover_options how = {.size = sizeof(how), .mode = KI_COVER_EDGES};
	const struct ki_evolve_search *search = &s->o->search;
	struct ki_cover *cover;
	double start = now();
	int ret = ki_cover_new(s->t, v, n, &how, &cover, err);

	if (ret)
		return ret;
	if (!search->wait(search->arg, s->o->seconds))
		ret = ki_err_set(err, -ECANCELED, 0, "profile: stopped");
	if (!ret)
		ret = ki_cover_remove(cover, err);
	s->busy += now() - start;
	if (!ret)
		ret = ki_cover_read(cover, out, err);
	ki_cover_free(cover);
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
		if (remember(s, v[i].sym))
			return -ENOMEM;
	tell(s, (struct ki_evolve_notice){KI_EVOLVE_REFUSED, .err = why});
	return 0;
}

/* Is it called by one of the first n, as far as the samples tell? */
static bool is_called_by(const struct ki_evolve_hot *h, const struct ki_evolve_hot *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (h->caller == v[i].sym)
			return true;
	return false;
}

/* v[root] and those that it calls, at any depth, that may be tried: *n of them in `out`. */
static void descend(struct service *s, const struct ki_evolve_hot *v, size_t all, size_t root,
		    struct ki_evolve_hot *out, size_t *n)
{
	bool more = true;

	out[0] = v[root];
	*n = 1;
	while (more) {
		more = false;
		for (size_t i = 0; i < all; i++) {
			if (is_called_by(&v[i], out, *n) && !is_held(s, v[i].sym) &&
			    !is_called_by(&(struct ki_evolve_hot){.caller = v[i].sym}, out, *n)) {
				out[(*n)++] = v[i];
				more = true;
			}
		}
	}
}

static int try_each(struct service *s, const struct ki_coverage *profile,
		    const struct ki_evolve_hot *v, size_t n, struct ki_err *err)
{
	struct ki_evolve_hot *some = calloc(n + 1, sizeof(*some));
	struct ki_evolve_case c = {.t = s->t, .hot = some, .profile = profile, .service = s->o};
	int ret = some ? 0 : ki_err_set(err, -ENOMEM, 0, "layouts: out of memory");

	for (size_t i = 0; i < n && !ret; i++) {
		if (is_held(s, v[i].sym)) /* since this round, with another one */
			continue;
		descend(s, v, n, i, some, &c.n);
		ret = improve(s, &c, err);
	}
	free(some);
	return ret;
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
	if (!ret)
		ret = try_each(s, profile, v, left, err);
	ki_coverage_free(profile);
	return ret;
}

static int rest(struct service *s, struct ki_err *err)
{
	const struct ki_evolve_search *search = &s->o->search;
	double seconds = s->busy * (KI_EVOLVE_COST / s->o->budget - 1);

	seconds = seconds > s->o->seconds ? seconds : s->o->seconds;
	tell(s, (struct ki_evolve_notice){KI_EVOLVE_PAUSES, .seconds = seconds});
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
