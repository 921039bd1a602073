// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metrics of events: the table, the formulas on a model of threads that count, what is refused.
 */
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

static int answer_event(unsigned long request, void *arg)
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

static uint64_t event_of(void *arg, uint64_t which)
{
	(void)arg;
	assert_true(which & KI_EVENT_THREAD);
	return events.skipped ? 0 : events.counts[events.thread][which & 31];
}

static void begin(uint32_t limit)
{
	load();
	memset(&events, 0, sizeof(events));
	events.limit = limit;
	drv.other = answer_event;
}

static void run_pair_code(const struct ki_snippet *s, unsigned int thread, unsigned int cpu)
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

static void go_in(unsigned int thread, unsigned int cpu)
{
	for (size_t i = 0; i < m->pairs.n; i++)
		run_pair_code(m->pairs.v[i].start.snippet, thread, cpu);
}

static void come_out(unsigned int thread, unsigned int cpu)
{
	for (size_t i = m->pairs.n; i-- > 0;)
		run_pair_code(m->pairs.v[i].stop.snippet, thread, cpu);
}

static void happen(unsigned int thread, enum ki_event_id id, uint64_t times)
{
	struct ki_event_spec spec;

	assert_int_equal(ki_event_spec_here(id, &spec, NULL), 0);
	for (uint32_t i = 0; i < events.taken; i++)
		if (events.type[i] == spec.type && events.config[i] == spec.config)
			events.counts[thread][i] += times;
}

/* ---- the table ---- */

static void every_event_has_a_name_and_a_way(void **state)
{
	unsigned int found[KI_MODELS] = {0}, never = 0;

	(void)state;
	for (unsigned int e = EVENT_NONE + 1; e < EVENTS; e++) {
		bool any = false;

		for (unsigned int k = 0; k < KI_MODELS; k++) {
			struct ki_event_spec spec = {0};
			struct ki_err err = {0};
			int ret = ki_event_spec_of((enum ki_event_id)e, (enum ki_model)k, &spec,
						   &err);

			if (ret) {
				assert_int_equal(ret, -EOPNOTSUPP);
				assert_int_equal(err.reason, KI_R_EVENT_UNKNOWN);
				continue;
			}
			any = true;
			found[k]++;
			assert_true(spec.name && *spec.name);
			assert_true(spec.type < PERF_TYPE_BREAKPOINT);
			if (k == KI_MODEL_OTHER)
				assert_int_not_equal(spec.type, PERF_TYPE_RAW);
		}
		never += !any;
	}
	assert_int_equal(never, 2);
	assert_true(found[KI_MODEL_SKYLAKE] > found[KI_MODEL_OTHER] + 10);
	assert_true(found[KI_MODEL_ICELAKE] > found[KI_MODEL_OTHER] + 10);
	assert_true(found[KI_MODEL_ZEN] > found[KI_MODEL_OTHER] + 8);
}

static void processors_are_known(void **state)
{
	(void)state;
	assert_int_equal(ki_model_of("GenuineIntel", 6, 0x55), KI_MODEL_SKYLAKE);
	assert_int_equal(ki_model_of("GenuineIntel", 6, 0x6a), KI_MODEL_ICELAKE);
	assert_int_equal(ki_model_of("GenuineIntel", 6, 0x97), KI_MODEL_OTHER);
	assert_int_equal(ki_model_of("GenuineIntel", 15, 0x55), KI_MODEL_OTHER);
	assert_int_equal(ki_model_of("AuthenticAMD", 0x19, 0x21), KI_MODEL_ZEN);
	assert_int_equal(ki_model_of("AuthenticAMD", 0x19, 0x01), KI_MODEL_ZEN);
	assert_int_equal(ki_model_of("AuthenticAMD", 0x19, 0x11), KI_MODEL_OTHER); /* Zen 4 */
	assert_int_equal(ki_model_of("AuthenticAMD", 0x19, 0x61), KI_MODEL_OTHER);
	assert_int_equal(ki_model_of("AuthenticAMD", 0x17, 0x31), KI_MODEL_OTHER);
	assert_int_equal(ki_model_of("TCGTCGTCGTCG", 0x19, 1), KI_MODEL_OTHER);
}

