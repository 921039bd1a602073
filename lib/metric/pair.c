// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Pairs: what begins at a call and ends when the caller gets control back; or at a block, an
 * instruction, a call in the function (region.c).
 *
 * What a pair's stop writes is the sum of what its curves need; a curve that needs more has the
 * stop compiled again. The start never changes: it leaves the clock in the thread's word.
 *
 * A predicate stands before the start. But a call inside one that is being measured must be noticed
 * even if the predicate refuses it, or its return would end the outer one: so the start is done,
 * too, when the word is not 0. That question is left out where the predicate asks for nothing
 * that a thread can change.
 *
 * The word is 0 outside, so a start must never leave 0: counts begin with 1.
 *
 * Histograms are of nanoseconds, so their code multiplies: ticks * factor >> 16. That is good for
 * 2^48 ticks and more, days, and exact to 1 in 10,000.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "metric/measure.h"
#include "snippet/timer.h"
#include "snippet/tree.h"

static struct ki_node *sum(struct ki_snippet *s, enum ki_fact a, enum ki_fact b)
{
	return ki_expr_binary(s, KI_ADD, ki_expr_fact(s, a), ki_expr_fact(s, b));
}

static struct ki_node *from_one(struct ki_snippet *s, struct ki_node *count)
{
	return ki_expr_binary(s, KI_ADD, count, ki_expr_const(s, KI_U64, 1));
}

static struct ki_node *count_of(struct ki_snippet *s, uint32_t number)
{
	struct ki_node *which = ki_expr_const(s, KI_U64, number | KI_EVENT_THREAD);

	return ki_expr_helper(s, KI_HELPER_EVENT, &which, 1);
}

struct ki_node *ki_pair_clock(struct ki_snippet *s, const struct pair *p)
{
	switch (p->source) {
	case SOURCE_WALL:
		return ki_expr_fact(s, KI_FACT_TSC);
	case SOURCE_OWN:
		return ki_expr_fact(s, KI_FACT_CLOCK);
	case SOURCE_FAULTS:
		return from_one(s, sum(s, KI_FACT_MINFLT, KI_FACT_MAJFLT));
	case SOURCE_MAJOR_FAULTS:
		return from_one(s, ki_expr_fact(s, KI_FACT_MAJFLT));
	case SOURCE_EVENT:
		return from_one(s, count_of(s, p->number));
	case SOURCE_SWITCHES:
		return from_one(s, sum(s, KI_FACT_NVCSW, KI_FACT_NIVCSW));
	default:
		return from_one(s, ki_expr_fact(s, KI_FACT_NIVCSW));
	}
}

static struct ki_var word_of(const struct pair *p)
{
	return (struct ki_var){
		.name = "word", .kind = KI_VAR_THREAD, .type = KI_I64, .first = p->word};
}

static struct ki_var counter_of(const struct ki_measure *m, const char *name, uint32_t index,
				uint32_t count)
{
	return (struct ki_var){.name = name,
			       .kind = KI_VAR_CPU,
			       .type = KI_U64,
			       .first = m->counters.v[index],
			       .count = count};
}

uint64_t ki_ticks_factor(const struct ki_measure *m)
{
	return (UINT64_C(1000000) << NS_SHIFT) / m->tsc_khz;
}

static struct ki_node *nanoseconds(const struct ki_measure *m, struct ki_snippet *s,
				   const struct ki_var *ticks)
{
	struct ki_node *x = ki_expr_binary(s, KI_MUL, ki_expr_var(s, ticks),
					   ki_expr_const(s, KI_U64, ki_ticks_factor(m)));

	return ki_expr_binary(s, KI_SHR, x, ki_expr_const(s, KI_U64, NS_SHIFT));
}

/* What is done with it when it is over. */
static struct ki_node *keep(const struct ki_measure *m, const struct pair *p, struct ki_snippet *s,
			    const struct ki_var *elapsed)
{
	struct ki_node *list = NULL;
	struct ki_var v;

	if (p->keeps & KEEP_TOTAL) {
		v = counter_of(m, "total", p->total, 1);
		list = ki_stmt_append(
			s, list,
			ki_stmt_update(s, KI_UPDATE_ADD, &v, NULL, ki_expr_var(s, elapsed)));
	}
	if (p->keeps & KEEP_OVER) {
		v = counter_of(m, "calls", p->over, 1);
		list = ki_stmt_append(
			s, list,
			ki_stmt_update(s, KI_UPDATE_ADD, &v, NULL, ki_expr_const(s, KI_U64, 1)));
	}
	if (p->keeps & KEEP_LOG2) {
		v = counter_of(m, "histogram", p->log2, KI_LOG2_BUCKETS);
		list = ki_stmt_append(s, list, ki_stmt_log2(s, &v, nanoseconds(m, s, elapsed)));
	}
	return list;
}

