// SPDX-License-Identifier: GPL-2.0-only
/*
 * What parts of a measurement cost, and parts that rest: against calls that a model makes.
 */
#include "measure_fixture.h"

#define NEAR(got, want, by) assert_true(fabs((got) - (want)) <= (by))

static void known_calls(unsigned int n)
{
	for (unsigned int i = 0; i < n; i++) {
		world.tsc += 1000;
		enter(F, 0, 0, 0);
		world.tsc += 100;
		leave(F, 0, 1);
	}
}

/* test_timer.c counts 13 and 17 where all of a call is known to be free; here some are kept. */
static void what_a_call_costs(void **state)
{
	uint32_t wall, calls, part;
	struct ki_cost pass;

	(void)state;
	load();
	ki_measure_meter(m);
	wall = add("walltime", F, NULL);
	calls = add("calls", H, NULL);
	part = ki_measure_part(m, wall);
	assert_int_equal(ki_measure_parts(m), 3);
	assert_int_not_equal(part, ki_measure_part(m, calls));
	start();
	pass = ki_measure_pass_cost(m, part);
	NEAR(pass.most, 33, 3);
	assert_true(pass.least < pass.most && pass.least >= 2 * (2 + 1));
	NEAR(ki_measure_pass_cost(m, ki_measure_part(m, calls)).most, 3, 0);
	assert_true(ki_measure_spent(m, part) == 0);
	known_calls(7);
	NEAR(ki_measure_spent(m, part), 7 * pass.most, 0.5);
	/* a return that nobody has seen to begin is little */
	leave(F, 1, 0);
	assert_true(ki_measure_spent(m, part) < 7 * pass.most + pass.least);
}

static void parts_rest(void **state)
{
	uint32_t wall, calls;

	(void)state;
	load();
	ki_measure_meter(m);
	wall = add("walltime", F, NULL);
	calls = add("calls", H, NULL);
	start();
	assert_int_equal(drv.installed, 3);
	/* what has begun is measured to its end */
	ki_measure_rest(m, ki_measure_part(m, wall), true, false);
	assert_int_equal(ki_measure_settle(m, NULL), 0);
	assert_int_equal(drv.installed, 2);
	ki_measure_rest(m, ki_measure_part(m, wall), false, false);
	assert_int_equal(ki_measure_settle(m, NULL), 0);
	assert_int_equal(drv.installed, 3);
	/* for good: all of it */
	ki_measure_rest(m, ki_measure_part(m, wall), true, true);
	assert_int_equal(ki_measure_settle(m, NULL), 0);
	assert_int_equal(drv.installed, 1);
	ki_measure_rest(m, ki_measure_part(m, calls), true, true);
	assert_int_equal(ki_measure_settle(m, NULL), 0);
	assert_int_equal(drv.installed, 0);
	assert_int_equal(ki_measure_stop(m, NULL), 0);
}

/* Who is inside when it goes for good is not asked for any more. */
static void nobody_is_inside_what_has_gone(void **state)
{
	uint32_t wall;
	double before;

	(void)state;
	load();
	wall = add("walltime", F, NULL);
	start();
	world.tsc += 1000;
	enter(F, 0, 0, 0);
	world.tsc += 500;
	before = value(wall);
	assert_true(before > 0);
	ki_measure_rest(m, ki_measure_part(m, wall), true, true);
	assert_int_equal(ki_measure_settle(m, NULL), 0);
	world.tsc += 1000000;
	assert_true(value(wall) == before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_call_costs),
		cmocka_unit_test(parts_rest),
		cmocka_unit_test(nobody_is_inside_what_has_gone),
	};

	return cmocka_run_group_tests(tests, NULL, unload);
}
