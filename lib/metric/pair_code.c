// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a pair's code does, at its beginning and at its end.
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

int ki_pair_stop(const struct ask *a, const struct pair *p, struct ki_snippet *s,
		 struct ki_node **out)
{
	const struct ki_var elapsed = {.name = "elapsed", .kind = KI_VAR_LOCAL, .type = KI_U64};
	const struct ki_var word = word_of(p);
	const bool narrow = p->source != SOURCE_WALL && p->source != SOURCE_OWN;
	struct ki_node *ending;
	int ret = make_ending(a, p, s, &elapsed, &ending);

	if (ret)
		return ret;
	*out = ki_timer_stop(s, &(struct ki_timer_end){.word = &word,
						       .clock = ki_pair_clock(s, p),
						       .narrow = narrow,
						       .elapsed = &elapsed,
						       .ending = ending,
						       .then = keep(a->m, p, s, &elapsed)});
	*out = ki_measure_pass(a->m, s, p->stops, *out);
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

int ki_pair_start(const struct ask *a, const struct pair *p, const struct words *words,
		  struct ki_snippet *s, struct ki_node **out)
{
	int ret = begin(a, p, s, out);

	if (!ret && a->when)
		ret = guarded_start(a, p, words, s, *out, out);
	if (ret)
		return ki_err_set(a->err, ret, a->fn->start, "%s: the predicate does not fit",
				  ki_measure_name(a->fn));
	*out = ki_measure_pass(a->m, s, p->starts, *out);
	return 0;
}
