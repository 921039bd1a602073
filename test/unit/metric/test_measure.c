// SPDX-License-Identifier: GPL-2.0-only
/*
 * Measurements: what shares code, what comes out of calls that a model makes, what is refused.
 */
#include "measure_fixture.h"

#define SECOND		1000000000ull
#define NEAR(got, want) assert_true(fabs((got) - (want)) < 1e-9)

static void curves_share_a_pair(void **state)
{
	size_t chunks;

	(void)state;
	load();
	add("walltime", F, NULL);
	chunks = ki_plan_chunks(ki_measure_plan(m));
	assert_int_equal(chunks, 2);
	add("concurrency", F, NULL);
	add("walltime/call", F, NULL);
	add("latency", F, NULL);
	add("walltime", F, NULL);
	assert_int_equal(m->pairs.n, 1);
	assert_int_equal(world.next_word, 1);
	assert_int_equal(m->counters.n, 1 + 1 + 1 + KI_LOG2_BUCKETS);
	assert_int_equal(ki_plan_chunks(ki_measure_plan(m)), chunks);
	/* others do not */
	add("vtime", F, NULL);
	add("walltime", H, NULL);
	add("walltime", F, "pid == 7");
	add("latency", F, "pid  ==  7");
	add("faults", F, NULL);
	add("major-faults", F, NULL);
	assert_int_equal(m->pairs.n, 6);
	start();
	assert_int_equal(drv.installed, 12);
	assert_int_equal(drv.longs, 12);
	assert_int_equal(ki_measure_stop(m, NULL), 0);
	assert_int_equal(drv.installed, 0);
}

static void stops_are_there_before_starts(void **state)
{
	const struct ki_plan *plan;

	(void)state;
	load();
	add("walltime", F, "inside(h)");
	plan = ki_measure_plan(m);
	assert_int_equal(plan->chunks.n, 4);
	for (size_t i = 0; i < 4; i++) {
		const struct plan_chunk *c = &plan->chunks.v[i];
		bool at_ret = c->c.insn == 3;

		assert_int_equal(c->stage, at_ret  ? STAGE_STOP
					   : i < 2 ? STAGE_INSIDE
						   : STAGE_START);
	}
	assert_int_equal(plan->chunks.v[0].c.order, UINT16_MAX); /* h's: after all at the end */
	assert_int_equal(plan->chunks.v[1].c.order, 0);
}

static void returns_of_the_cold_part_end_it_too(void **state)
{
	uint32_t curve;

	(void)state;
	load();
	curve = add("walltime", K, "inside(k)");
	assert_int_equal(m->pairs.v[0].stop.sites.n, 2);
	assert_int_equal(m->insides.v[0].leave.sites.n, 2);
	start();
	assert_int_equal(ki_measure_refusal(m, curve), KI_R_OK);
	assert_int_equal(drv.installed, 6);
	/* and if that cannot be, nothing of it */
	load();
	curve = add("walltime", K, NULL);
	drv.bad_window = BASE + 64;
	start();
	assert_int_equal(ki_measure_refusal(m, curve), KI_R_WINDOW_ENTERED);
	assert_int_equal(drv.installed, 0);
}

static void times(void **state)
{
	uint32_t wall, mean, many, hist, own, own_mean, running;
	uint64_t buckets[KI_LOG2_BUCKETS];
	struct ki_reading *a, *b;

	(void)state;
	load();
	wall = add("walltime", F, NULL);
	mean = add("walltime/call", F, NULL);
	many = add("concurrency", F, NULL);
	hist = add("latency", F, NULL);
	own = add("vtime", F, NULL);
	own_mean = add("vtime/call", F, NULL);
	running = add("running", F, NULL);
	leave(F, 3, 0); /* who was there before */
	start();
	a = reading();
	assert_true(isnan(ki_reading_value(m, NULL, a, mean, KI_ALL_CPUS)));
	assert_true(isnan(ki_reading_value(m, NULL, a, many, KI_ALL_CPUS)));
	enter(F, 0, 0, 0);
	pass(SECOND, 0, SECOND / 4);
	enter(F, 1, 0, 0);
	pass(SECOND, 0, SECOND / 4);
	leave(F, 0, 1);		/* on the other CPU */
	NEAR(value(wall), 3.0); /* the second is still there */
	NEAR(value(mean), 2.0);
	NEAR(value(many), 1.5);
	NEAR(value(own), 0.5);
	NEAR(value(running), 0.25);
	b = reading();
	pass(SECOND, 1, SECOND / 2);
	leave(F, 1, 1);
	leave(F, 3, 0);
	ki_reading_free(a);
	a = reading();
	NEAR(ki_reading_value(m, b, a, wall, KI_ALL_CPUS), 1.0);
	NEAR(ki_reading_value(m, b, a, many, KI_ALL_CPUS), 1.0);
	NEAR(ki_reading_value(m, b, a, running, KI_ALL_CPUS), 0.5);
	NEAR(ki_reading_value(m, NULL, a, mean, KI_ALL_CPUS), 2.0);
	NEAR(ki_reading_value(m, NULL, a, own_mean, KI_ALL_CPUS), 0.5);
	assert_true(isnan(ki_reading_value(m, NULL, a, wall, 0))); /* not asked for */
	assert_true(isnan(ki_reading_value(m, NULL, a, hist, KI_ALL_CPUS)));
	ki_reading_buckets(m, NULL, a, hist, buckets);
	for (unsigned int i = 0; i < KI_LOG2_BUCKETS; i++)
		assert_int_equal(buckets[i], i == 31 ? 2 : 0); /* 2 s: 2^30 .. 2^31 - 1 ns */
	ki_reading_free(a);
	ki_reading_free(b);
}