/* The names that the table of features asks for. */
static void the_names_are_there(void **state)
{
	static const char *const names[] = {
		"l1d-reads",
		"l1d-read-hits",
		"l1d-read-misses",
		"l1d-writes",
		"l1d-write-hits",
		"l1d-write-misses",
		"l2-refs",
		"l2-hits",
		"l2-misses",
		"l2-hit-ratio",
		"l2-miss-ratio",
		"llc-refs",
		"llc-hits",
		"llc-misses",
		"llc-hit-ratio",
		"llc-miss-ratio",
		"llc-read-hits",
		"l1i-refs",
		"l1i-hits",
		"l1i-misses",
		"l1i-hit-ratio",
		"l1i-miss-ratio",
		"l1i-stall",
		"mispredict-stall",
		"ipc",
		"cpi",
		"itlb-hits",
		"itlb-misses",
		"dtlb-hits",
		"dtlb-misses",
		"load-walks",
		"code-walks",
		"cond-branches",
		"cond-misses",
		"indirect-branches",
		"indirect-misses",
		"call-branches",
		"call-misses",
		"return-branches",
		"return-misses",
		"taken-branches",
		"untaken-branches",
		"loads",
		"stores",
		"uops",
		"instructions",
		"clears",
		"mesi-read-hits",
		"l1d-reads/call",
		"l2-hits/call",
		"instructions/call",
	};

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++)
		if (!ki_metric_find(names[i]))
			fail_msg("no metric %s", names[i]);
}

/* ---- values ---- */

static void counts_are_the_threads(void **state)
{
	uint32_t total, mean, clock;

	(void)state;
	begin(32);
	total = add("page-faults", F, NULL);
	mean = add("page-faults/call", F, NULL);
	clock = add("task-clock", F, NULL);
	assert_int_equal(m->pairs.n, 2);
	assert_int_equal(events.taken, 2);
	assert_int_equal(events.flags, KI_EVENT_OWN);
	start();
	events.counts[0][0] = 1000; /* what was before does not count */
	go_in(0, 0);
	happen(0, EVENT_PAGE_FAULTS, 7);
	happen(0, EVENT_TASK_CLOCK, 1500000000);
	go_in(1, 1);
	happen(1, EVENT_PAGE_FAULTS, 2);
	come_out(0, 1); /* on another CPU */
	come_out(1, 1);
	happen(0, EVENT_PAGE_FAULTS, 100);
	NEAR(value(total), 9);
	NEAR(value(mean), 4.5);
	NEAR(value(clock), 1.5);
	go_in(0, 0);
	go_in(0, 0); /* inside itself */
	happen(0, EVENT_PAGE_FAULTS, 1);
	come_out(0, 0);
	happen(0, EVENT_PAGE_FAULTS, 1);
	NEAR(value(total), 9); /* of calls that are over */
	come_out(0, 0);
	NEAR(value(total), 11);
}

/* A helper calls the function, in the middle of a call: it counts no event there. */
static void a_call_inside_that_cannot_count(void **state)
{
	uint32_t total;

	(void)state;
	begin(32);
	total = add("page-faults", F, NULL);
	start();
	events.counts[0][0] = 1000;
	go_in(0, 0);
	happen(0, EVENT_PAGE_FAULTS, 3);
	events.skipped = true;
	go_in(0, 0);
	come_out(0, 0);
	events.skipped = false;
	happen(0, EVENT_PAGE_FAULTS, 4);
	come_out(0, 0);
	NEAR(value(total), 7);
}

