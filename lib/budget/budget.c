// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What is over the budget is sampled, if it can be: actions such as records are then done at one of
 * 2^k hits only. What cannot is shed: wholly, and for good. Nothing is put in and taken out by
 * turns, though that would give estimates of what is shed: to put code back into a window of
 * several instructions takes the driver 0.2 s, and all that time a breakpoint stands there, which
 * costs a hundred times what the code does. To take it out is quick. To measure only some calls in
 * time would not help, either: to find out at a call whether it is one of them, and at its return
 * whether it was, costs a third of what is done there, and a counter costs less than such a
 * question.
 *
 * Instructions that may be spent come in by the time, and are kept for a second at most; what is
 * spent goes away. When GRACE seconds' worth is missing, something is done: parts are sampled or
 * shed, those that cost the most in a second first, until what is left is some way below the
 * budget: so what was spent too much before it was seen is paid back. The first looks are close
 * together, so that this is soon; each covers half of the time since the start, until they are THEN
 * apart.
 *
 * What this process spends on records goes down with them.
 */
#include "kerninst/budget.h"

#include <errno.h>
#include <stdlib.h>

#define KEPT   1.0   /* seconds for which nothing spent is kept */
#define GRACE  0.03  /* seconds' worth that may be missing */
#define AIM    0.75  /* of the budget, of what is left; */
#define FLOOR  0.7   /* of what sampling does not save; */
#define LOOSEN 0.5   /* of what it would be with one sampled less */
#define SLIGHT 0.05  /* of the budget: to shed what costs less in all would not help */
#define FIRST  0.001 /* seconds between two looks, at first */
#define THEN   0.05

bool ki_budget_parse(const char *text, double *share)
{
	char *end;
	double v = strtod(text, &end);

	if (end == text || end[0] != '%' || end[1] || !(v > 0 && v <= 100))
		return false;
	*share = v / 100;
	return true;
}

int ki_budget_new(struct ki_budget *b, struct ki_costs *cost, double share, struct ki_err *err)
{
	b->share = share;
	b->cost = cost;
	b->parts = NULL;
	b->n = 0;
	if (ki_budget_grow(b, err))
		return -ENOMEM;
	b->last = b->changed = cost->start;
	b->own = cost->own_start;
	for (uint32_t i = 0; i < cost->n; i++) {
		b->parts[i].spent = cost->parts[i].spent;
		b->parts[i].acted = cost->parts[i].acted;
	}
	return 0;
}

int ki_budget_grow(struct ki_budget *b, struct ki_err *err)
{
	const uint32_t n = b->cost->n;
	struct ki_budget_part *parts = realloc(b->parts, (n + 1) * sizeof(*parts));

	if (!parts)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	b->parts = parts;
	for (; b->n < n; b->n++)
		parts[b->n] = (struct ki_budget_part){0};
	return 0;
}

void ki_budget_free(struct ki_budget *b)
{
	free(b->parts);
	b->parts = NULL;
	b->n = 0;
}

double ki_budget_next(const struct ki_budget *b)
{
	double gone;

	if (!b->share)
		return -1;
	gone = b->last - b->cost->start;
	return b->last + (gone < FIRST ? FIRST : gone > THEN ? THEN : gone);
}

/* What was spent since the last look, and how fast. */
static double note_rates(struct ki_budget *b, double seconds)
{
	double own = ki_cost_own(), spent = (own - b->own) * b->cost->speed;

	b->own_rate += (spent / seconds - b->own_rate) * (seconds < 1 ? seconds : 1);
	b->own = own;
	ki_cost_look(b->cost);
	for (uint32_t i = 0; i < b->cost->n; i++) {
		const struct ki_cost_part *c = &b->cost->parts[i];
		struct ki_budget_part *p = &b->parts[i];

		p->rate = (c->spent - p->spent) / seconds;
		p->acting = (c->acted - p->acted) / seconds;
		spent += c->spent - p->spent;
		p->spent = c->spent;
		p->acted = c->acted;
	}
	return spent;
}

/* ---- what there would be left ---- */

/* Sums over all parts: instructions a second, of actions, and of what else there is. */
struct left {
	double acting, rest;
	double own; /* of this process, for an instruction of an action */
};

static struct left what_is_left(const struct ki_budget *b)
{
	struct left l = {0};

