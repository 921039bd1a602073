// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Readings.
 *
 * The total of a pair is what its counters hold, of calls that are over, and what the driver says
 * of threads that are inside. A thread that comes back between the two questions would be in
 * neither, or in both. So the counters are read before and after the other question, and if they
 * differ all is asked again. Where calls come so often that this never ends they are short, and
 * what is wrong is less than one of them for each CPU; still a total is never let fall. (A thread
 * that is interrupted between saying that it is out and adding its time is in neither, and nothing
 * tells: one reading is short of that call, the next has it.)
 */
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "metric/measure.h"

#define TRIES 4

/* What is known of a pair. */
struct pair_state {
	uint64_t all; /* the total with what is not over */
	uint64_t now; /* the time stamp counter */
};

struct ki_reading {
	size_t n; /* counters */
	unsigned int cpus;
	uint64_t *sums; /* [n], of all CPUs */
	uint64_t *each; /* [cpus][n]; NULL: not kept */
	struct pair_state *pairs;
};

void ki_reading_free(struct ki_reading *r)
{
	if (!r)
		return;
	free(r->sums);
	free(r->each);
	free(r->pairs);
	free(r);
}

static struct ki_reading *new_reading(const struct ki_measure *m)
{
	struct ki_reading *r = calloc(1, sizeof(*r));

	if (!r)
		return NULL;
	r->n = m->counters.n;
	r->cpus = ki_measure_cpus(m);
	r->sums = calloc(r->n + 1, sizeof(*r->sums));
	r->each = m->each_cpu ? calloc(r->n * r->cpus + 1, sizeof(*r->each)) : NULL;
	r->pairs = calloc(m->pairs.n + 1, sizeof(*r->pairs));
	if (r->sums && r->pairs && (r->each || !m->each_cpu))
		return r;
	ki_reading_free(r);
	return NULL;
}

/* Returns the sum. */
static uint64_t read_counter(const struct ki_measure *m, struct ki_reading *r, size_t i)
{
	r->sums[i] = 0;
	for (unsigned int cpu = 0; cpu < r->cpus; cpu++) {
		uint64_t v = ki_measure_counter(m, i, (int)cpu);

		r->sums[i] += v;
		if (r->each)
			r->each[cpu * r->n + i] = v;
	}
	return r->sums[i];
}

static void read_counters(const struct ki_measure *m, struct ki_reading *r)
{
	for (size_t i = 0; i < r->n; i++)
		read_counter(m, r, i);
}

/* The clock by which threads are inside; KI_CLOCKS: no clock. */
static enum ki_clock clock_of(const struct pair *p)
{
	static const uint8_t clocks[SOURCES] = {
		[SOURCE_NONE] = KI_CLOCKS,	   [SOURCE_WALL] = KI_CLOCK_TSC,
		[SOURCE_OWN] = KI_CLOCK_THREAD,	   [SOURCE_FAULTS] = KI_CLOCKS,
		[SOURCE_MAJOR_FAULTS] = KI_CLOCKS, [SOURCE_SWITCHES] = KI_CLOCKS,
		[SOURCE_PREEMPTIONS] = KI_CLOCKS,  [SOURCE_EVENT] = KI_CLOCKS,
	};

	return clocks[p->source];
}

/* Does what is not over yet count? */
static bool is_asked(const struct pair *p)
{
	return clock_of(p) != KI_CLOCKS && p->keeps & KEEP_TOTAL && !p->gone;
}

/* What threads inside have, by pair. */
struct insides {
	const struct ki_measure *m;
	uint32_t *order; /* pairs that are asked for, by word */
	size_t n;
	uint64_t *ticks, *now; /* [pairs] */
	struct ki_inside_row *rows;
};

static int by_word(const void *a, const void *b, void *measure)
{
	const struct ki_measure *m = measure;
	uint32_t x = m->pairs.v[*(const uint32_t *)a].word;
	uint32_t y = m->pairs.v[*(const uint32_t *)b].word;

	return (x > y) - (x < y);
}

static void insides_free(struct insides *q)
{
	free(q->order);
	free(q->ticks);
	free(q->now);
	free(q->rows);
}

