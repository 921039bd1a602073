// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Pairs: what begins at a call and ends when the caller gets control back; or at a block, an
 * instruction, a call in the function (region.c).
 *
 * What a pair's stop writes is the sum of what its curves need; a curve that needs more has the
 * stop compiled again. The start never changes: it leaves the clock in the thread's word
 * (pair_code.c).
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "metric/measure.h"

static int no_memory(const struct ask *a)
{
	return ki_err_set(a->err, -ENOMEM, a->fn->start, "measurement: out of memory");
}

static int make_stop(const struct ask *a, const struct pair *p, struct ki_snippet **out)
{
	struct ki_node *body;
	struct ki_snippet *s;
	int ret;

	if (ki_snippet_new(&s))
		return no_memory(a);
	ret = ki_pair_stop(a, p, s, &body);
	if (ret) {
		ki_snippet_free(s);
		return ret;
	}
	ki_snippet_body(s, body);
	*out = s;
	return 0;
}

static int make_start(const struct ask *a, const struct pair *p, const struct words *words,
		      struct ki_snippet **out)
{
	struct ki_snippet *s;
	struct ki_node *body;
	int ret;

	if (ki_snippet_new(&s))
		return no_memory(a);
	ret = ki_pair_start(a, p, words, s, &body);
	if (ret) {
		ki_snippet_free(s);
		return ret;
	}
	ki_snippet_body(s, body);
	*out = s;
	return 0;
}

/* Counters for what is to be kept beyond `has`. */
static int take_counters(const struct ask *a, struct pair *p, uint8_t more)
{
	const struct {
		uint8_t keep;
		uint32_t count, *index;
	} rows[] = {{KEEP_TOTAL, 1, &p->total},
		    {KEEP_OVER, 1, &p->over},
		    {KEEP_LOG2, KI_LOG2_BUCKETS, &p->log2}};
	int ret = 0;

	for (size_t i = 0; !ret && i < sizeof(rows) / sizeof(*rows); i++)
		if (more & rows[i].keep)
			ret = ki_measure_counters(a->m, rows[i].count, rows[i].index, a->err);
	return ret;
}

static void set_sites(const struct ask *a, const struct code *c, struct ki_snippet *s, int *ret)
{
	for (size_t i = 0; !*ret && i < c->sites.n; i++)
		*ret = ki_plan_set_snippet(a->m->plan, c->sites.v[i].chunk, s, &c->sites.v[i].regs,
					   a->err);
}

/* The stop keeps more than before; on a failure it is what it was. */
static int extend(const struct ask *a, struct pair *p, uint8_t keeps)
{
	struct pair next = *p;
	struct ki_snippet *s;
	int ret, back = 0;

	if (!(keeps & ~p->keeps))
		return 0;
	ret = take_counters(a, &next, keeps & (uint8_t)~p->keeps);
	next.keeps |= keeps;
	if (ret || (ret = make_stop(a, &next, &s)))
		return ret;
	set_sites(a, &p->stop, s, &ret);
	if (ret) {
		set_sites(a, &p->stop, p->stop.snippet, &back);
		ki_snippet_free(s);
		return ret;
	}
	ki_snippet_free(p->stop.snippet);
	next.stop.snippet = s;
	*p = next;
	return 0;
}

/* Where a pair's code is put. */
struct pair_at {
	const struct words *words;
	struct places entry;
	struct exits exits;
};

static int put_own(const struct ask *a, struct pair *p, const struct pair_at *at)
{
	int ret = make_stop(a, p, &p->stop.snippet);

	if (!ret)
		ret = make_start(a, p, at->words, &p->start.snippet);
	ki_plan_stage(a->m->plan, STAGE_STOP);
	if (!ret)
		ret = ki_exits_put(a, &p->stop, &at->exits, p->order);
	ki_plan_stage(a->m->plan, STAGE_START);
	return ret ? ret : ki_code_put(a, &p->start, &at->entry, p->order);
}

struct told_pair {
	const struct pair *p;
	const struct words *words;
};

static int build_start(const struct ask *a, const void *arg, struct ki_snippet *s,
		       struct ki_node **out)
{
	const struct told_pair *x = arg;

	return ki_pair_start(a, x->p, x->words, s, out);
}

static int build_stop(const struct ask *a, const void *arg, struct ki_snippet *s,
		      struct ki_node **out)
{
	return ki_pair_stop(a, ((const struct told_pair *)arg)->p, s, out);
}

/* In the kernel, which is told. */
static int put_told(const struct ask *a, struct pair *p, const struct pair_at *at)
{
	const struct told_pair x = {p, at->words};
	const struct told_code start = {build_start, &x, p->bundle, &p->start.told},
			       stop = {build_stop, &x, p->bundle, &p->stop.told};
	const struct ask cold = ki_exits_cold(a, &at->exits);
	int ret;

	ki_plan_stage(a->m->plan, STAGE_STOP);
	ret = ki_told_put(a, &stop, &at->exits.at, &p->stop);
	if (!ret)
		ret = ki_told_put(&cold, &stop, &at->exits.cold_at, &p->stop);
	ki_plan_stage(a->m->plan, STAGE_START);
	return ret ? ret : ki_told_put(a, &start, &at->entry, &p->start);
}