static void recursion_is_charged_once(void **state)
{
	uint32_t wall, mean;

	(void)state;
	load();
	wall = add("walltime", F, NULL);
	mean = add("walltime/call", F, NULL);
	start();
	for (int i = 0; i < 100; i++) {
		enter(F, 0, 0, 0);
		pass(SECOND, 0, 0);
	}
	NEAR(value(wall), 100.0);
	for (int i = 0; i < 100; i++) {
		leave(F, 0, 0);
		pass(SECOND, 0, 0);
	}
	NEAR(value(wall), 199.0);
	NEAR(value(mean), 199.0);
}

static void a_predicate_is_asked_at_the_call(void **state)
{
	uint32_t wall, own;

	(void)state;
	load();
	wall = add("walltime", F, "arg0 == 1");
	own = add("walltime", F, "pid == 101");
	start();
	enter(F, 0, 0, 0);
	pass(SECOND, 0, 0);
	enter(F, 0, 0, 1);
	pass(SECOND, 0, 0);
	enter(F, 0, 0, 0); /* part of the one around it */
	leave(F, 0, 0);
	pass(SECOND, 0, 0);
	leave(F, 0, 0);
	pass(SECOND, 0, 0);
	leave(F, 0, 0);
	NEAR(value(wall), 2.0);
	NEAR(value(own), 0.0);
	enter(F, 1, 0, 0);
	pass(SECOND, 1, 0);
	leave(F, 1, 0);
	NEAR(value(wall), 2.0);
	NEAR(value(own), 1.0);
}

/* One that takes a local, so it is no expression. */
static void a_predicate_that_loads(void **state)
{
	uint32_t wall;

	(void)state;
	load();
	wall = add("walltime", F, "*(u64 *)arg0 in (1, 77)");
	start();
	enter(F, 0, 0, 1234); /* there it is 0 */
	pass(SECOND, 0, 0);
	enter(F, 0, 0, LOADED);
	pass(SECOND, 0, 0);
	enter(F, 0, 0, 1234);
	leave(F, 0, 0);
	pass(SECOND, 0, 0);
	leave(F, 0, 0);
	leave(F, 0, 0);
	NEAR(value(wall), 2.0);
}

static void code_paths(void **state)
{
	uint32_t wall, two;

	(void)state;
	load();
	wall = add("walltime", F, "inside(h)");
	two = add("walltime", H, "!inside(kernel:f) && inside(kernel:h@0xffffffff81000020)");
	assert_int_equal(m->insides.n, 2);
	start();
	for (int i = 0; i < 2; i++) {
		leave(H, 0, 0); /* who was there before: stays out */
		enter(F, 0, 0, 0);
		pass(SECOND, 0, 0);
		leave(F, 0, 0);
		enter(H, 0, 0, 0); /* inside itself */
		enter(H, 0, 0, 0);
		leave(H, 0, 0);
		enter(F, 0, 0, 0);
		pass(SECOND, 0, 0);
		leave(F, 0, 0);
		leave(H, 0, 0);
	}
	NEAR(value(wall), 2.0);
	NEAR(value(two), 2.0);
}

