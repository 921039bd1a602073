// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metrics of events: the table, and the formulas on a model of threads that count.
 */
#include "events_fixture.h"

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
	ki_measure_pause(m, part, true, true);
	assert_int_equal(ki_measure_update(m, NULL), 0);
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
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