	for (uint32_t i = 0; i < b->cost->n; i++) {
		l.acting += b->parts[i].acting;
		l.rest += b->parts[i].rate - b->parts[i].acting;
	}
	if (l.acting > 0)
		l.own = b->own_rate / l.acting;
	else
		l.rest += b->own_rate;
	return l;
}

static double all_of(const struct left *l)
{
	return l->rest + l->acting * (1 + l->own);
}

/* ---- changes ---- */

/* What is going on. */
struct work {
	struct ki_err *err;
	struct ki_budget *b;
	double now;
	struct left left;
	ki_budget_told *told;
	void *arg;
	bool drops; /* something is to be taken out */
	int ret;
};

static void tell(struct work *w, uint32_t part, bool out)
{
	const struct ki_budget_change c = {.part = part,
					   .out = out,
					   .k = w->b->parts[part].k,
					   .rate = w->b->parts[part].rate,
					   .time = w->now};

	w->b->changed = w->now;
	w->b->parts[part].told = w->b->parts[part].k;
	if (!w->ret)
		w->ret = w->told(w->arg, &c);
}

/* Is it there for others' predicates? */
static bool is_needed(const struct ki_cost_part *p)
{
	const uint32_t needed = p->source->needed ? p->source->needed(p->of) : 0;

	return p->number >= p->source->parts(p->of) - needed;
}

/* What predicates need goes when there is nothing else. */
static uint32_t most_expensive(const struct ki_budget *b, bool needed)
{
	uint32_t best = KI_NONE;

	for (uint32_t i = 0; i < b->cost->n; i++) {
		const struct ki_cost_part *p = &b->cost->parts[i];

		if (p->out_at >= 0 || !(b->parts[i].rate > 0) || is_needed(p) != needed)
			continue;
		if (best == KI_NONE || b->parts[i].rate > b->parts[best].rate)
			best = i;
	}
	return best;
}

static void take_out(struct work *w, uint32_t part)
{
	struct ki_budget *b = w->b;
	struct ki_budget_part *p = &b->parts[part];
	struct ki_cost_part *c = &b->cost->parts[part];

	c->source->shed(c->of, c->number);
	c->out_at = w->now;
	b->sampled -= p->k > 0;
	b->shed++;
	tell(w, part, true);
	w->left.rest -= p->rate - p->acting;
	w->left.acting -= p->acting;
	b->own_rate -= p->acting * w->left.own;
	p->rate = p->acting = 0;
	w->drops = true;
}

static bool needs(const struct ki_cost_part *p, const struct ki_cost_part *o)
{
	return p->of == o->of && p->source->needs && p->source->needs(p->of, p->number, o->number);
}

/* Is it there, and asks the other in its predicate? */
static bool asks(const struct ki_budget *b, uint32_t part, uint32_t other)
{
	const struct ki_cost_part *p = &b->cost->parts[part], *o = &b->cost->parts[other];

	return p->out_at < 0 && needs(p, o);
}

static bool is_asked(const struct ki_budget *b, uint32_t part)
{
	for (uint32_t i = 0; i < b->cost->n; i++)
		if (asks(b, i, part))
			return true;
	return false;
}

/* With what predicates need goes all that has such a predicate, and with the last of these it. */
static void take_along(struct work *w, uint32_t part)
{
	const struct ki_budget *b = w->b;
	const struct ki_cost_part *p = &b->cost->parts[part];

	for (uint32_t i = 0; i < b->cost->n; i++) {
		const struct ki_cost_part *o = &b->cost->parts[i];

		if (o->out_at >= 0)
			continue;
		if (asks(b, i, part) || (needs(p, o) && !is_asked(b, i)))
			take_out(w, i);
	}
}

/* What this process itself takes does not go down with what is shed. */
static bool is_slight(const struct ki_budget *b)
{
	double rates = 0;

	for (uint32_t i = 0; i < b->cost->n; i++)
		if (b->cost->parts[i].out_at < 0)
			rates += b->parts[i].rate;
	return rates < SLIGHT * b->share * b->cost->speed * b->cost->cpus;
}

static bool shed_one(struct work *w)
{
	uint32_t worst;

	if (is_slight(w->b))
		return false;
	worst = most_expensive(w->b, false);
	if (worst == KI_NONE)
		worst = most_expensive(w->b, true);
	if (worst == KI_NONE)
		return false;
	take_out(w, worst);
	take_along(w, worst);
	return true;
}