/* Each start decides for a second: three parts, and what decides for them all the same. */
static void parts_are_the_whole(void **state)
{
	uint32_t parts[3], whole;
	double sum = 0;

	(void)state;
	for (int early = 0; early < 2; early++) {
		load();
		if (early)
			ki_measure_prior_clock(m);
		whole = add("walltime", F, NULL);
		parts[0] = add("walltime", F, "pid == 101");
		parts[1] = add("walltime", F, "inside(h) && pid != 101");
		parts[2] = add("walltime", F, "pid != 101 && !inside(h)");
		add("vtime", F, "pid == 101");
		assert_int_equal(m->earlies.n, early * 2);
		start();
		world.deciding = SECOND;
		for (unsigned int t = 0; t < 3; t++) {
			if (t == 2)
				enter(H, t, 0, 0);
			enter(F, t, 0, 0);
			pass(SECOND, t, 0);
			leave(F, t, 1);
		}
		sum = value(parts[0]) + value(parts[1]) + value(parts[2]);
		assert_true(early ? fabs(sum - value(whole)) < 1e-6 : sum < value(whole) - 5);
		assert_int_equal(early, sum > 15);
	}
}

static void faults_and_switches(void **state)
{
	uint32_t faults, mean, switches;
	struct ki_reading *r;

	(void)state;
	load();
	faults = add("faults", F, NULL);
	mean = add("faults/call", F, NULL);
	switches = add("switches", F, NULL);
	start();
	for (int i = 0; i < 4; i++) {
		enter(F, 0, 0, 0);
		world.threads[0].faults += 3;
		leave(F, 0, 1);
		world.threads[0].faults++;
		world.threads[0].switches++;
	}
	enter(F, 1, 0, 0);
	world.threads[1].faults += 50; /* it is not over */
	r = reading();
	assert_int_equal(ki_reading_count(m, NULL, r, faults, KI_ALL_CPUS), 12);
	assert_int_equal(ki_reading_count(m, NULL, r, switches, KI_ALL_CPUS), 0);
	NEAR(ki_reading_value(m, NULL, r, mean, KI_ALL_CPUS), 3.0);
	ki_reading_free(r);
	assert_int_equal(world.asked, 0);
}

static void returns_0(void)
{
	pass(SECOND, 0, 0);
	leave(F, 0, 0);
}

static void returns_and_calls_again(void)
{
	leave(F, 0, 0);
	enter(F, 0, 0, 0);
	pass(SECOND, 0, 0);
}

static void who_returns_meanwhile_is_counted_once(void **state)
{
	uint32_t wall;

	(void)state;
	load();
	wall = add("walltime", F, NULL);
	start();
	enter(F, 0, 0, 0);
	pass(SECOND, 0, 0);
	world.meanwhile = returns_0;
	world.meanwhile_for = 1;
	world.asked = 0;
	NEAR(value(wall), 2.0);
	assert_int_equal(world.asked, 2);
	/* one that never rests: an end, and nothing falls */
	enter(F, 0, 0, 0);
	pass(SECOND, 0, 0);
	world.meanwhile = returns_and_calls_again;
	world.meanwhile_for = 100;
	world.asked = 0;
	assert_true(value(wall) >= 3.0);
	assert_true(world.asked < 10);
	world.meanwhile_for = 0;
	assert_true(value(wall) >= 3.0 + 4);
}

static void bare_counts_are_short(void **state)
{
	static const struct ki_point end = {.kind = KI_POINT_BLOCK_END};
	uint32_t calls, exits, back, cond, block;
	struct ki_reading *r;
	struct ki_err err = {0};

	(void)state;
	load();
	ki_measure_each_cpu(m);
	calls = add("calls", F, NULL);
	exits = add("exits", F, NULL);
	back = add("returns", F, NULL);
	for (uint32_t id = 0; id < 3; id++)
		assert_null(ki_plan_code(ki_measure_plan(m), id));
	cond = add("calls", F, "pid == 100");
	assert_int_equal(ki_measure_add(m, ki_metric_find("count"),
					&(struct ki_measured_at){fns[F], &spans[F], &end, 3, NULL},
					&block, &err),
			 0);
	assert_non_null(ki_plan_code(ki_measure_plan(m), 3));
	assert_int_equal(ki_measure_cost(m, calls), 1);
	assert_true(ki_measure_cost(m, cond) > 2);
	start();
	world.counters[m->counters.v[0]] = 5;
	world.counters[COUNTERS + m->counters.v[0]] = UINT64_MAX; /* wraps */
	world.counters[m->counters.v[1]] = 7;
	r = reading();
	assert_int_equal(ki_reading_count(m, NULL, r, calls, KI_ALL_CPUS), 4);
	assert_int_equal(ki_reading_count(m, NULL, r, calls, 0), 5);
	assert_int_equal(ki_reading_count(m, NULL, r, calls, 1), UINT64_MAX);
	assert_int_equal(ki_reading_count(m, NULL, r, exits, KI_ALL_CPUS), 7);
	assert_int_equal(ki_reading_count(m, NULL, r, back, KI_ALL_CPUS), 0);
	assert_int_equal(ki_reading_count(m, NULL, r, block, 9), 0);
	ki_reading_free(r);
}

