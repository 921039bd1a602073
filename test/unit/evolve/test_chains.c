// SPDX-License-Identifier: GPL-2.0-only
/*
 * Orders of functions: callees stand after who calls them most, hot chains first, and each function
 * once, whatever calls whom.
 * promise: E5: A group of functions stands in the order in which control goes, hot chains first.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "common_random.h"
#include "evolve/order.h"

#define MOST 40

static void order_is(const struct ki_lay_function *f, uint32_t n, struct ki_lay_call *calls,
		     size_t ncalls, const uint32_t *wanted)
{
	uint32_t order[MOST];

	assert_int_equal(ki_lay_chain(f, n, calls, ncalls, order), 0);
	assert_memory_equal(order, wanted, n * sizeof(*order));
}

static void who_calls_most(void **state)
{
	static const struct ki_lay_function f[] = {{100, 1000}, {100, 5000}, {100, 2000}, {100, 0}};
	/* 0 calls 1 twice, together more often than 2 does; 3 is called by nobody. */
	struct ki_lay_call calls[] = {{0, 1, 6}, {2, 1, 10}, {0, 1, 5}, {1, 2, 1}, {2, 2, 99}};

	(void)state;
	order_is(f, 4, calls, 5, (const uint32_t[]){0, 1, 2, 3});
}

static void hot_chains_first(void **state)
{
	static const struct ki_lay_function f[] = {{50, 50}, {50, 100}, {50, 5000}, {50, 10}};
	struct ki_lay_call calls[] = {{0, 1, 2}, {3, 2, 100}};

	(void)state;
	order_is(f, 4, calls, 2, (const uint32_t[]){3, 2, 0, 1});
}

static void no_longer_than_a_page(void **state)
{
	static const struct ki_lay_function f[] = {{3000, 30}, {3000, 60000}, {1096, 20000}};
	struct ki_lay_call calls[] = {{0, 1, 10}, {1, 2, 10}};

	(void)state;
	/* 0 and 1 are too long together; 1 and 2 fill a page. */
	order_is(f, 3, calls, 2, (const uint32_t[]){1, 2, 0});
}

static void each_once(void **state)
{
	(void)state;
	for (int round = 0; round < 2000; round++) {
		struct ki_lay_function f[MOST];
		struct ki_lay_call calls[3 * MOST];
		uint32_t n = random_below(MOST + 1), order[MOST], seen[MOST] = {0};
		size_t ncalls = n ? random_below(3 * n) : 0;

		for (uint32_t i = 0; i < n; i++)
			f[i] = (struct ki_lay_function){random_below(2000), random_below(100000)};
		for (size_t i = 0; i < ncalls; i++)
			calls[i] = (struct ki_lay_call){random_below(n), random_below(n),
							random_below(1000)};
		assert_int_equal(ki_lay_chain(f, n, calls, ncalls, order), 0);
		for (uint32_t i = 0; i < n; i++) {
			assert_true(order[i] < n);
			assert_int_equal(seen[order[i]]++, 0);
		}
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(who_calls_most),
		cmocka_unit_test(hot_chains_first),
		cmocka_unit_test(no_longer_than_a_page),
		cmocka_unit_test(each_once),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