/* What a curve is of comes, goes and costs together. */
static void two_events_are_one_part(void **state)
{
	uint32_t ipc, faults, part;

	(void)state;
	begin(32);
	ki_measure_meter(m);
	faults = add("page-faults", F, NULL);
	ipc = add("ipc", F, NULL);
	part = ki_measure_part(m, ipc);
	assert_int_not_equal(part, ki_measure_part(m, faults));
	start();
	assert_true(ki_measure_pass_cost(m, part).most >
		    1.8 * ki_measure_pass_cost(m, ki_measure_part(m, faults)).most);
	ki_measure_rest(m, part, true, true);
	assert_int_equal(ki_measure_settle(m, NULL), 0);
	assert_int_equal(drv.installed, 2);
}

static void formulas(void **state)
{
	uint32_t ipc, cpi, hits, hit, miss;

	(void)state;
	begin(32);
	ipc = add("ipc", F, NULL);
	cpi = add("cpi", F, NULL);
	hits = add("llc-hits", F, NULL);
	hit = add("llc-hit-ratio", F, NULL);
	miss = add("llc-miss-ratio", F, NULL);
	assert_int_equal(events.taken, 4);
	assert_int_equal(m->pairs.n, 4);
	start();
	assert_true(isnan(value(ipc)) && isnan(value(hit)));
	go_in(0, 0);
	happen(0, EVENT_INSTRUCTIONS, 300);
	happen(0, EVENT_CYCLES, 400);
	happen(0, EVENT_LLC_REFS, 50);
	happen(0, EVENT_LLC_MISSES, 10);
	come_out(0, 0);
	NEAR(value(ipc), 0.75);
	NEAR(value(cpi), 4.0 / 3);
	NEAR(value(hits), 40);
	NEAR(value(hit), 0.8);
	NEAR(value(miss), 0.2);
	/* counts that do not fit each other */
	go_in(0, 0);
	happen(0, EVENT_LLC_MISSES, 100);
	come_out(0, 0);
	NEAR(value(hits), 0);
	NEAR(value(hit), 0);
	NEAR(value(miss), 1);
}

/* ---- what is refused ---- */

static void the_newest_goes_when_counters_are_in_use(void **state)
{
	struct ki_err err = {0};
	uint32_t curve, first;

	(void)state;
	begin(2);
	first = add("instructions", F, NULL);
	assert_int_equal(try_add("ipc", F, NULL, &curve, &err), 0); /* the second */
	assert_int_equal(try_add("branches", F, NULL, &curve, &err), -EBUSY);
	assert_int_equal(err.reason, KI_R_EVENTS_BUSY);
	assert_int_equal(try_add("llc-hits", F, NULL, &curve, &err), -EBUSY);
	/* the same events of another function need no more */
	assert_int_equal(try_add("cpi", H, NULL, &curve, &err), 0);
	assert_int_equal(events.taken, 2);
	start();
	go_in(0, 0);
	happen(0, EVENT_INSTRUCTIONS, 5);
	come_out(0, 0);
	NEAR(value(first), 5);
}

/* One of two: then the other has not been taken either. */
static void one_of_two_that_cannot_be(void **state)
{
	struct ki_err err = {0};
	uint32_t curve;

	(void)state;
	for (int i = 0; i < 2; i++) {
		begin(2);
		events.refused = i ? PERF_COUNT_HW_INSTRUCTIONS : PERF_COUNT_HW_BRANCH_MISSES;
		assert_int_equal(try_add(i ? "ipc" : "branch-hits", F, NULL, &curve, &err), -EBUSY);
		assert_int_equal(events.taken, 0);
		assert_int_equal(m->pairs.n, 0);
	}
}