static void what_is_refused_is_no_curve(void **state)
{
	static const struct ki_point exit = {.kind = KI_POINT_EXIT};
	struct ki_err err = {0};
	uint32_t curve;

	(void)state;
	load();
	assert_true(try_add("walltime", G, NULL, &curve, &err) < 0);
	assert_int_equal(err.reason, KI_R_TAIL_UNKNOWN);
	ki_err_clear(&err);
	assert_true(try_add("calls", F, "inside(g)", &curve, &err) < 0);
	assert_int_equal(err.reason, KI_R_TAIL_UNKNOWN);
	ki_err_clear(&err);
	assert_int_equal(try_add("calls", F, "inside(nobody)", &curve, &err), -ENOENT);
	ki_err_clear(&err);
	assert_int_equal(try_add("calls", F, "inside(kernel:f@0x1234)", &curve, &err), -ENOENT);
	ki_err_clear(&err);
	assert_int_equal(try_add("calls", F, "inside(nomodule:f)", &curve, &err), -ENOENT);
	ki_err_clear(&err);
	assert_true(try_add("returns", F, "arg0 == 1", &curve, &err) < 0);
	ki_err_clear(&err);
	assert_int_equal(ki_measure_add(m, ki_metric_find("walltime"),
					&(struct ki_measured_at){fns[F], &spans[F], &exit, 0, NULL},
					&curve, &err),
			 -EINVAL);
	assert_int_equal(world.next_word, 0);
	assert_int_equal(m->curves.n, 0);
	start();
	assert_int_equal(drv.installed, 0);
}

static void what_the_driver_refuses_goes_with_all_of_it(void **state)
{
	uint32_t wall, calls, other, path;
	struct ki_err err = {0};
	uint32_t curve;

	(void)state;
	load();
	wall = add("walltime", F, NULL);
	calls = add("calls", F, NULL);
	other = add("walltime", H, NULL);
	path = add("calls", H, "inside(f)");
	drv.bad_window = BASE + 12; /* f's ret */
	for (size_t i = 0; i < spans[F].n; i++)
		if (spans[F].v[i].addr <= BASE + 12)
			drv.bad_window = spans[F].v[i].addr;
	start();
	assert_int_equal(ki_measure_refusal(m, wall), KI_R_WINDOW_ENTERED);
	assert_int_equal(ki_measure_refusal(m, path), KI_R_WINDOW_ENTERED);
	assert_int_equal(ki_measure_refusal(m, other), KI_R_OK);
	assert_int_equal(ki_measure_refusal(m, calls),
			 spans[F].n == 1 ? KI_R_WINDOW_ENTERED : KI_R_OK);
	assert_int_equal(drv.installed, spans[F].n == 1 ? 2 : 3);
	assert_int_equal(ki_measure_start(m, &err), -EBUSY);
	ki_err_clear(&err);
	assert_int_equal(try_add("calls", H, NULL, &curve, &err), -EBUSY);
}

static void the_code_can_be_read(void **state)
{
	struct ki_err err = {0};
	uint32_t wall, calls;
	char *listing;

	(void)state;
	load();
	wall = add("latency", F, "pid == 7");
	calls = add("calls", F, NULL);
	assert_int_equal(ki_measure_listing(m, wall, &listing, &err), 0);
	assert_non_null(strstr(listing, "before f+0x5:"));
	assert_non_null(strstr(listing, "before f+0xc:"));
	assert_non_null(strstr(listing, "histogram"));
	assert_non_null(strstr(listing, "7"));
	free(listing);
	assert_int_equal(ki_measure_listing(m, calls, &listing, &err), 0);
	assert_non_null(strstr(listing, "before f+0x5:\ncount += 1;\n"));
	free(listing);
	assert_true(ki_measure_cost(m, wall) > ki_measure_cost(m, calls));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(curves_share_a_pair),
		cmocka_unit_test(stops_are_there_before_starts),
		cmocka_unit_test(returns_of_the_cold_part_end_it_too),
		cmocka_unit_test(times),
		cmocka_unit_test(recursion_is_charged_once),
		cmocka_unit_test(a_predicate_is_asked_at_the_call),
		cmocka_unit_test(a_predicate_that_loads),
		cmocka_unit_test(code_paths),
		cmocka_unit_test(parts_are_the_whole),
		cmocka_unit_test(faults_and_switches),
		cmocka_unit_test(who_returns_meanwhile_is_counted_once),
		cmocka_unit_test(bare_counts_are_short),
		cmocka_unit_test(what_is_refused_is_no_curve),
		cmocka_unit_test(what_the_driver_refuses_goes_with_all_of_it),
		cmocka_unit_test(the_code_can_be_read),
	};

	return cmocka_run_group_tests(tests, NULL, unload);
}
