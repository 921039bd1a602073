// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Parts of a measurement, which come and go by themselves: the curves that count (others have
 * none), then the pairs (of those that curves tie together the first stands for all, the others are
 * nothing), then inside().
 */
#include "metric/measure.h"

uint32_t ki_measure_part(const struct ki_measure *m, uint32_t curve)
{
	const struct curve *c = &m->curves.v[curve];

	return c->pair == KI_NONE ? curve : (uint32_t)m->curves.n + m->pairs.v[c->pair].part;
}

uint32_t ki_measure_parts(const struct ki_measure *m)
{
	return (uint32_t)(m->curves.n + m->pairs.n + m->insides.n);
}

uint32_t ki_measure_parts_needed(const struct ki_measure *m)
{
	return (uint32_t)m->insides.n;
}

static bool is_among(const ki_numbers *v, uint32_t n)
{
	for (size_t i = 0; i < v->n; i++)
		if (v->v[i] == n)
			return true;
	return false;
}

bool ki_measure_part_needs(const struct ki_measure *m, uint32_t part, uint32_t other)
{
	const uint32_t curves = (uint32_t)m->curves.n, pairs = (uint32_t)m->pairs.n;
	const uint32_t inside = other - curves - pairs;

	if (other < curves + pairs)
		return false;
	if (part < curves)
		return is_among(&m->curves.v[part].needs, inside);
	for (uint32_t i = 0; i < pairs; i++)
		if (m->pairs.v[i].part == part - curves && is_among(&m->pairs.v[i].needs, inside))
			return true;
	return false;
}

static void pause_code(struct ki_measure *m, const struct code *c, bool pause)
{
	for (size_t i = 0; i < c->sites.n; i++)
		ki_plan_pause(m->plan, c->sites.v[i].chunk, pause);
}

static void pause_pairs(struct ki_measure *m, uint32_t part, bool pause, bool for_good)
{
	for (size_t i = 0; i < m->pairs.n; i++) {
		struct pair *p = &m->pairs.v[i];

		if (p->part != part)
			continue;
		pause_code(m, &p->start, pause);
		if (!for_good)
			continue;
		pause_code(m, &p->stop, pause);
		ki_told_shed(m, p->bundle);
		p->gone = true;
	}
}

void ki_measure_pause(struct ki_measure *m, uint32_t part, bool pause, bool for_good)
{
	if (part < m->curves.n) {
		const struct curve *c = &m->curves.v[part];

		for (uint32_t i = 0; c->pair == KI_NONE && i < c->nchunks; i++)
			ki_plan_pause(m->plan, c->chunk + i, pause);
		if (c->told.n && for_good)
			ki_told_shed(m, c->bundle);
		return;
	}
	part -= (uint32_t)m->curves.n;
	if (part >= m->pairs.n) {
		pause_code(m, &m->insides.v[part - m->pairs.n].enter, pause);
		pause_code(m, &m->insides.v[part - m->pairs.n].leave, pause);
		return;
	}
	pause_pairs(m, part, pause, for_good);
}

/* What has gone has had so much time. */
static int note_gone(struct ki_measure *m, struct ki_err *err)
{
	struct ki_inside_row row;
	int ret = 0;

	for (size_t i = 0; !ret && m->map && i < m->pairs.n; i++) {
		struct pair *p = &m->pairs.v[i];

		if (p->gone && !p->gone_at)
			ret = ki_words_inside(m->t,
					      &(struct ki_words_run){KI_CLOCK_TSC, p->word, 1},
					      &row, &p->gone_at, err);
	}
	return ret;
}

int ki_measure_update(struct ki_measure *m, struct ki_err *err)
{
	int ret = note_gone(m, err);

	if (!ret && ki_measure_in_process(m))
		ret = ki_process_update(m->process, m->plan, err);
	else if (!ret)
		ret = ki_plan_update(m->plan, m->t, err);
	if (!ret && m->told_at.n)
		ret = ki_told_update(m, err);
	return !ret && m->metered ? ki_costs_note(m, err) : ret;
}
