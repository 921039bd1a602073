// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The clock of a point, read once before any predicate is decided, and left in a word of the
 * thread, where the starts of all pairs find it whose predicate holds. So what deciding takes is in
 * each of them, as it is in everything around: parts that predicates make add up to the whole.
 *
 * It is installed before the starts, so it stands before them, and who comes to a start has been
 * here. An interrupt between the two that calls the same function leaves its own clock, which is
 * later by what it took until then.
 */
#include <errno.h>

#include "metric/measure.h"

static struct ki_var word_of(const struct prior *e)
{
	return (struct ki_var){
		.name = "clock", .kind = KI_VAR_THREAD, .type = KI_I64, .first = e->word};
}

struct ki_node *ki_prior_clock(const struct ki_measure *m, struct ki_snippet *s, uint32_t prior)
{
	const struct ki_var word = word_of(&m->earlies.v[prior]);

	return ki_expr_var(s, &word);
}

static int make_snippet(const struct ask *a, const struct pair *p, struct prior *e)
{
	const struct ki_var word = word_of(e);
	struct ki_snippet *s;

	if (ki_snippet_new(&s))
		return ki_err_set(a->err, -ENOMEM, a->fn->start, "measurement: out of memory");
	ki_snippet_body(s, ki_stmt_update(s, KI_SET, &word, NULL, ki_pair_clock(s, p)));
	e->code.snippet = s;
	return 0;
}

static int put(const struct ask *a, const struct pair *p, struct prior *e, const struct places *at)
{
	int ret = ki_words_take(a->m->t, 1, &e->word, a->err);

	if (!ret)
		ret = make_snippet(a, p, e);
	if (!ret && ki_plan_bundle_begin(a->m->plan, &e->bundle))
		ret = ki_err_set(a->err, -ENOMEM, a->fn->start, "measurement: out of memory");
	if (ret)
		return ret;
	ki_plan_stage(a->m->plan, STAGE_INSIDE);
	ret = ki_code_put(a, &e->code, at, p->order);
	ki_plan_bundle_end(a->m->plan);
	if (ret)
		ki_plan_leave_out(a->m->plan, e->bundle, KI_R_BAD_REQUEST);
	return ret;
}

static int make(const struct ask *a, const struct pair *p, const struct places *at)
{
	struct ki_measure *m = a->m;
	struct prior e = {.function = p->function,
			  .at = p->at,
			  .order = p->order,
			  .source = p->source,
			  .event = p->event};
	int ret;

	if (ki_vec_reserve(&m->earlies, 1))
		return ki_err_set(a->err, -ENOMEM, a->fn->start, "measurement: out of memory");
	ret = put(a, p, &e, at);
	if (ret)
		ki_code_free(&e.code);
	else
		m->earlies.v[m->earlies.n++] = e;
	return ret;
}

static bool is_of(const struct prior *e, const struct pair *p)
{
	return e->function == p->function && ki_point_is_same(&e->at, &p->at) &&
	       e->order == p->order && e->source == p->source &&
	       ki_event_is_same(&e->event, &p->event);
}

int ki_prior_get(const struct ask *a, struct pair *p, const struct places *at, struct words *needs)
{
	struct ki_measure *m = a->m;
	size_t i = 0;
	int ret = 0;

	while (i < m->earlies.n && !is_of(&m->earlies.v[i], p))
		i++;
	if (i == m->earlies.n)
		ret = make(a, p, at);
	if (!ret && ki_vec_push(&needs->bundles, m->earlies.v[i].bundle))
		ret = ki_err_set(a->err, -ENOMEM, a->fn->start, "measurement: out of memory");
	if (!ret)
		p->prior = (uint32_t)i;
	return ret;
}
