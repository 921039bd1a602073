// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Measurements: what curves (curves.c) have in common: counters, events, the plan's beginning and
 * end.
 */
#include "metric/measure.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "metric/events.h"

int ki_measure_new(struct ki_target *t, struct ki_measure **out, struct ki_err *err)
{
	struct ki_measure *m;

	if (!ki_target_info(t) && ki_target_kind(t) != KI_TARGET_PROCESS)
		return ki_err_set(err, -EINVAL, 0, "measurement: the target is not live");
	m = calloc(1, sizeof(*m));
	if (!m || ki_plan_new(&m->plan)) {
		free(m);
		return ki_err_set(err, -ENOMEM, 0, "measurement: out of memory");
	}
	m->t = t;
	*out = m;
	return 0;
}

void ki_measure_free(struct ki_measure *m)
{
	if (!m)
		return;
	ki_measure_take_out(m, NULL);
	for (size_t i = 0; i < m->curves.n; i++)
		ki_curve_free(&m->curves.v[i]);
	for (size_t i = 0; i < m->pairs.n; i++)
		ki_pair_free(&m->pairs.v[i]);
	for (size_t i = 0; i < m->insides.n; i++) {
		ki_code_free(&m->insides.v[i].enter);
		ki_code_free(&m->insides.v[i].leave);
	}
	for (size_t i = 0; i < m->earlies.n; i++)
		ki_code_free(&m->earlies.v[i].code);
	ki_vec_free(&m->curves);
	ki_vec_free(&m->pairs);
	ki_vec_free(&m->insides);
	ki_vec_free(&m->earlies);
	ki_vec_free(&m->events);
	ki_vec_free(&m->counters);
	ki_reading_free(m->start);
	ki_costs_free(m);
	ki_counter_map_free(m->map);
	ki_process_free(m->process);
	ki_told_free(m);
	ki_plan_free(m->plan);
	free(m);
}

int ki_measure_counters(struct ki_measure *m, uint32_t count, uint32_t *index, struct ki_err *err)
{
	const uint32_t each = ki_measure_is_spread(m) ? ki_measure_cpus(m) : 1;
	uint32_t first;
	int ret;

	if (ki_vec_reserve(&m->counters, count))
		return ki_err_set(err, -ENOMEM, 0, "measurement: out of memory");
	ret = ki_counters_take(m->t, count * each, &first, err);
	if (ret)
		return ret;
	*index = (uint32_t)m->counters.n;
	for (uint32_t i = 0; i < count; i++)
		m->counters.v[m->counters.n++] = first + i * each;
	return 0;
}

bool ki_event_is_same(const struct ki_event_ask *a, const struct ki_event_ask *b)
{
	return a->id == b->id && a->sides == b->sides && a->raw == b->raw;
}

/* flags: KI_EVENT_CHECK: it is only asked whether it could be. */
static int ask_event(struct ki_measure *m, const struct ki_event_ask *event, uint32_t flags,
		     uint32_t *number, struct ki_err *err)
{
	struct ki_event_spec spec;
	int ret;

	for (size_t i = 0; i < m->events.n; i++)
		if (ki_event_is_same(&m->events.v[i].event, event)) {
			*number = m->events.v[i].number;
			return 0;
		}
	if (ki_vec_reserve(&m->events, 1))
		return ki_err_set(err, -ENOMEM, 0, "measurement: out of memory");
	ret = ki_event_spec_asked(event, &spec, err);
	if (!ret)
		ret = ki_event_take(m->t, &spec, KI_EVENT_OWN | event->sides | flags, number, err);
	if (!ret && !flags)
		m->events.v[m->events.n++] = (struct counted){*event, *number};
	return ret;
}

int ki_measure_event(struct ki_measure *m, const struct ki_event_ask *event, uint32_t *number,
		     struct ki_err *err)
{
	return ask_event(m, event, 0, number, err);
}

int ki_measure_events(struct ki_measure *m, const struct ki_event_ask *first,
		      const struct ki_event_ask *second, struct ki_err *err)
{
	uint32_t number;
	int ret = 0;

	for (unsigned int i = 0; !ret && i < 4; i++)
		ret = ask_event(m, i & 1 ? second : first, i < 2 ? KI_EVENT_CHECK : 0, &number,
				err);
	return ret;
}

