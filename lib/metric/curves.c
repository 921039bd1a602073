// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Curves: what is put into the plan for one metric at one point.
 *
 * A bare count is what there are tens of thousands of: it takes a counter and a short chunk, and
 * nothing is searched or compiled for it.
 */
#include "metric/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "metric/events.h"

#define GOLDEN UINT64_C(0x9e3779b97f4a7c15) /* 2^64 / ((1 + sqrt 5) / 2) */

static int put_bare(const struct ask *a, const struct curve *c, const struct places *at)
{
	struct ki_code code;
	uint32_t id;
	int ret = 0;

	for (size_t i = 0; !ret && i < at->n; i++) {
		ki_measure_bare(a->m, &code, a->m->counters.v[c->counter], at->v[i].flags_live);
		ret = ki_plan_add(a->m->plan,
				  &(struct ki_insertion){a->fn, a->spans, &at->v[i], a->order},
				  &code, &id, a->err);
	}
	return ret;
}

static struct ki_node *set(struct ki_snippet *s, enum ki_update op, const struct ki_var *v,
			   struct ki_node *value)
{
	return ki_stmt_update(s, op, v, NULL, value);
}

/* z = z * constant; z ^= z >> 32 */
static struct ki_node *mix(struct ki_snippet *s, const struct ki_var *z, uint64_t constant)
{
	struct ki_node *times = ki_expr_binary(s, KI_MUL, ki_expr_var(s, z),
					       ki_expr_const(s, KI_U64, constant)),
		       *upper;

	times = set(s, KI_SET, z, times);
	upper = ki_expr_binary(s, KI_SHR, ki_expr_var(s, z), ki_expr_const(s, KI_U64, 32));
	upper = ki_expr_binary(s, KI_XOR, ki_expr_var(s, z), upper);
	return ki_stmt_append(s, ki_stmt_append(s, NULL, times), set(s, KI_SET, z, upper));
}

/* A number at random, from the clock, as an even number up to the mask: left = that. */
static struct ki_node *draw(struct ki_snippet *s, const struct ki_var *mask,
			    const struct ki_var *left)
{
	const struct ki_var z = {.name = "z", .kind = KI_VAR_LOCAL, .type = KI_U64};
	struct ki_node *all = set(s, KI_SET, &z, ki_expr_fact(s, KI_FACT_TSC));

	all = ki_stmt_append(s, ki_stmt_append(s, NULL, all), mix(s, &z, GOLDEN));
	all = ki_stmt_append(s, all, mix(s, &z, UINT64_C(0xbf58476d1ce4e5b9)));
	return ki_stmt_append(
		s, all,
		set(s, KI_SET, left,
		    ki_expr_binary(s, KI_AND, ki_expr_var(s, &z), ki_expr_var(s, mask))));
}

/*
 * Only at some of the hits: a counter goes down, and when it falls below 0 the action is done, and
 * the counter gets a random even number up to 2 * (2^k - 1). So it is one hit of 2^k in the long
 * run, whatever pattern the hits themselves have; with k = 0 it is each, but for one whose way down
 * is interrupted by another: `taken` says how many there were.
 */
static struct ki_node *sometimes(const struct ask *a, const struct curve *c, struct ki_snippet *s,
				 struct ki_node *action)
{
	const uint32_t *counters = &a->m->counters.v[c->taken];
	const struct ki_var
		taken = {.name = "taken", .kind = KI_VAR_CPU, .type = KI_U64, .first = counters[0]},
		left = {.name = "left", .kind = KI_VAR_CPU, .type = KI_I64, .first = counters[1]},
		mask = {.name = "sampling",
			.kind = KI_VAR_GLOBAL,
			.type = KI_U64,
			.first = c->mask};
	struct ki_node *down = set(s, KI_UPDATE_SUB, &left, ki_expr_const(s, KI_I64, 1)), *all;
	struct ki_node *below =
		ki_expr_binary(s, KI_LT, ki_expr_var(s, &left), ki_expr_const(s, KI_I64, 0));

	all = ki_stmt_append(s, NULL, set(s, KI_UPDATE_ADD, &taken, ki_expr_const(s, KI_I64, 1)));
	all = ki_stmt_append(s, all, draw(s, &mask, &left));
	all = ki_stmt_append(s, all, action);
	return ki_stmt_append(s, ki_stmt_append(s, NULL, down), ki_stmt_if(s, below, all, NULL));
}

/* What is done at the point: the counter, and what else is wanted. */
static int make_acting(const struct ask *a, const struct curve *c, const struct ki_var *counter,
		       struct ki_snippet *s, struct ki_node **out)
{
	struct ki_node *more, *add, *cpu = counter->count > 1 ? ki_expr_fact(s, KI_FACT_CPU) : NULL;
	int ret;