static void set_rate(struct work *w, uint32_t part, unsigned int k)
{
	struct ki_budget *b = w->b;
	struct ki_budget_part *p = &b->parts[part];
	const struct ki_cost_part *c = &b->cost->parts[part];
	const double acting = k > p->k ? p->acting / 2 : p->acting * 2;

	w->ret = c->source->sample(c->of, c->number, k, w->err);
	if (w->ret)
		return;
	b->sampled += !p->k;
	b->sampled -= !k;
	p->k = k;
	b->most = k > b->most ? k : b->most;
	b->own_rate += (acting - p->acting) * w->left.own;
	w->left.acting += acting - p->acting;
	p->rate += acting - p->acting;
	p->acting = acting;
}

/* The part of which sampling saves the most. */
static uint32_t thickest(const struct ki_budget *b)
{
	uint32_t best = KI_NONE;

	for (uint32_t i = 0; i < b->cost->n; i++) {
		const struct ki_budget_part *p = &b->parts[i];

		if (b->cost->parts[i].out_at >= 0 || !(p->acting > 0) || p->k >= KI_RAREST)
			continue;
		if (best == KI_NONE || p->acting > b->parts[best].acting)
			best = i;
	}
	return best;
}

static void sample_all(struct work *w, double aim)
{
	struct ki_budget *b = w->b;
	uint32_t i;

	while (!w->ret && all_of(&w->left) > aim && (i = thickest(b)) != KI_NONE)
		set_rate(w, i, b->parts[i].k + 1);
}

/* What is sampled otherwise than before, and still there. */
static void tell_sampled(struct work *w)
{
	const struct ki_budget *b = w->b;

	for (uint32_t i = 0; i < b->cost->n; i++)
		if (b->parts[i].told != b->parts[i].k && b->cost->parts[i].out_at < 0)
			tell(w, i, false);
}

/* What that takes is spent, and will not come again. */
static void drop_parts(struct work *w)
{
	struct ki_costs *c = w->b->cost;
	const void *last = NULL;
	double own = ki_cost_own();

	for (uint32_t i = 0; i < c->n && !w->ret; i++) {
		const struct ki_cost_part *p = &c->parts[i];

		if (p->out_at != w->now || p->of == last)
			continue;
		last = p->of;
		w->ret = p->source->update(p->of, w->err);
	}
	own = ki_cost_own() - own;
	w->b->own += own;
	w->b->level -= own * (1 + KI_COST_LATER) * c->speed;
	ki_cost_took_out(c, own);
}

/* Less, until what is left is below the budget. */
static void tighten(struct work *w, double allowed)
{
	while (!w->ret && w->left.rest > (w->left.acting > 0 ? FLOOR : AIM) * allowed)
		if (!shed_one(w))
			break;
	if (!w->ret)
		sample_all(w, AIM * allowed);
	while (!w->ret && all_of(&w->left) > AIM * allowed)
		if (!shed_one(w))
			break;
	if (w->drops)
		drop_parts(w);
}

/* There has been enough for a while: one part rarer by one step less. */
static void loosen(struct work *w, double allowed)
{
	struct ki_budget *b = w->b;
	uint32_t best = KI_NONE;

	for (uint32_t i = 0; i < b->cost->n; i++)
		if (b->parts[i].k && b->cost->parts[i].out_at < 0 &&
		    (best == KI_NONE || b->parts[i].k > b->parts[best].k))
			best = i;
	if (best == KI_NONE ||
	    all_of(&w->left) + b->parts[best].acting * (1 + w->left.own) > LOOSEN * allowed)
		return;
	set_rate(w, best, b->parts[best].k - 1);
}

int ki_budget_look(struct ki_budget *b, double now, ki_budget_told *told, void *arg,
		   struct ki_err *err)
{
	struct work w = {.b = b, .now = now, .told = told, .arg = arg, .err = err};
	double seconds = now - b->last, allowed;

	if (!b->share || !(seconds > 0))
		return 0;
	allowed = b->share * b->cost->speed * b->cost->cpus;
	b->last = now;
	b->level += allowed * seconds - note_rates(b, seconds);
	if (b->level > allowed * KEPT)
		b->level = allowed * KEPT;
	w.left = what_is_left(b);
	if (b->level < -GRACE * allowed)
		tighten(&w, allowed);
	else if (b->level > 0 && now - b->changed > KEPT)
		loosen(&w, allowed);
	tell_sampled(&w);
	return w.ret;
}