static int no_memory(const struct ask *a);

/* The words that its begin leaves for its end. */
static void ends_words(const struct ask *a, const struct pair *p,
		       struct ki_var words[KI_MEASURE_WORDS])
{
	for (uint32_t i = 0; i < a->ends->words; i++)
		words[i] = (struct ki_var){
			.kind = KI_VAR_THREAD, .type = KI_U64, .first = p->word + 1 + i};
}

#define PRIOR_WORDS 4 /* locals from 1 on */

/* Its values for the words: evaluated before the clock is read, stored after it. */
static int make_begun(const struct ask *a, const struct pair *p, struct ki_snippet *s,
		      struct ki_node **first, struct ki_node **begun)
{
	const bool prior = a->ends && a->ends->words <= PRIOR_WORDS;
	struct ki_var words[KI_MEASURE_WORDS];
	struct ki_node *values[KI_MEASURE_WORDS];
	int ret;

	*first = *begun = NULL;
	if (!a->ends || !a->ends->words)
		return 0;
	ends_words(a, p, words);
	ret = a->ends->begin(a->ends->arg, s, values, a->err);
	for (uint32_t i = 0; !ret && i < a->ends->words; i++) {
		const struct ki_var local = {.kind = KI_VAR_LOCAL, .type = KI_U64, .first = 1 + i};

		if (prior)
			*first = ki_stmt_append(s, *first,
						ki_stmt_update(s, KI_SET, &local, NULL, values[i]));
		*begun = ki_stmt_append(s, *begun,
					ki_stmt_update(s, KI_SET, &words[i], NULL,
						       prior ? ki_expr_var(s, &local) : values[i]));
	}
	return ret;
}

static int make_ending(const struct ask *a, const struct pair *p, struct ki_snippet *s,
		       const struct ki_var *elapsed, struct ki_node **out)
{
	const struct ki_var took = {
		.name = "took", .kind = KI_VAR_LOCAL, .type = KI_U64, .first = 1};
	const bool ticks = p->source == SOURCE_WALL || p->source == SOURCE_OWN;
	struct ki_var words[KI_MEASURE_WORDS];
	struct ki_node *set, *stmt;
	int ret;

	*out = NULL;
	if (!a->ends)
		return 0;
	ends_words(a, p, words);
	set = ki_stmt_update(s, KI_SET, &took, NULL,
			     ticks ? nanoseconds(a->m, s, elapsed) : ki_expr_var(s, elapsed));
	ret = a->ends->end(a->ends->arg, s, words, &took, &stmt, a->err);
	if (!ret)
		*out = ki_stmt_append(s, ki_stmt_append(s, NULL, set), stmt);
	return ret;
}

static int no_memory(const struct ask *a)
{
	return ki_err_set(a->err, -ENOMEM, a->fn->start, "measurement: out of memory");
}

static int make_stop(const struct ask *a, const struct pair *p, struct ki_snippet **out)
{
	const struct ki_var elapsed = {.name = "elapsed", .kind = KI_VAR_LOCAL, .type = KI_U64};
	const struct ki_var word = word_of(p);
	const bool narrow = p->source != SOURCE_WALL && p->source != SOURCE_OWN;
	struct ki_node *body, *ending;
	struct ki_snippet *s;
	int ret;

	if (ki_snippet_new(&s))
		return no_memory(a);
	ret = make_ending(a, p, s, &elapsed, &ending);
	if (ret) {
		ki_snippet_free(s);
		return ret;
	}
	body = ki_timer_stop(s, &(struct ki_timer_end){.word = &word,
						       .clock = ki_pair_clock(s, p),
						       .narrow = narrow,
						       .elapsed = &elapsed,
						       .ending = ending,
						       .then = keep(a->m, p, s, &elapsed)});
	ki_snippet_body(s, ki_measure_pass(a->m, s, p->stops, body));
	*out = s;
	return 0;
}

static int begin(const struct ask *a, const struct pair *p, struct ki_snippet *s,
		 struct ki_node **out)
{
	const struct ki_var word = word_of(p), deep = counter_of(a->m, "too_deep", p->deep, 1);
	struct ki_node *first, *begun, *clock;
	int ret = make_begun(a, p, s, &first, &begun);

	clock = p->prior == KI_NONE ? ki_pair_clock(s, p) : ki_prior_clock(a->m, s, p->prior);
	*out = ret ? NULL
		   : ki_timer_start(s, &word, clock,
				    ki_stmt_update(s, KI_UPDATE_ADD, &deep, NULL,
						   ki_expr_const(s, KI_I64, 1)),
				    first, begun);
	return ret;
}

/* Does it ask for nothing that could be otherwise at another call by the same thread? */
static bool is_steady(const struct ki_node *n)
{
	return !(ki_node_facts(n) & ~(UINT64_C(1) << KI_FACT_PID | UINT64_C(1) << KI_FACT_TGID));
}