	add = ki_stmt_update(s, KI_UPDATE_ADD, counter, cpu, ki_expr_const(s, KI_I64, 1));
	*out = add;
	if (!a->make)
		return 0;
	ret = a->make(a->arg, s, &more, a->err);
	if (!ret && c->taken != KI_NONE)
		more = sometimes(a, c, s, more);
	if (!ret)
		*out = ki_stmt_append(s, ki_stmt_append(s, NULL, add), more);
	return ret;
}

/* if (when) counter += 1 */
int ki_count_build(const struct ask *a, const struct curve *c, const struct words *words,
		   struct ki_snippet *s, struct ki_node **out)
{
	const struct ki_var counter = {.name = "count",
				       .kind = KI_VAR_CPU,
				       .type = KI_U64,
				       .first = a->m->counters.v[c->counter],
				       .count = ki_measure_is_spread(a->m) ? ki_measure_cpus(a->m)
									   : 0};
	int ret = make_acting(a, c, &counter, s, out);

	if (!ret && a->when)
		ret = ki_predicate_guard(a->when, s, words->v.v, *out, out, a->err);
	if (!ret && a->when)
		*out = ki_measure_pass(a->m, s, c->passes, *out);
	return ret;
}

static int make_counting(const struct ask *a, struct curve *c, const struct words *words)
{
	struct ki_node *action;
	struct ki_snippet *s;
	int ret;

	if (ki_vec_reserve(&c->snippets, 1) || ki_snippet_new(&s))
		return ki_err_set(a->err, -ENOMEM, 0, "measurement: out of memory");
	c->snippets.v[c->snippets.n++] = s;
	ret = ki_count_build(a, c, words, s, &action);
	if (!ret)
		ki_snippet_body(s, action);
	return ret;
}

static int put_conditional(const struct ask *a, struct curve *c, const struct places *at,
			   const struct words *words)
{
	struct code code = {0};
	int ret = make_counting(a, c, words);

	if (!ret) {
		code.snippet = c->snippets.v[0];
		ret = ki_code_put(a, &code, at, a->order);
	}
	ki_vec_free(&code.sites);
	return ret;
}

/* A curve with the words of its predicate. */
struct counting {
	const struct curve *c;
	const struct words *words;
};

static int build_told(const struct ask *a, const void *arg, struct ki_snippet *s,
		      struct ki_node **out)
{
	const struct counting *x = arg;

	return ki_count_build(a, x->c, x->words, s, out);
}

static int put_told(const struct ask *a, struct curve *c, const struct places *at,
		    const struct words *words)
{
	const struct counting x = {c, words};
	const struct told_code t = {build_told, &x, c->bundle, &c->snippets};
	struct code code = {0};
	int ret = ki_told_put(a, &t, at, &code);

	c->told = code.run;
	ki_vec_free(&code.sites);
	return ret;
}

static int put_count(const struct ask *a, struct curve *c, const struct places *at,
		     const struct words *words)
{
	struct ki_plan *plan = a->m->plan;
	bool bare = !a->when && !a->make && !a->m->told && !ki_measure_is_spread(a->m);
	int ret = ki_measure_counters(a->m, 1, &c->counter, a->err);

	c->passes = c->counter;
	if (!ret && a->m->metered && a->when)
		ret = ki_measure_counters(a->m, 1, &c->passes, a->err);
	if (!ret && a->m->sampled && a->make)
		ret = ki_measure_counters(a->m, 2, &c->taken, a->err);
	if (!ret && c->taken != KI_NONE)
		ret = ki_globals_take(a->m->t, 1, &c->mask, a->err);
	c->chunk = (uint32_t)ki_plan_chunks(plan);
	if (ret)
		return ret;
	if ((at->n > 1 || !bare) && ki_plan_bundle_begin(plan, &c->bundle))
		return ki_err_set(a->err, -ENOMEM, 0, "measurement: out of memory");
	ki_plan_stage(plan, STAGE_START);
	if (bare)
		ret = put_bare(a, c, at);
	else
		ret = a->m->told ? put_told(a, c, at, words) : put_conditional(a, c, at, words);
	ki_plan_bundle_end(plan);
	if (!ret)
		ret = ki_words_need(a, words, c->bundle);
	if (ret && c->bundle != KI_NONE)
		ki_plan_leave_out(plan, c->bundle, KI_R_BAD_REQUEST);
	c->nchunks = (uint32_t)ki_plan_chunks(plan) - c->chunk;
	return ret;
}

