// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a measurement costs: how often each way through its chunks was taken is known, since a part
 * counts who comes by, and who is counted; price.c says what each way costs.
 *
 * The jumps of a window are shared by its chunks: when one of them goes, the others pay for it. So
 * costs change while a measurement goes on, and what has been spent until then is kept. A function
 * that is moved has no such jumps, but one at its entry and after each of its calls, which is not
 * seen here.
 */
#include <errno.h>
#include <stdlib.h>

#include "metric/measure.h"
#include "splice/plan.h"

/* From the breakpoint to the code in the driver's function, and back to the process. */
#define TOLD_COST 390

/* Decoding takes a while: a chunk's code is priced once. */
static struct price inner_price(const struct ki_measure *m, uint32_t id)
{
	return m->priced.codes ? m->priced.codes[id] : ki_price_of_code(m->plan, id, KI_NONE);
}

static struct price chunk_price(const struct ki_measure *m, uint32_t id)
{
	return ki_price_of_chunk(m->plan, id, inner_price(m, id));
}

static struct price largest(struct price a, struct price b)
{
	return a.most > b.most ? a : b;
}

/* Those that share a breakpoint share what it takes. */
static double told_price(const struct ki_measure *m, struct told_run run)
{
	double most = 0;

	for (uint32_t i = run.first; i < run.first + run.n; i++)
		if (m->told_at.v[i].sharers && most < (double)TOLD_COST / m->told_at.v[i].sharers)
			most = (double)TOLD_COST / m->told_at.v[i].sharers;
	return most;
}

static struct price plus(struct price p, double told)
{
	return (struct price){p.least + told, p.counted + told, p.most + told};
}

/* One of its places is passed. */
static struct price code_price(const struct ki_measure *m, const struct code *code)
{
	struct price p = {0};

	for (size_t i = 0; i < code->sites.n; i++)
		p = largest(p, chunk_price(m, code->sites.v[i].chunk));
	return plus(p, told_price(m, code->run));
}

static struct price curve_price(const struct ki_measure *m, const struct curve *curve)
{
	struct price p = {0};

	for (uint32_t i = 0; i < curve->nchunks; i++)
		p = largest(p, chunk_price(m, curve->chunk + i));
	return plus(p, told_price(m, curve->told));
}

/* Since the costs are what they are. */
static double read_counter(const struct ki_measure *m, uint32_t index)
{
	const double before = m->priced.counters ? m->priced.counters[index] : 0;

	return ki_measure_is_in(m) ? (double)ki_measure_counter(m, index, KI_ALL_CPUS) - before : 0;
}

static bool is_sampled(const struct curve *c)
{
	return c->pair == KI_NONE && c->taken != KI_NONE;
}

static double curve_spent(const struct ki_measure *m, const struct curve *curve)
{
	const struct price p = curve->price;
	const double hits = read_counter(m, curve->counter);
	const bool always = curve->passes == curve->counter;

	if (is_sampled(curve))
		return hits * p.counted + read_counter(m, curve->taken) * (p.most - p.counted) +
		       (always ? 0 : (read_counter(m, curve->passes) - hits) * p.least);
	if (always)
		return hits * p.most;
	return read_counter(m, curve->passes) * p.least + hits * (p.most - p.least);
}

static double pair_spent(const struct ki_measure *m, const struct pair *p)
{
	const struct price start = p->start_price, stop = p->stop_price;
	double more = start.most - start.least + stop.most - stop.least;

	return read_counter(m, p->starts) * start.least + read_counter(m, p->stops) * stop.least +
	       read_counter(m, p->over) * more;
}

/* Of all that are one part. */
static double pairs_spent(const struct ki_measure *m, uint32_t part)
{
	double spent = 0;

	for (size_t i = 0; i < m->pairs.n; i++)
		if (m->pairs.v[i].part == part)
			spent += pair_spent(m, &m->pairs.v[i]);
	return spent;
}

static double inside_spent(const struct ki_measure *m, const struct inside *i)
{
	return read_counter(m, i->passes) * (i->enter_price.most + i->leave_price.most) / 2;
}

