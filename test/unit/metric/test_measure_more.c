// SPDX-License-Identifier: GPL-2.0-only
/*
 * The table of metrics; values of each CPU, which make the total; inside() of a name that several
 * functions have.
 */
#include "measure_fixture.h"

#define SECOND		1000000000ull
#define NEAR(got, want) assert_true(fabs((got) - (want)) < 1e-9)

static const char *const formulas[][2] = {
	{"concurrency", "walltime / time"},
	{"running", "vtime / time"},
	{"preemptions/call", "preemptions / calls"},
	{"latency", ""},
	{"llc-hit-ratio", "max(0, llc-refs - llc-misses) / llc-refs"},
};

static void the_table(void **state)
{
	const struct ki_metric *a, *b;
	char formula[KI_METRIC_DERIVED];

	(void)state;
	for (size_t i = 0; (a = ki_metric_at(i)); i++) {
		assert_true(*a->name && *a->text && *a->code);
		assert_true(a->unit < KI_UNITS && a->form < KI_FORMS);
		assert_ptr_equal(ki_metric_find(a->name), a);
		for (size_t k = 0; k < i && (b = ki_metric_at(k)); k++)
			assert_string_not_equal(a->name, b->name);
	}
	assert_null(ki_metric_find("walltime/"));
	for (size_t i = 0; i < sizeof(formulas) / sizeof(*formulas); i++) {
		ki_metric_derived(ki_metric_find(formulas[i][0]), formula, sizeof(formula));
		assert_string_equal(formula, formulas[i][1]);
	}
	assert_string_equal(ki_unit_name(KI_UNIT_SECONDS), "s");
	assert_string_equal(ki_unit_name(KI_UNITS), "");
}

static double of(const struct ki_reading *r, uint32_t curve, int cpu)
{
	return ki_reading_value(m, NULL, r, curve, cpu);
}

static void call(unsigned int thread, unsigned int from, unsigned int to, uint64_t ticks)
{
	enter(F, thread, from, 0);
	pass(ticks, thread, ticks / 2);
	leave(F, thread, to);
}

static void each_cpu_has_what_ended_there(void **state)
{
	uint32_t wall, mean, own, many, hist;
	uint64_t buckets[2][KI_LOG2_BUCKETS];
	struct ki_reading *r;

	(void)state;
	load();
	ki_measure_each_cpu(m);
	wall = add("walltime", F, NULL);
	mean = add("walltime/call", F, NULL);
	own = add("vtime", F, NULL);
	many = add("concurrency", F, NULL);
	hist = add("latency", F, NULL);
	start();
	call(0, 0, 0, 2 * SECOND);
	call(1, 0, 1, 3 * SECOND); /* booked where it ended */
	call(1, 1, 1, 1 * SECOND);
	r = reading();
	NEAR(of(r, wall, 0), 2);
	NEAR(of(r, wall, 1), 4);
	NEAR(of(r, wall, KI_ALL_CPUS), 6);
	NEAR(of(r, mean, 0), 2);
	NEAR(of(r, mean, 1), 2);
	NEAR(of(r, own, 0), 1);
	NEAR(of(r, own, 1), 2);
	NEAR(of(r, many, 0), 2.0 / 6);
	NEAR(of(r, many, 1), 4.0 / 6);
	assert_int_equal(ki_reading_count(m, NULL, r, hist, 0), 1);
	assert_int_equal(ki_reading_count(m, NULL, r, hist, 1), 2);
	assert_int_equal(ki_reading_count(m, NULL, r, hist, KI_ALL_CPUS), 3);
	assert_true(isnan(of(r, hist, 0)));
	for (int cpu = 0; cpu < 2; cpu++)
		ki_reading_buckets_cpu(m, NULL, r, hist, cpu, buckets[cpu]);
	for (unsigned int i = 0; i < KI_LOG2_BUCKETS; i++) {
		assert_int_equal(buckets[0][i], i == 31);	     /* 2 s */
		assert_int_equal(buckets[1][i], i == 30 || i == 32); /* 1 s, 3 s */
	}
	ki_reading_free(r);
	enter(F, 2, 0, 0); /* not over: of no CPU */
	pass(SECOND, 2, 0);
	r = reading();
	NEAR(of(r, wall, KI_ALL_CPUS), 7);
	NEAR(of(r, wall, 0) + of(r, wall, 1), 6);
	ki_reading_free(r);
}

