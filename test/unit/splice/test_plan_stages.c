// SPDX-License-Identifier: GPL-2.0-only
/*
 * Stages and bundles of plans, against a driver that is played by fake_driver.h: in which order
 * things are put in and taken out, and what a refusal takes with it. A chunk's order says which it
 * is.
 *
 * promise: F14: What is put in together goes in together, or none of it does. [test_plan.c,
 *   memory.sh]
 */
#include "plan_fixture.h"

#define BASE	UINT64_C(0xffffffff81000000)
#define WINDOWS 40

static uint8_t bytes[WINDOWS * 5 + 1];

/* mov $,%eax over and over: a window each. */
static void load_windows(void)
{
	for (unsigned int i = 0; i < WINDOWS; i++)
		memcpy(bytes + i * 5, "\xb8\x01\x02\x03\x04", 5);
	bytes[WINDOWS * 5] = 0xc3;
	load(BASE, bytes, sizeof(bytes), KI_TARGET_LIVE);
}

static uint32_t add(unsigned int window, uint16_t order)
{
	struct ki_err err = {0};
	uint32_t id;

	if (ki_plan_add(plan,
			&(struct ki_insertion){
				fn, &spans, &(struct ki_place){.addr = BASE + 5 * window}, order},
			&code, &id, &err))
		fail_msg("%s", err.msg);
	return id;
}