double ki_measure_spent(const struct ki_measure *m, uint32_t part)
{
	const double before = m->priced.spent ? m->priced.spent[part] : 0;

	if (!m->metered)
		return 0;
	if (part < m->curves.n)
		return m->curves.v[part].pair == KI_NONE
			       ? before + curve_spent(m, &m->curves.v[part])
			       : 0;
	part -= (uint32_t)m->curves.n;
	if (part < m->pairs.n)
		return before + pairs_spent(m, part);
	return before + inside_spent(m, &m->insides.v[part - m->pairs.n]);
}

/* ---- prices ---- */

static void note_prices(struct ki_measure *m)
{
	for (size_t i = 0; i < m->curves.n; i++)
		if (m->curves.v[i].pair == KI_NONE)
			m->curves.v[i].price = curve_price(m, &m->curves.v[i]);
	for (size_t i = 0; i < m->pairs.n; i++) {
		m->pairs.v[i].start_price = code_price(m, &m->pairs.v[i].start);
		m->pairs.v[i].stop_price = code_price(m, &m->pairs.v[i].stop);
	}
	for (size_t i = 0; i < m->insides.n; i++) {
		m->insides.v[i].enter_price = code_price(m, &m->insides.v[i].enter);
		m->insides.v[i].leave_price = code_price(m, &m->insides.v[i].leave);
	}
}

/* From here on counters are worth something else. */
static void begin_prices(struct ki_measure *m)
{
	double *now = m->priced.counters;

	for (uint32_t i = 0; i < ki_measure_parts(m); i++)
		m->priced.spent[i] = ki_measure_spent(m, i);
	for (size_t i = 0; ki_measure_is_in(m) && i < m->counters.n; i++)
		now[i] = (double)ki_measure_counter(m, i, KI_ALL_CPUS);
}

/* The first time. */
static int take_prices(struct ki_measure *m, struct ki_err *err)
{
	struct prices *p = &m->priced;
	struct price *codes = calloc(m->plan->chunks.n + 1, sizeof(*codes));

	for (uint32_t i = 0; codes && i < m->plan->chunks.n; i++)
		codes[i] = inner_price(m, i);
	p->codes = codes;
	p->spent = calloc(ki_measure_parts(m) + 1, sizeof(*p->spent));
	p->counters = calloc(m->counters.n + 1, sizeof(*p->counters));
	if (p->codes && p->spent && p->counters)
		return 0;
	ki_costs_free(m);
	return ki_err_set(err, -ENOMEM, 0, "costs: out of memory");
}

int ki_costs_note(struct ki_measure *m, struct ki_err *err)
{
	if (!m->priced.codes && take_prices(m, err))
		return -ENOMEM;
	if (ki_told_note_sharers(m))
		return ki_err_set(err, -ENOMEM, 0, "costs: out of memory");
	ki_plan_count_active(m->plan);
	begin_prices(m);
	note_prices(m);
	return 0;
}

void ki_costs_free(struct ki_measure *m)
{
	free(m->priced.codes);
	free(m->priced.spent);
	free(m->priced.counters);
	m->priced = (struct prices){0};
}

double ki_measure_acted(const struct ki_measure *m, uint32_t part)
{
	const struct curve *c = &m->curves.v[part < m->curves.n ? part : 0];

	if (part >= m->curves.n || !is_sampled(c) || !m->map)
		return 0;
	return (double)ki_counter_read(m->map, m->counters.v[c->taken]) *
	       (c->price.most - c->price.counted);
}

static struct ki_cost both(struct price a, struct price b)
{
	return (struct ki_cost){a.least + b.least, a.most + b.most};
}

static struct ki_cost pairs_cost(const struct ki_measure *m, uint32_t part)
{
	struct ki_cost sum = {0};

	for (size_t i = 0; i < m->pairs.n; i++) {
		const struct pair *p = &m->pairs.v[i];
		struct ki_cost one;

		if (p->part != part)
			continue;
		one = both(code_price(m, &p->start), code_price(m, &p->stop));
		sum.least += one.least;
		sum.most += one.most;
	}
	return sum;
}

struct ki_cost ki_measure_pass_cost(const struct ki_measure *m, uint32_t part)
{
	if (part < m->curves.n)
		return both(curve_price(m, &m->curves.v[part]), (struct price){0});
	part -= (uint32_t)m->curves.n;
	if (part < m->pairs.n)
		return pairs_cost(m, part);
	part -= (uint32_t)m->pairs.n;
	return both(code_price(m, &m->insides.v[part].enter),
		    code_price(m, &m->insides.v[part].leave));
}