/* What ends while it is being read is in both, or in none. */
static void one_ends(void)
{
	leave(F, 0, 1);
	enter(F, 0, 1, 0);
	world.tsc++;
}

static void rows_make_the_total_whatever_ends_meanwhile(void **state)
{
	struct ki_reading *r;
	uint32_t wall;

	(void)state;
	load();
	ki_measure_each_cpu(m);
	wall = add("walltime", F, NULL);
	start();
	enter(F, 0, 0, 0);
	pass(SECOND, 0, 0);
	world.meanwhile = one_ends;
	world.meanwhile_for = 1;
	r = reading();
	assert_int_equal(world.meanwhile_for, 0);
	NEAR(of(r, wall, 0), 0);
	NEAR(of(r, wall, 1), 1);
	assert_true(of(r, wall, KI_ALL_CPUS) < 1.1);
	ki_reading_free(r);
}

/* h and c are called the same. */
static void load_twins(void)
{
	symbols[H].name = symbols[C].name = "twin";
	load();
}

static int unload_twins(void **state)
{
	symbols[H].name = "h";
	symbols[C].name = "c";
	return unload(state);
}

static void inside_any_of_that_name(void **state)
{
	uint32_t any, one;

	(void)state;
	load_twins();
	any = add("walltime", F, "inside(twin)");
	one = add("calls", F, "inside(twin@0xffffffff81000050)");
	assert_int_equal(m->insides.n, 3);
	assert_int_equal(m->insides.v[0].word, m->insides.v[1].word);
	assert_int_not_equal(m->insides.v[0].word, m->insides.v[2].word);
	add("vtime", F, "inside(kernel:twin)"); /* the same functions */
	assert_int_equal(m->insides.n, 3);
	start();
	assert_int_equal(ki_measure_refusal(m, any), KI_R_OK);
	assert_int_equal(ki_measure_refusal(m, one), KI_R_OK);
	call(0, 0, 0, SECOND); /* outside */
	enter(H, 0, 0, 0);
	call(0, 0, 0, SECOND);
	enter(C, 0, 0, 0); /* one inside the other */
	call(0, 0, 0, SECOND);
	leave(C, 0, 0);
	call(0, 0, 0, SECOND);
	leave(H, 0, 0);
	enter(C, 0, 0, 0);
	call(0, 0, 0, SECOND);
	leave(C, 0, 0);
	call(0, 0, 0, SECOND);
	NEAR(value(any), 4);
}

/* Of one of them nobody would know when it has been left. */
static void all_of_that_name_or_none(void **state)
{
	struct ki_err err = {0};
	uint32_t curve;

	(void)state;
	symbols[G].name = "twin"; /* which ends in a jump to nobody knows where */
	load_twins();
	assert_int_not_equal(try_add("walltime", F, "inside(twin)", &curve, &err), 0);
	assert_int_equal(m->insides.n, 0);
	assert_int_equal(err.reason, KI_R_TAIL_UNKNOWN);
	symbols[G].name = "g";
	add("calls", F, NULL);
	start();
	assert_int_equal(drv.installed, 1);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_table),
		cmocka_unit_test(each_cpu_has_what_ended_there),
		cmocka_unit_test(rows_make_the_total_whatever_ends_meanwhile),
		cmocka_unit_test_teardown(inside_any_of_that_name, unload_twins),
		cmocka_unit_test_teardown(all_of_that_name_or_none, unload_twins),
	};

	return cmocka_run_group_tests(tests, NULL, unload);
}