static int insides_new(struct insides *q, struct ki_measure *m, struct ki_err *err)
{
	size_t n = m->pairs.n + 1;

	*q = (struct insides){.m = m,
			      .order = calloc(n, sizeof(*q->order)),
			      .ticks = calloc(n, sizeof(*q->ticks)),
			      .now = calloc(n, sizeof(*q->now)),
			      .rows = calloc(n, sizeof(*q->rows))};
	if (!q->order || !q->ticks || !q->now || !q->rows) {
		insides_free(q);
		return ki_err_set(err, -ENOMEM, 0, "reading: out of memory");
	}
	for (uint32_t i = 0; i < m->pairs.n; i++)
		if (is_asked(&m->pairs.v[i]))
			q->order[q->n++] = i;
	qsort_r(q->order, q->n, sizeof(*q->order), by_word, m);
	return 0;
}

/* A run of words without a gap, with one clock; rows of pairs with another are passed over. */
static int ask_run(struct insides *q, size_t first, size_t end, enum ki_clock clock,
		   struct ki_err *err)
{
	const struct pair *pairs = q->m->pairs.v;
	uint64_t tsc;
	bool wanted = false;
	int ret;

	for (size_t i = first; i < end; i++)
		wanted |= clock_of(&pairs[q->order[i]]) == clock;
	if (!wanted)
		return 0;
	ret = ki_words_inside(
		q->m->t,
		&(struct ki_words_run){clock, pairs[q->order[first]].word, (uint32_t)(end - first)},
		q->rows, &tsc, err);
	for (size_t i = first; !ret && i < end; i++) {
		if (clock_of(&pairs[q->order[i]]) != clock)
			continue;
		q->ticks[q->order[i]] = q->rows[i - first].ticks;
		q->now[q->order[i]] = tsc;
	}
	return ret;
}

static int ask_all(struct insides *q, struct ki_err *err)
{
	const struct pair *pairs = q->m->pairs.v;
	int ret = 0;

	for (size_t i = 0, end; !ret && i < q->n; i = end) {
		for (end = i + 1;
		     end < q->n && pairs[q->order[end]].word == pairs[q->order[end - 1]].word + 1;)
			end++;
		for (unsigned int c = 0; !ret && c < KI_CLOCKS; c++)
			ret = ask_run(q, i, end, (enum ki_clock)c, err);
	}
	return ret;
}

/* Read again what is over; is it what it was? */
static bool is_same(const struct ki_measure *m, struct ki_reading *r, const struct pair *p)
{
	uint64_t before = r->sums[p->total];

	if (p->keeps & KEEP_OVER)
		read_counter(m, r, p->over);
	return read_counter(m, r, p->total) == before;
}

/* Of the pairs left in the list; those that are known leave it. */
static void check_pairs(struct ki_measure *m, struct ki_reading *r, struct insides *q)
{
	size_t left = 0;

	for (size_t i = 0; i < q->n; i++) {
		uint32_t number = q->order[i];
		struct pair *p = &m->pairs.v[number];
		struct pair_state *s = &r->pairs[number];
		bool same = is_same(m, r, p);

		s->now = q->now[number];
		s->all = r->sums[p->total] + q->ticks[number];
		if (!same)
			q->order[left++] = number;
	}
	q->n = left;
}

static int read_pairs(struct ki_measure *m, struct ki_reading *r, struct ki_err *err)
{
	struct insides q;
	int ret = insides_new(&q, m, err);

	if (ret)
		return ret;
	for (unsigned int i = 0; !ret && q.n && i < TRIES; i++) {
		ret = ask_all(&q, err);
		if (!ret)
			check_pairs(m, r, &q);
	}
	insides_free(&q);
	for (size_t i = 0; !ret && i < m->pairs.n; i++) {
		struct pair *p = &m->pairs.v[i];

		if (p->keeps & KEEP_TOTAL && !is_asked(p))
			r->pairs[i].all = r->sums[p->total];
		if (p->gone)
			r->pairs[i].now = p->gone_at;
		if ((int64_t)(r->pairs[i].all - p->seen) < 0)
			r->pairs[i].all = p->seen;
		p->seen = r->pairs[i].all;
	}
	return ret;
}

int ki_measure_read(struct ki_measure *m, struct ki_reading **out, struct ki_err *err)
{
	struct ki_reading *r;
	int ret;

	if (!ki_measure_is_in(m))
		return ki_err_set(err, -EINVAL, 0, "reading: the measurement has not begun");
	r = new_reading(m);
	if (!r)
		return ki_err_set(err, -ENOMEM, 0, "reading: out of memory");
	read_counters(m, r);
	ret = read_pairs(m, r, err);
	if (ret)
		ki_reading_free(r);
	else
		*out = r;
	return ret;
}

/* ---- what came between two readings ---- */