/*
 * The predicate as one expression, if it can be one, in front of the start; else in front of what
 * notes, in a local, that it holds.
 */
static int guarded_start(const struct ask *a, const struct pair *p, const struct words *words,
			 struct ki_snippet *s, struct ki_node *start, struct ki_node **out)
{
	const struct ki_var word = word_of(p),
			    local = {.name = "go", .kind = KI_VAR_LOCAL, .type = KI_I64};
	struct ki_node *cond, *go;
	struct ki_err err = {0};
	int ret = ki_predicate_build(a->when, s, words->v.v, &cond, &err);

	if (!ret && !is_steady(cond))
		cond = ki_expr_binary(s, KI_LOR, cond, ki_expr_var(s, &word));
	*out = ret ? NULL : ki_stmt_if(s, cond, start, NULL);
	if (ret != -EOPNOTSUPP)
		return ret ? ki_err_set(a->err, ret, err.addr, "%s", err.msg) : 0;
	go = ki_stmt_update(s, KI_SET, &local, NULL, ki_expr_const(s, KI_I64, 1));
	ret = ki_predicate_guard(a->when, s, words->v.v, go, &go, a->err);
	*out = ki_stmt_append(s, NULL,
			      ki_stmt_update(s, KI_SET, &local, NULL, ki_expr_var(s, &word)));
	*out = ki_stmt_append(s, *out, go);
	*out = ki_stmt_append(s, *out, ki_stmt_if(s, ki_expr_var(s, &local), start, NULL));
	return ret;
}

static int make_start(const struct ask *a, const struct pair *p, const struct words *words,
		      struct ki_snippet **out)
{
	struct ki_snippet *s;
	struct ki_node *body;
	int ret;

	if (ki_snippet_new(&s))
		return no_memory(a);
	ret = begin(a, p, s, &body);
	if (!ret && a->when)
		ret = guarded_start(a, p, words, s, body, &body);
	if (ret) {
		ki_snippet_free(s);
		return ki_err_set(a->err, ret, a->fn->start, "%s: the predicate does not fit",
				  ki_measure_name(a->fn));
	}
	ki_snippet_body(s, ki_measure_pass(a->m, s, p->starts, body));
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

static int put_pair(const struct ask *a, struct pair *p, const struct words *words,
		    const struct places *entry, const struct exits *exits)
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
	if (!ret)
		ret = make_stop(a, p, &p->stop.snippet);
	if (!ret)
		ret = make_start(a, p, words, &p->start.snippet);
	if (!ret && ki_plan_bundle_begin(a->m->plan, &p->bundle))
		ret = no_memory(a);
	if (ret)
		return ret;
	ki_plan_stage(a->m->plan, STAGE_STOP);
	ret = ki_exits_put(a, &p->stop, exits, p->order);
	ki_plan_stage(a->m->plan, STAGE_START);
	if (!ret)
		ret = ki_code_put(a, &p->start, entry, p->order);
	ki_plan_bundle_end(a->m->plan);
	if (!ret)
		ret = ki_words_need(a, words, p->bundle);
	if (ret)
		ki_plan_leave_out(a->m->plan, p->bundle, KI_R_BAD_REQUEST);
	return ret;
}

static int new_pair(const struct ask *a, const char *when, uint32_t *number)
{
	struct pair p = {.own = a->ends != NULL,
			 .function = a->fn->start,
			 .at = *a->pt,
			 .order = a->order,
			 .source = a->row->source,
			 .prior = KI_NONE,
			 .event = a->event};
	struct places entry = {0};
	struct exits exits = {0};
	struct words words = {0};
	int ret;

	p.when = when ? strdup(when) : NULL;
	if ((when && !p.when) || ki_vec_reserve(&a->m->pairs, 1))
		ret = no_memory(a);
	else
		ret = ki_region_find(a, &entry, &exits);
	if (!ret)
		ret = ki_words_of(a, &words);
	if (!ret && p.source == SOURCE_EVENT)
		ret = ki_measure_event(a->m, &p.event, &p.number, a->err);
	if (!ret && when && a->m->prior && !a->m->metered)
		ret = ki_prior_get(a, &p, &entry, &words);
	if (!ret)
		ret = put_pair(a, &p, &words, &entry, &exits);
	p.needs = ki_words_insides(&words);
	free(entry.v);
	ki_exits_free(&exits);
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
	return !p->own && !a->ends && p->function == a->fn->start &&
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
	if (ki_measure_in_process(m) && a->row->source != SOURCE_WALL)
		return ki_err_set(a->err, -EOPNOTSUPP, 0,
				  "%s: only the kernel knows that of a thread; measure it in the "
				  "kernel, at a system call perhaps",
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
