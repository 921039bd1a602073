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
	ki_measure_pause(m, ki_measure_part(m, wall), true, false);
	assert_int_equal(ki_measure_update(m, NULL), 0);
	assert_int_equal(drv.installed, 2);
	ki_measure_pause(m, ki_measure_part(m, wall), false, false);
	assert_int_equal(ki_measure_update(m, NULL), 0);
	assert_int_equal(drv.installed, 3);
	/* for good: all of it */
	ki_measure_pause(m, ki_measure_part(m, wall), true, true);
	assert_int_equal(ki_measure_update(m, NULL), 0);
	assert_int_equal(drv.installed, 1);
	ki_measure_pause(m, ki_measure_part(m, calls), true, true);
	assert_int_equal(ki_measure_update(m, NULL), 0);
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
	ki_measure_pause(m, ki_measure_part(m, wall), true, true);
	assert_int_equal(ki_measure_update(m, NULL), 0);
	world.tsc += 1000000;
	assert_true(value(wall) == before);
}

/* How many threads were inside is of the time until then. */
static void what_has_gone_has_had_its_time(void **state)
{
	uint32_t threads;

	(void)state;
	load();
	threads = add("concurrency", F, NULL);
	start();
	world.tsc += 1000;
	enter(F, 0, 0, 0);
	world.tsc += 1000;
	leave(F, 0, 1);
	NEAR(value(threads), 0.5, 0.001);
	world.tsc += 2000;
	ki_measure_pause(m, ki_measure_part(m, threads), true, true);
	assert_int_equal(ki_measure_update(m, NULL), 0);
	world.tsc += 1000000;
	NEAR(value(threads), 0.25, 0.001);
}

static void counted(uint32_t curve, uint64_t n)
{
	world.counters[m->counters.v[m->curves.v[curve].counter]] += n;
}

/* Two counters in one window share its jumps, two instructions, until one of them goes. */
static void who_stays_pays_for_the_jumps(void **state)
{
	uint32_t a, b;

	(void)state;
	load();
	ki_measure_meter(m);
	a = add("calls", F, NULL);
	b = add("count", F, NULL);
	start();
	counted(a, 10);
	counted(b, 10);
	NEAR(ki_measure_spent(m, a), 10 * (1 + 2.0 / 2), 1e-6);
	ki_measure_pause(m, ki_measure_part(m, b), true, true);
	assert_int_equal(ki_measure_update(m, NULL), 0);
	NEAR(ki_measure_spent(m, a), 20, 1e-6);
	NEAR(ki_measure_spent(m, b), 20, 1e-6);
	NEAR(ki_measure_pass_cost(m, a).most, 3, 1e-6);
	counted(a, 10);
	NEAR(ki_measure_spent(m, a), 20 + 10 * 3, 1e-6);
	NEAR(ki_measure_spent(m, b), 20, 1e-6);
}

/* An action: a counter of its own. */
static int count_acts(void *arg, struct ki_snippet *s, struct ki_node **stmt, struct ki_err *err)
{
	const struct ki_var actions = {.name = "actions",
				       .kind = KI_VAR_CPU,
				       .type = KI_U64,
				       .first = *(const uint32_t *)arg};

	(void)err;
	*stmt = ki_stmt_update(s, KI_UPDATE_ADD, &actions, NULL, ki_expr_const(s, KI_I64, 1));
	return 0;
}

/* Actions in so many hits. */
static uint64_t acts_in(uint32_t curve, uint32_t actions, unsigned int hits)
{
	uint64_t before = world.counters[actions];

	for (unsigned int i = 0; i < hits; i++) {
		world.tsc += 683;
		run_code(m->curves.v[curve].snippets.v[0], 0, 0, 0);
	}
	return world.counters[actions] - before;
}

static void actions_are_sampled(void **state)
{
	static const struct ki_point entry = {.kind = KI_POINT_ENTRY};
	const unsigned int n = 200000;
	uint32_t actions, curve, plain;
	double all;

	(void)state;
	load();
	ki_measure_meter(m);
	ki_measure_sample(m);
	plain = add("calls", H, NULL);
	assert_int_equal(ki_counters_take(target, 1, &actions, NULL), 0);
	assert_int_equal(ki_measure_add_action(
				 m, &(struct ki_measured_at){fns[F], &spans[F], &entry, 0, NULL},
				 count_acts, &actions, &curve, NULL),
			 0);
	start();
	assert_int_equal(acts_in(curve, actions, n), n);
	all = ki_measure_acted(m, curve);
	assert_true(all > 0 && all < ki_measure_spent(m, curve));
	for (unsigned int k = 1; k <= 10; k += 3) {
		const double want = n / (double)(1 << k);

		assert_int_equal(ki_measure_sample_to(m, curve, k, NULL), 0);
		NEAR((double)acts_in(curve, actions, n), want, 5 * sqrt(want));
	}
	NEAR(ki_measure_acted(m, curve), all * (double)world.counters[actions] / n, all * 1e-6);
	assert_int_equal(ki_measure_hits(m, curve), 5 * (uint64_t)n);
	assert_int_equal(ki_measure_sample_to(m, curve, 0, NULL), 0);
	acts_in(curve, actions, 2 << 10); /* until the next action it is as before */
	assert_int_equal(acts_in(curve, actions, n), n);
	assert_int_equal(ki_measure_sample_to(m, plain, 1, NULL), -EINVAL);
	assert_int_equal(ki_measure_sample_to(m, curve, KI_RAREST + 1, NULL), -EINVAL);
	assert_true(ki_measure_acted(m, plain) == 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_a_call_costs),
		cmocka_unit_test(parts_rest),
		cmocka_unit_test(nobody_is_inside_what_has_gone),
		cmocka_unit_test(what_has_gone_has_had_its_time),
		cmocka_unit_test(who_stays_pays_for_the_jumps),
		cmocka_unit_test(actions_are_sampled),
	};

	return cmocka_run_group_tests(tests, NULL, unload);
}