static uint64_t counted(const struct ki_reading *from, const struct ki_reading *to, uint32_t i,
			int cpu)
{
	size_t at = (size_t)cpu * to->n + i;

	if (cpu < 0)
		return to->sums[i] - from->sums[i];
	if (!to->each || !from->each || (unsigned int)cpu >= to->cpus)
		return 0;
	return to->each[at] - from->each[at];
}

static uint64_t over(const struct ki_measure *m, const struct ki_reading *from,
		     const struct ki_reading *to, uint32_t pair, int cpu)
{
	return counted(from, to, m->pairs.v[pair].total, cpu);
}

static uint64_t in_buckets(const struct ki_measure *m, const struct ki_reading *from,
			   const struct ki_reading *to, uint32_t pair, int cpu)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < KI_LOG2_BUCKETS; i++)
		sum += counted(from, to, m->pairs.v[pair].log2 + i, cpu);
	return sum;
}

/* What is not over yet is on no CPU. */
static uint64_t all_of(const struct ki_measure *m, const struct ki_reading *from,
		       const struct ki_reading *to, const struct curve *c, int cpu)
{
	switch (c->row->top) {
	case TOP_COUNTER:
		return counted(from, to, c->counter, cpu);
	case TOP_ALL:
		if (cpu >= 0)
			return over(m, from, to, c->pair, cpu);
		return to->pairs[c->pair].all - from->pairs[c->pair].all;
	case TOP_OVER:
		return over(m, from, to, c->pair, cpu);
	default:
		return in_buckets(m, from, to, c->pair, cpu);
	}
}

static uint64_t top_of(const struct ki_measure *m, const struct ki_reading *from,
		       const struct ki_reading *to, const struct curve *c, int cpu)
{
	uint64_t all = all_of(m, from, to, c, cpu), less;

	if (!c->row->less)
		return all;
	less = over(m, from, to, c->other, cpu);
	return all > less ? all - less : 0;
}

static double bottom_of(const struct ki_measure *m, const struct ki_reading *from,
			const struct ki_reading *to, const struct curve *c, int cpu)
{
	switch (c->row->bottom) {
	case BOTTOM_OVER:
		return (double)counted(from, to, m->pairs.v[c->pair].over, cpu);
	case BOTTOM_TIME:
		return (double)(to->pairs[c->pair].now - from->pairs[c->pair].now);
	case BOTTOM_SELF:
		return (double)over(m, from, to, c->pair, cpu);
	case BOTTOM_OTHER:
		return (double)over(m, from, to, c->other, cpu);
	default:
		return 1;
	}
}

/* What a unit of a pair's total is. */
static double per_second(const struct ki_measure *m, const struct curve *c)
{
	return c->row->source == SOURCE_EVENT ? 1e9 : m->tsc_khz * 1e3;
}

double ki_reading_value(const struct ki_measure *m, const struct ki_reading *from,
			const struct ki_reading *to, uint32_t curve, int cpu)
{
	const struct curve *c = &m->curves.v[curve];
	double top, bottom;

	if (!from)
		from = m->start;
	if (c->row->top == TOP_LOG2 || (cpu >= 0 && !to->each))
		return NAN;
	top = (double)top_of(m, from, to, c, cpu);
	bottom = bottom_of(m, from, to, c, cpu);
	if (!(bottom > 0))
		return NAN;
	if (c->row->m.unit == KI_UNIT_SECONDS)
		top /= per_second(m, c);
	if (c->row->share && top > bottom)
		return 1;
	return top / bottom;
}

uint64_t ki_reading_count(const struct ki_measure *m, const struct ki_reading *from,
			  const struct ki_reading *to, uint32_t curve, int cpu)
{
	return top_of(m, from ? from : m->start, to, &m->curves.v[curve], cpu);
}

void ki_reading_buckets(const struct ki_measure *m, const struct ki_reading *from,
			const struct ki_reading *to, uint32_t curve,
			uint64_t buckets[KI_LOG2_BUCKETS])
{
	ki_reading_buckets_cpu(m, from, to, curve, KI_ALL_CPUS, buckets);
}

void ki_reading_buckets_cpu(const struct ki_measure *m, const struct ki_reading *from,
			    const struct ki_reading *to, uint32_t curve, int cpu,
			    uint64_t buckets[KI_LOG2_BUCKETS])
{
	const struct curve *c = &m->curves.v[curve];

	memset(buckets, 0, KI_LOG2_BUCKETS * sizeof(*buckets));
	for (uint32_t i = 0; c->row->top == TOP_LOG2 && i < KI_LOG2_BUCKETS; i++)
		buckets[i] = counted(from ? from : m->start, to, m->pairs.v[c->pair].log2 + i, cpu);
}