/* Of what is no function: how often it is begun, or ended. */
static int count_places(const struct ask *a, struct places *at)
{
	struct exits ends = {0};
	int ret;

	if (a->pt->kind == KI_POINT_ENTRY)
		return ki_measure_places(a, a->row->at, at);
	if (a->row->at != KI_POINT_EXIT && a->row->at != KI_POINT_EXIT_AFTER)
		return ki_measure_places(a, KI_POINT_KINDS, at);
	ret = ki_region_ends(a, &ends);
	if (!ret) {
		*at = ends.at;
		ends.at = (struct places){0};
	}
	ki_exits_free(&ends);
	return ret;
}

static int add_count(const struct ask *a, struct curve *c)
{
	struct places at = {0};
	struct words words = {0};
	int ret = count_places(a, &at);

	if (!ret)
		ret = ki_words_of(a, &words);
	if (!ret)
		ret = put_count(a, c, &at, &words);
	if (!ret)
		c->needs = ki_words_insides(&words);
	free(at.v);
	ki_words_free(&words);
	if (ret)
		ki_curve_free(c);
	return ret;
}

void ki_curve_free(struct curve *c)
{
	for (size_t i = 0; i < c->snippets.n; i++)
		ki_snippet_free(c->snippets.v[i]);
	ki_vec_free(&c->snippets);
	ki_vec_free(&c->needs);
}

static int check(const struct ask *a)
{
	if (a->m->started)
		return ki_err_set(a->err, -EBUSY, 0, "measurement: it has begun");
	if (ki_measure_is_spread(a->m) && a->row->source != SOURCE_NONE)
		return ki_err_reason(a->err, KI_R_NOT_IN_PROCESS, a->fn->start, "%s",
				     ki_measure_name(a->fn));
	return 0;
}

/* Of two events both are there, or nothing is made. */
static int get_pairs(const struct ask *a, struct curve *c)
{
	struct ask first = *a, second = *a;
	const size_t before = a->m->pairs.n;
	int ret = 0;

	first.event = (struct ki_event_ask){a->row->event, a->row->sides, a->row->raw};
	second.event = (struct ki_event_ask){.id = a->row->other, .sides = a->row->sides};
	if (second.event.id)
		ret = ki_measure_events(a->m, &first.event, &second.event, a->err);
	if (!ret)
		ret = ki_pair_get(&first, &c->pair);
	if (ret || !second.event.id)
		return ret;
	ret = ki_pair_get(&second, &c->other);
	if (ret && a->m->pairs.n > before)
		ki_pair_drop(a->m);
	if (!ret)
		ki_pairs_tie(a->m, c->pair, c->other);
	return ret;
}

static int add_curve(const struct ask *a, uint32_t *curve)
{
	struct ki_measure *m = a->m;
	struct curve c = {.row = a->row,
			  .pair = KI_NONE,
			  .other = KI_NONE,
			  .taken = KI_NONE,
			  .bundle = KI_NONE};
	const size_t told = m->told_at.n;
	int ret = check(a);

	if (!ret && ki_vec_reserve(&m->curves, 1))
		ret = ki_err_set(a->err, -ENOMEM, 0, "measurement: out of memory");
	if (!ret)
		ret = a->row->source == SOURCE_NONE ? add_count(a, &c) : get_pairs(a, &c);
	if (ret) {
		m->told_at.n = told;
		return ret;
	}
	*curve = (uint32_t)m->curves.n;
	m->curves.v[m->curves.n++] = c;
	return 0;
}

static struct ask ask_of(struct ki_measure *m, const struct ki_metric *metric,
			 const struct ki_measured_at *at, struct ki_err *err)
{
	return (struct ask){.m = m,
			    .row = ki_metric_row(metric),
			    .fn = at->fn,
			    .spans = at->spans,
			    .pt = at->point,
			    .order = at->order,
			    .when = at->when,
			    .err = err};
}

int ki_measure_add(struct ki_measure *m, const struct ki_metric *metric,
		   const struct ki_measured_at *at, uint32_t *curve, struct ki_err *err)
{
	const struct ask a = ask_of(m, metric, at, err);

	return add_curve(&a, curve);
}

int ki_measure_add_action(struct ki_measure *m, const struct ki_measured_at *at,
			  ki_measure_action *make, void *arg, uint32_t *curve, struct ki_err *err)
{
	struct ask a = ask_of(m, ki_metric_find("count"), at, err);

	a.make = make;
	a.arg = arg;
	return add_curve(&a, curve);
}

int ki_measure_add_ends(struct ki_measure *m, const struct ki_metric *metric,
			const struct ki_measured_at *at, const struct ki_measure_ends *ends,
			uint32_t *curve, struct ki_err *err)
{
	struct ask a = ask_of(m, metric, at, err);

	a.ends = ends;
	if (a.row->source == SOURCE_NONE || a.row->other || ends->words > KI_MEASURE_WORDS)
		return ki_err_set(err, -EINVAL, at->fn->start, "%s: it has no one end",
				  metric->name);
	return add_curve(&a, curve);
}
