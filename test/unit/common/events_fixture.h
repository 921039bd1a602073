/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of threads that count events, and of a driver that gives counters out.
 */
#ifndef EVENTS_FIXTURE_H
#define EVENTS_FIXTURE_H

#include "measure_fixture.h"

#include <linux/perf_event.h>

#include "metric/events.h"

#define NEAR(got, want) assert_true(fabs((got) - (want)) < 1e-9)

/* What the driver counts: by number the event; each thread's counts. */
static struct {
	uint32_t type[32];
	uint64_t config[32];
	uint32_t taken, limit; /* limit: counters of the machine */
	uint32_t flags, all_flags[32], asked;
	uint64_t refused; /* config of one that cannot be; 0: none */
	bool skipped;	  /* the helper does nothing */
	uint64_t counts[THREADS][32];
	unsigned int thread;
} events;

static inline int answer_event(unsigned long request, void *arg)
{
	struct ki_event_req *q = arg;

	if (request != KI_IOC_EVENT)
		return other_requests(request, arg);
	if (events.taken == events.limit || (events.refused && q->config == events.refused)) {
		q->reason = KI_R_EVENTS_BUSY;
		return EBUSY;
	}
	events.asked++;
	if (q->flags & KI_EVENT_CHECK)
		return 0;
	events.type[events.taken] = q->type;
	events.config[events.taken] = q->config;
	events.flags = events.all_flags[events.taken] = q->flags;
	q->number = events.taken++;
	return 0;
}

static inline uint64_t event_of(void *arg, uint64_t which)
{
	(void)arg;
	assert_true(which & KI_EVENT_THREAD);
	return events.skipped ? 0 : events.counts[events.thread][which & 31];
}

static inline void begin(uint32_t limit)
{
	load();
	memset(&events, 0, sizeof(events));
	events.limit = limit;
	drv.other = answer_event;
}

static inline void run_pair_code(const struct ki_snippet *s, unsigned int thread, unsigned int cpu)
{
	static const struct ki_site_regs site = {.at_entry = true, .at_exit = true};
	struct ki_machine k = {.counters = world.counters + cpu * COUNTERS,
			       .ncounters = COUNTERS,
			       .thread = world.threads[thread].words,
			       .nthread = WORDS,
			       .event = event_of};
	struct ki_err err = {0};

	events.thread = thread;
	if (ki_snippet_run(s, &site, &k, &err))
		fail_msg("%s", err.msg);
}

static inline void go_in(unsigned int thread, unsigned int cpu)
{
	for (size_t i = 0; i < m->pairs.n; i++)
		run_pair_code(m->pairs.v[i].start.snippet, thread, cpu);
}

static inline void come_out(unsigned int thread, unsigned int cpu)
{
	for (size_t i = m->pairs.n; i-- > 0;)
		run_pair_code(m->pairs.v[i].stop.snippet, thread, cpu);
}

static inline void happen(unsigned int thread, enum ki_event_id id, uint64_t times)
{
	struct ki_event_spec spec;

	assert_int_equal(ki_event_spec_here(id, &spec, NULL), 0);
	for (uint32_t i = 0; i < events.taken; i++)
		if (events.type[i] == spec.type && events.config[i] == spec.config)
			events.counts[thread][i] += times;
}

#endif
