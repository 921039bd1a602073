// SPDX-License-Identifier: GPL-2.0-only
/* Steps: nothing before the start, all threads' afterwards, none lost. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <pthread.h>

#include "util/steps.h"

#define THREADS 8
#define EACH	10000

static void *work(void *unused)
{
	for (int i = 0; i < EACH; i++) {
		uint64_t begun = ki_step_begin();

		ki_step_end(KI_STEP_PARSE, begun, 3);
	}
	return unused;
}

static void all_work(void)
{
	pthread_t threads[THREADS];

	for (int i = 0; i < THREADS; i++)
		assert_int_equal(pthread_create(&threads[i], NULL, work, NULL), 0);
	for (int i = 0; i < THREADS; i++)
		pthread_join(threads[i], NULL);
}

static void test_steps_count(void **state)
{
	uint64_t begun;

	(void)state;
	all_work();
	assert_int_equal(ki_steps_told(KI_STEP_PARSE).times, 0);
	assert_int_equal(ki_step_begin(), 0);
	ki_steps_start();
	all_work();
	assert_int_equal(ki_steps_told(KI_STEP_PARSE).times, THREADS * EACH);
	assert_int_equal(ki_steps_told(KI_STEP_PARSE).count, 3 * THREADS * EACH);
	assert_int_equal(ki_steps_told(KI_STEP_WRITE).times, 0);
	begun = ki_step_begin();
	errno = ENOSPC;
	ki_step_end(KI_STEP_WRITE, begun - 5000000, 1);
	assert_int_equal(errno, ENOSPC);
	assert_true(ki_steps_told(KI_STEP_WRITE).ns >= 5000000);
}

static void test_each_step_has_words(void **state)
{
	(void)state;
	for (int i = 0; i < KI_STEPS; i++) {
		assert_non_null(ki_steps_told((enum ki_step)i).did);
		assert_non_null(ki_steps_told((enum ki_step)i).things);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_each_step_has_words),
		cmocka_unit_test(test_steps_count),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