static int put_pair(const struct ask *a, struct pair *p, const struct pair_at *at)
{
	const uint8_t keeps = a->row->keeps | (a->m->metered ? KEEP_OVER : 0);
	int ret = take_counters(a, p, keeps);

	p->keeps = keeps;
	if (!ret)
		ret = ki_measure_counters(a->m, 1, &p->deep, a->err);
	if (!ret && a->m->metered)
		ret = ki_measure_counters(a->m, 1, &p->starts, a->err);
	if (!ret && a->m->metered)
		ret = ki_measure_counters(a->m, 1, &p->stops, a->err);
	if (!ret)
		ret = ki_words_take(a->m->t, 1 + (a->ends ? a->ends->words : 0), &p->word, a->err);
	if (!ret && ki_plan_bundle_begin(a->m->plan, &p->bundle))
		ret = no_memory(a);
	if (ret)
		return ret;
	ret = a->m->told ? put_told(a, p, at) : put_own(a, p, at);
	ki_plan_bundle_end(a->m->plan);
	if (!ret)
		ret = ki_words_need(a, at->words, p->bundle);
	if (ret)
		ki_plan_leave_out(a->m->plan, p->bundle, KI_R_BAD_REQUEST);
	return ret;
}

static int new_pair(const struct ask *a, const char *when, uint32_t *number)
{
	struct pair p = {.own = a->ends || a->m->told,
			 .function = a->fn->start,
			 .at = *a->pt,
			 .order = a->order,
			 .source = a->row->source,
			 .prior = KI_NONE,
			 .event = a->event};
	struct words words = {0};
	struct pair_at at = {.words = &words};
	int ret;

	p.when = when ? strdup(when) : NULL;
	if ((when && !p.when) || ki_vec_reserve(&a->m->pairs, 1))
		ret = no_memory(a);
	else
		ret = ki_region_find(a, &at.entry, &at.exits);
	if (!ret)
		ret = ki_words_of(a, &words);
	if (!ret && p.source == SOURCE_EVENT)
		ret = ki_measure_event(a->m, &p.event, &p.number, a->err);
	if (!ret && when && a->m->prior && !a->m->metered && !a->m->told)
		ret = ki_prior_get(a, &p, &at.entry, &words);
	if (!ret)
		ret = put_pair(a, &p, &at);
	p.needs = ki_words_insides(&words);
	free(at.entry.v);
	ki_exits_free(&at.exits);
	ki_words_free(&words);
	if (ret) {
		ki_pair_free(&p);
		return ret;
	}
	*number = p.part = (uint32_t)a->m->pairs.n;
	a->m->pairs.v[a->m->pairs.n++] = p;
	return 0;
}

static bool is_same_text(const char *a, const char *b)
{
	return a && b ? !strcmp(a, b) : a == b;
}

bool ki_point_is_same(const struct ki_point *a, const struct ki_point *b)
{
	return a->kind == b->kind && a->block == b->block && a->edge == b->edge &&
	       a->addr == b->addr;
}

static bool is_pair_of(const struct pair *p, const struct ask *a, const char *when)
{
	return !p->own && !a->ends && !a->m->told && p->function == a->fn->start &&
	       ki_point_is_same(&p->at, a->pt) && p->order == a->order &&
	       p->source == a->row->source && ki_event_is_same(&p->event, &a->event) &&
	       is_same_text(p->when, when);
}

int ki_pair_get(const struct ask *a, uint32_t *number)
{
	struct ki_measure *m = a->m;
	char *when = NULL;
	int ret = 0;

	if (!ki_measure_khz(m, a->err))
		return -EOPNOTSUPP;
	if (ki_measure_in_process(m) && ki_metric_needs_kernel(&a->row->m))
		return ki_err_set(a->err, -EOPNOTSUPP, 0,
				  "%s: only the kernel knows that of a thread: " KI_DEVICE
				  " is wanted",
				  a->row->m.name);
	if (a->when)
		ret = ki_predicate_format(a->when, &when, a->err);
	*number = KI_NONE;
	for (size_t i = m->pairs.n; !ret && i-- > 0 && *number == KI_NONE;)
		if (is_pair_of(&m->pairs.v[i], a, when))
			*number = (uint32_t)i;
	if (!ret && *number != KI_NONE)
		ret = extend(a, &m->pairs.v[*number], a->row->keeps);
	else if (!ret)
		ret = new_pair(a, when, number);
	free(when);
	return ret;
}

void ki_pair_free(struct pair *p)
{
	free(p->when);
	ki_vec_free(&p->needs);
	ki_code_free(&p->start);
	ki_code_free(&p->stop);
}

void ki_pairs_tie(struct ki_measure *m, uint32_t a, uint32_t b)
{
	struct pair *v = m->pairs.v;
	const uint32_t first = v[a].part < v[b].part ? v[a].part : v[b].part;
	const uint32_t second = v[a].part + v[b].part - first;

	for (size_t i = 0; i < m->pairs.n; i++)
		if (v[i].part == second)
			v[i].part = first;
}

void ki_pair_drop(struct ki_measure *m)
{
	struct pair *p = &m->pairs.v[--m->pairs.n];

	ki_plan_leave_out(m->plan, p->bundle, KI_R_BAD_REQUEST);
	ki_pair_free(p);
}