static void logged_is(const int *want, size_t n)
{
	assert_int_equal(drv.nlog, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(drv.log[i], want[i]);
	drv.nlog = 0;
}

#define LOGGED(...)                                                                                \
	logged_is((const int[]){__VA_ARGS__}, sizeof((const int[]){__VA_ARGS__}) / sizeof(int))

static void apply(bool drop)
{
	struct ki_err err = {0};

	if (ki_plan_apply_fd(plan, FD, drop, &err))
		fail_msg("%s", err.msg);
}

static void a_stage_waits_for_the_one_before(void **state)
{
	(void)state;
	load_windows();
	ki_plan_stage(plan, 2);
	add(1, 20);
	add(0, 21);
	ki_plan_stage(plan, 0);
	add(3, 1);
	add(1, 2);
	ki_plan_stage(plan, 1);
	add(2, 10);
	apply(false);
	LOGGED(2, 1, 10, 21, 20);
	assert_int_equal(drv.dry_runs, 1);
	assert_int_equal(drv.splices, 3);
	assert_int_equal(ki_plan_remove_fd(plan, FD, NULL), 0);
	LOGGED(-21, -20, -10, -2, -1);
	assert_int_equal(drv.unsplices, 3);
	apply(true);
	LOGGED(2, 1, 10, 21, 20);
}

/* Windows 0 and 1: a bundle; 2: nobody's; 3: a bundle that needs the first; 4: one that does not.
 */
static uint32_t ids[6];

static void load_bundles(void)
{
	uint32_t first, other;

	load_windows();
	assert_int_equal(ki_plan_bundle_begin(plan, &first), 0);
	ids[0] = add(0, 1);
	ki_plan_stage(plan, 1);
	ids[1] = add(1, 2);
	ki_plan_bundle_end(plan);
	ids[2] = add(2, 3);
	assert_int_equal(ki_plan_bundle_begin(plan, &other), 0);
	assert_int_equal(ki_plan_bundle_need(plan, other, first), 0);
	ki_plan_stage(plan, 0);
	ids[3] = add(3, 4);
	ki_plan_bundle_end(plan);
	assert_int_equal(ki_plan_bundle_begin(plan, &other), 0);
	ids[4] = add(4, 5);
	ki_plan_bundle_end(plan);
}

static void refusals_are(const unsigned int *want)
{
	for (unsigned int i = 0; i < 5; i++)
		assert_int_equal(ki_plan_refusal(plan, ids[i]), want[i]);
}

#define REFUSED(...) refusals_are((const unsigned int[]){__VA_ARGS__})
#define E	     KI_R_WINDOW_ENTERED

static void a_bundle_goes_with_what_is_refused_of_it(void **state)
{
	(void)state;
	load_bundles();
	drv.bad_window = BASE + 5;
	apply(true);
	/* its first part, and who needs it, stood already, and are taken out again */
	LOGGED(1, 4, 5, 3, -1, -4);
	REFUSED(E, E, 0, E, 0);
	assert_int_equal(drv.installed, 2);
	/* tried again without the refusal: what is missing comes */
	drv.bad_window = 0;
	apply(true);
	LOGGED(1, 4, 2);
	REFUSED(0, 0, 0, 0, 0);
	assert_int_equal(ki_plan_remove_fd(plan, FD, NULL), 0);
	assert_int_equal(drv.installed, 0);
}

static void what_is_refused_early_is_not_asked_for_late(void **state)
{
	(void)state;
	load_bundles();
	drv.bad_window = BASE;
	apply(true);
	LOGGED(5, 3);
	REFUSED(E, E, 0, E, 0);
}

static void others_do_not_mind(void **state)
{
	(void)state;
	load_bundles();
	drv.bad_window = BASE + 15; /* who needs the first */
	apply(true);
	LOGGED(1, 5, 2, 3);
	REFUSED(0, 0, 0, E, 0);
}

static void settle(void)
{
	struct ki_err err = {0};

	if (ki_plan_update_fd(plan, FD, &err))
		fail_msg("%s", err.msg);
}

/* A part of a bundle rests, and is refused when it comes back: the parts that stayed go too. */
static void what_comes_back_may_be_refused(void **state)
{
	(void)state;
	load_bundles();
	apply(true);
	LOGGED(1, 4, 5, 2, 3);
	ki_plan_pause(plan, ids[1], true);
	settle();
	LOGGED(-2);
	ki_plan_pause(plan, ids[1], false);
	drv.bad_window = BASE + 5;
	settle();
	LOGGED(-1, -4);
	REFUSED(E, E, 0, E, 0);
	drv.bad_window = 0;
	settle(); /* what was refused is not asked for again */
	assert_int_equal(drv.nlog, 0);
	assert_int_equal(drv.installed, 2);
}

static void nothing_stays_if_nothing_may_be_dropped(void **state)
{
	struct ki_err err = {0};

	(void)state;
	load_bundles();
	drv.bad_window = BASE + 5;
	assert_int_equal(ki_plan_apply_fd(plan, FD, false, &err), -EBUSY);
	assert_int_equal(err.reason, E);
	assert_int_equal(drv.splices, 0);
	/* no refusal, but the last stage fails */
	drv.bad_window = 0;
	drv.splice_fails = 2;
	drv.error = ENOMEM;
	ki_err_clear(&err);
	assert_int_equal(ki_plan_apply_fd(plan, FD, true, &err), -ENOMEM);
	LOGGED(1, 4, 5, -1, -4, -5);
	assert_int_equal(drv.installed, 0);
}

static void left_out_is_left_out(void **state)
{
	(void)state;
	load_bundles();
	ki_plan_leave_out(plan, 0, KI_R_BAD_REQUEST);
	for (int i = 0; i < 2; i++) {
		apply(i);
		LOGGED(5, 3);
		REFUSED(KI_R_BAD_REQUEST, KI_R_BAD_REQUEST, 0, KI_R_BAD_REQUEST, 0);
		assert_int_equal(ki_plan_remove_fd(plan, FD, NULL), 0);
		drv.nlog = 0;
	}
}

/* In small batches, so that a bundle lies in several. */
static void bundles_larger_than_a_request(void **state)
{
	uint32_t b;

	(void)state;
	load_windows();
	ki_plan_batch(plan, 2);
	for (unsigned int i = 0; i < 4; i++) {
		assert_int_equal(ki_plan_bundle_begin(plan, &b), 0);
		for (unsigned int k = 0; k < 10; k++)
			add(4 * k + i, (uint16_t)(i + 1));
		ki_plan_bundle_end(plan);
	}
	drv.bad_window = BASE + 5 * (4 * 7 + 2); /* the eighth of the third */
	apply(true);
	assert_int_equal(drv.installed, 30);
	for (uint32_t id = 0; id < 40; id++)
		assert_int_equal(ki_plan_refusal(plan, id), id / 10 == 2 ? E : KI_R_OK);
	assert_int_equal(ki_plan_remove_fd(plan, FD, NULL), 0);
	assert_int_equal(drv.installed, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_stage_waits_for_the_one_before),
		cmocka_unit_test(a_bundle_goes_with_what_is_refused_of_it),
		cmocka_unit_test(what_is_refused_early_is_not_asked_for_late),
		cmocka_unit_test(others_do_not_mind),
		cmocka_unit_test(what_comes_back_may_be_refused),
		cmocka_unit_test(nothing_stays_if_nothing_may_be_dropped),
		cmocka_unit_test(left_out_is_left_out),
		cmocka_unit_test(bundles_larger_than_a_request),
	};

	return cmocka_run_group_tests(tests, NULL, unload);
}