/* Of two pairs the second finds no word: then nothing of the first is installed. */
static void half_of_a_metric_is_none(void **state)
{
	struct ki_err err = {0};
	uint32_t curve, one;

	(void)state;
	begin(32);
	world.next_word = WORDS - 1;
	assert_int_equal(try_add("ipc", F, NULL, &curve, &err), -ENOSPC);
	assert_int_equal(m->pairs.n, 0);
	start();
	assert_int_equal(drv.installed, 0);
	/* what another curve needs stays */
	begin(32);
	one = add("instructions", F, NULL);
	world.next_word = WORDS;
	assert_int_equal(try_add("ipc", F, NULL, &curve, &err), -ENOSPC);
	assert_int_equal(m->pairs.n, 1);
	start();
	assert_int_equal(drv.installed, 2);
	go_in(0, 0);
	happen(0, EVENT_INSTRUCTIONS, 5);
	come_out(0, 0);
	NEAR(value(one), 5);
}

static void what_nobody_counts_is_refused(void **state)
{
	struct ki_err err = {0};
	uint32_t curve;

	(void)state;
	begin(32);
	assert_int_equal(try_add("mesi-read-hits", F, NULL, &curve, &err), -EOPNOTSUPP);
	assert_int_equal(err.reason, KI_R_EVENT_UNKNOWN);
	assert_non_null(strstr(err.msg, "Pentium 4"));
	assert_int_equal(ki_metric_check(ki_metric_find("mesi-read-hits"), &err), -EOPNOTSUPP);
	assert_int_equal(ki_metric_check(ki_metric_find("walltime"), &err), 0);
	assert_int_equal(events.taken, 0);
	assert_int_equal(m->pairs.n, 0);
}

/* There is a counter for both, but only one word for their pairs. */
static void two_pairs_or_none(void **state)
{
	struct ki_err err = {0};
	uint32_t curve, ipc;

	(void)state;
	begin(32);
	add("walltime", F, NULL);
	world.next_word = WORDS - 1;
	assert_true(try_add("ipc", F, NULL, &curve, &err) < 0);
	assert_int_equal(m->pairs.n, 1);
	assert_int_equal(m->curves.n, 1);
	/* and what is left in the plan does not stand in the way of another try */
	world.next_word = 1;
	ipc = add("ipc", F, NULL);
	assert_int_equal(m->pairs.n, 3);
	start();
	assert_int_equal(ki_measure_refusal(m, ipc), KI_R_OK);
	assert_int_equal(drv.installed, 6);
}

/* One of the pairs was there before, for another metric, which keeps it. */
static void a_pair_that_others_have_stays(void **state)
{
	struct ki_err err = {0};
	uint32_t curve, instructions;

	(void)state;
	begin(32);
	instructions = add("instructions", F, NULL);
	world.next_word = WORDS;
	assert_true(try_add("ipc", F, NULL, &curve, &err) < 0);
	assert_int_equal(m->pairs.n, 1);
	world.next_word = 1;
	start();
	assert_int_equal(ki_measure_refusal(m, instructions), KI_R_OK);
	assert_int_equal(drv.installed, 2);
}

static struct ki_metric *make(const char *name)
{
	struct ki_metric *metric;
	struct ki_err err = {0};

	if (ki_metric_make(name, &metric, &err))
		fail_msg("%s: %s", name, err.msg);
	assert_string_equal(metric->name, name);
	return metric;
}

static uint32_t add_made(const struct ki_metric *metric)
{
	static const struct ki_point entry = {.kind = KI_POINT_ENTRY};
	struct ki_err err = {0};
	uint32_t curve;

	if (ki_measure_add(m, metric, &(struct ki_measured_at){fns[F], &spans[F], &entry, 0, NULL},
			   &curve, &err))
		fail_msg("%s: %s", metric->name, err.msg);
	return curve;
}

