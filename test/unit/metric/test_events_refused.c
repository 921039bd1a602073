// SPDX-License-Identifier: GPL-2.0-only
/*
 * Metrics of events that cannot be had, or are none: what is refused, what goes instead.
 */
#include "events_fixture.h"

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

	if (ki_metric_new(name, &metric, &err))
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
		if (ki_metric_new(names[i], &metric, &err) != -EINVAL)
			fail_msg("%s", names[i]);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
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