struct ki_node *ki_measure_pass(const struct ki_measure *m, struct ki_snippet *s, uint32_t index,
				struct ki_node *then)
{
	const struct ki_var passes = {.name = "passes",
				      .kind = KI_VAR_CPU,
				      .type = KI_U64,
				      .first = m->metered ? m->counters.v[index] : 0};
	struct ki_node *add;

	if (!m->metered)
		return then;
	add = ki_stmt_update(s, KI_UPDATE_ADD, &passes, NULL, ki_expr_const(s, KI_I64, 1));
	return ki_stmt_append(s, ki_stmt_append(s, NULL, add), then);
}

struct ki_plan *ki_measure_plan(struct ki_measure *m)
{
	return m->plan;
}

void ki_measure_each_cpu(struct ki_measure *m)
{
	m->each_cpu = true;
}

void ki_measure_meter(struct ki_measure *m)
{
	m->metered = true;
}

void ki_measure_sheds(struct ki_measure *m)
{
	m->sheds = true;
}

void ki_measure_prior_clock(struct ki_measure *m)
{
	m->prior = true;
}

void ki_measure_number(struct ki_measure *m, uint32_t number)
{
	m->number = number;
}

void ki_measure_sample(struct ki_measure *m)
{
	m->sampled = true;
}

int ki_measure_sample_to(struct ki_measure *m, uint32_t part, unsigned int k, struct ki_err *err)
{
	if (part >= m->curves.n || m->curves.v[part].taken == KI_NONE || k > KI_RAREST)
		return ki_err_set(err, -EINVAL, 0, "part %u cannot be sampled", part);
	return ki_global_set(m->t, m->curves.v[part].mask, (UINT64_C(2) << k) - 2, err);
}

int ki_measure_start(struct ki_measure *m, struct ki_err *err)
{
	int ret;

	if (m->started)
		return ki_err_set(err, -EBUSY, 0, "measurement: it has begun");
	m->started = true;
	ret = ki_measure_put_in(m, err);
	if (!ret && m->metered)
		ret = ki_costs_note(m, err);
	if (!ret)
		ret = ki_measure_read(m, &m->start, err);
	if (ret)
		ki_measure_take_out(m, NULL);
	return ret;
}

int ki_measure_stop(struct ki_measure *m, struct ki_err *err)
{
	return ki_measure_take_out(m, err);
}

uint64_t ki_measure_hits(const struct ki_measure *m, uint32_t curve)
{
	const struct curve *c = &m->curves.v[curve];

	if (c->pair != KI_NONE || !ki_measure_is_in(m))
		return 0;
	return ki_measure_counter(m, c->counter, KI_ALL_CPUS);
}

uint64_t ki_measure_too_deep(const struct ki_measure *m, uint32_t curve)
{
	const struct curve *c = &m->curves.v[curve];

	if (c->pair == KI_NONE || !ki_measure_is_in(m))
		return 0;
	return ki_measure_counter(m, m->pairs.v[c->pair].deep, KI_ALL_CPUS);
}

static unsigned int refusal_of(const struct ki_plan *p, uint32_t chunk, uint32_t n)
{
	unsigned int reason = KI_R_OK;

	for (uint32_t i = chunk; !reason && i < chunk + n; i++)
		reason = ki_plan_refusal(p, i);
	return reason;
}

unsigned int ki_measure_refusal(const struct ki_measure *m, uint32_t curve)
{
	const struct curve *c = &m->curves.v[curve];
	unsigned int reason;

	if (c->pair == KI_NONE)
		return refusal_of(m->plan, c->chunk, c->nchunks);
	reason = refusal_of(m->plan, m->pairs.v[c->pair].start.sites.v[0].chunk, 1);
	if (!reason && c->other != KI_NONE)
		reason = refusal_of(m->plan, m->pairs.v[c->other].start.sites.v[0].chunk, 1);
	return reason;
}