/* What the driver is asked for, and what comes of it. */
static void modifiers_and_numbers(void **state)
{
	struct ki_metric *made[] = {make("page-faults:u"),  make("page-faults:k"),
				    make("page-faults:ku"), make("ipc:k"),
				    make("r01c2"),	    make("r1000001f8e:u"),
				    make("r01c2/call"),	    make("page-faults:k/call")};
	static const struct {
		uint32_t type, flags;
		uint64_t config;
	} wanted[] = {
		{PERF_TYPE_SOFTWARE, KI_EVENT_USER, PERF_COUNT_SW_PAGE_FAULTS},
		{PERF_TYPE_SOFTWARE, KI_EVENT_KERNEL, PERF_COUNT_SW_PAGE_FAULTS},
		{PERF_TYPE_SOFTWARE, 0, PERF_COUNT_SW_PAGE_FAULTS},
		{PERF_TYPE_HARDWARE, KI_EVENT_KERNEL, PERF_COUNT_HW_INSTRUCTIONS},
		{PERF_TYPE_HARDWARE, KI_EVENT_KERNEL, PERF_COUNT_HW_CPU_CYCLES},
		{PERF_TYPE_RAW, 0, 0x01c2},
		{PERF_TYPE_RAW, KI_EVENT_USER, 0x1000001f8e},
	};
	uint32_t curves[8];

	(void)state;
	begin(32);
	for (size_t i = 0; i < 8; i++)
		curves[i] = add_made(made[i]);
	add("page-faults", F, NULL); /* as with both */
	assert_int_equal(events.taken, 7);
	for (size_t i = 0; i < 7; i++) {
		assert_int_equal(events.type[i], wanted[i].type);
		assert_int_equal(events.config[i], wanted[i].config);
		assert_int_equal(events.all_flags[i], wanted[i].flags | KI_EVENT_OWN);
	}
	assert_int_equal(m->pairs.n, 7);
	start();
	go_in(0, 0);
	events.counts[0][0] += 2;
	events.counts[0][1] += 3;
	events.counts[0][2] += 5;
	events.counts[0][3] += 20;
	events.counts[0][4] += 40;
	events.counts[0][5] += 7;
	come_out(0, 0);
	NEAR(value(curves[0]), 2);
	NEAR(value(curves[1]), 3);
	NEAR(value(curves[2]), 5);
	NEAR(value(curves[3]), 0.5);
	NEAR(value(curves[4]), 7);
	NEAR(value(curves[5]), 0);
	NEAR(value(curves[6]), 7);
	NEAR(value(curves[7]), 3);
	close_measure();
	for (size_t i = 0; i < 8; i++)
		ki_metric_free(made[i]);
}

static void what_is_no_metric(void **state)
{
	static const char *const names[] = {
		"",	    "walltime",		  "walltime:k", "cycles:",
		"cycles:x", "cycles:k:u",	  "cycles/",	"cycles:k/calls",
		"r",	    "r12345678901234567", "rcycles",	"nonsense:k",
		":k",	    "cycles/call:k",	  "r1g"};
	struct ki_metric *metric;
	struct ki_err err;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		ki_err_clear(&err);
		if (ki_metric_make(names[i], &metric, &err) != -EINVAL)
			fail_msg("%s", names[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_event_has_a_name_and_a_way),
		cmocka_unit_test(processors_are_known),
		cmocka_unit_test(the_names_are_there),
		cmocka_unit_test_teardown(counts_are_the_threads, unload),
		cmocka_unit_test_teardown(a_call_inside_that_cannot_count, unload),
		cmocka_unit_test_teardown(two_events_are_one_part, unload),
		cmocka_unit_test_teardown(formulas, unload),
		cmocka_unit_test_teardown(the_newest_goes_when_counters_are_in_use, unload),
		cmocka_unit_test_teardown(one_of_two_that_cannot_be, unload),
		cmocka_unit_test_teardown(half_of_a_metric_is_none, unload),
		cmocka_unit_test_teardown(what_nobody_counts_is_refused, unload),
		cmocka_unit_test(two_pairs_or_none),
		cmocka_unit_test(a_pair_that_others_have_stays),
		cmocka_unit_test(modifiers_and_numbers),
		cmocka_unit_test(what_is_no_metric),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
