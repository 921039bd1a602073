// SPDX-License-Identifier: GPL-2.0-only
/*
 * The test of differences, held against tables of Student's distribution, closed forms of it, and
 * what R says of its own example data.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <math.h>

#include "util/welch.h"

#define CLOSE(got, wanted, most) assert_true(fabs((got) - (wanted)) <= (most))

/* As printed tables have them: how far 95 % and 99 % of all values lie, by degrees of freedom. */
static void table(void **state)
{
	static const struct {
		double degrees, t95, t99;
	} rows[] = {
		{1, 12.706, 63.657}, {2, 4.303, 9.925},	 {3, 3.182, 5.841},  {4, 2.776, 4.604},
		{5, 2.571, 4.032},   {7, 2.365, 3.499},	 {10, 2.228, 3.169}, {15, 2.131, 2.947},
		{20, 2.086, 2.845},  {30, 2.042, 2.750}, {60, 2.000, 2.660}, {120, 1.980, 2.617},
		{1e5, 1.960, 2.576},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		CLOSE(ki_student_quantile(0.975, rows[i].degrees), rows[i].t95, 0.0006);
		CLOSE(ki_student_quantile(0.995, rows[i].degrees), rows[i].t99, 0.0006);
		CLOSE(ki_student_quantile(0.025, rows[i].degrees), -rows[i].t95, 0.0006);
	}
}

/* 1, 2 and infinitely many degrees of freedom have closed forms. */
static void closed(void **state)
{
	const double pi = acos(-1);

	(void)state;
	for (double t = -30; t <= 30; t += 0.25) {
		CLOSE(ki_student_cdf(t, 1), 0.5 + atan(t) / pi, 1e-12);
		CLOSE(ki_student_cdf(t, 2), 0.5 + t / (2 * sqrt(2 + t * t)), 1e-12);
		CLOSE(ki_student_cdf(t, 3),
		      0.5 + (t / (sqrt(3) * (1 + t * t / 3)) + atan(t / sqrt(3))) / pi, 1e-12);
		CLOSE(ki_student_cdf(t, 1e5), erfc(-t / sqrt(2)) / 2, 1e-5);
	}
	for (double degrees = 1; degrees < 5000; degrees *= 1.7)
		for (double p = 0.001; p < 1; p += 0.037)
			CLOSE(ki_student_cdf(ki_student_quantile(p, degrees), degrees), p, 1e-9);
}

/*
 * R: t.test(extra ~ group, data = sleep) prints t = -1.8608, df = 17.776, p-value = 0.07939, and
 * -3.3654832 to 0.2054832.
 */
static void sleepers(void **state)
{
	static const double one[] = {0.7, -1.6, -0.2, -1.2, -0.1, 3.4, 3.7, 0.8, 0.0, 2.0};
	static const double two[] = {1.9, 0.8, 1.1, 0.1, -0.1, 4.4, 5.5, 1.6, 4.6, 3.4};
	struct ki_comparison c;
	struct ki_sample a, b;

	(void)state;
	ki_sample_of(one, 10, &a);
	ki_sample_of(two, 10, &b);
	CLOSE(a.mean, 0.75, 1e-9);
	CLOSE(b.mean, 2.33, 1e-9);
	CLOSE(a.min, -1.6, 0);
	CLOSE(b.max, 5.5, 0);
	ki_sample_compare(&b, &a, 0.95, &c);
	CLOSE(c.t, -1.8608, 0.00005);
	CLOSE(c.degrees, 17.776, 0.0005);
	CLOSE(c.p, 0.07939, 0.000005);
	CLOSE(c.low, -3.3654832, 5e-8);
	CLOSE(c.high, 0.2054832, 5e-8);
}

/* Samples without any variance, as exact counts are, and of which one has none. */
static void exact(void **state)
{
	static const double same[] = {5, 5, 5}, more[] = {8, 8}, spread[] = {4, 5, 6};
	struct ki_comparison c;
	struct ki_sample a, b, d;

	(void)state;
	ki_sample_of(same, 3, &a);
	ki_sample_of(more, 2, &b);
	ki_sample_of(spread, 3, &d);
	CLOSE(ki_sample_error(&d), 1 / sqrt(3), 1e-12);
	ki_sample_compare(&a, &a, 0.95, &c);
	assert_true(c.p > 0.999 && c.low >= 0 && c.high <= 0);
	ki_sample_compare(&a, &b, 0.95, &c);
	assert_true(c.p <= 0 && isinf(c.t) && c.low >= 3 && c.high <= 3);
	ki_sample_compare(&a, &d, 0.95, &c);
	CLOSE(c.degrees, 2, 1e-12);
	CLOSE(c.high, 4.303 / sqrt(3), 0.001);
	assert_true(c.p > 0.999);
}

/* Of pairs of samples of one population, 5 in 100 must seem to differ, at 95 %: no more, no less.
 */
static void errors(void **state)
{
	unsigned int seemed = 0, of = 4000;
	uint64_t seed = 88172645463325252ull;
	double v[2][8];

	(void)state;
	for (unsigned int i = 0; i < of; i++) {
		struct ki_comparison c;
		struct ki_sample s[2];

		for (size_t k = 0; k < 16; k++) {
			v[k / 8][k % 8] = 0;
			for (int n = 0; n < 12; n++) {
				seed ^= seed << 13;
				seed ^= seed >> 7;
				seed ^= seed << 17;
				v[k / 8][k % 8] += (double)(seed >> 11);
			}
		}
		ki_sample_of(v[0], 8, &s[0]);
		ki_sample_of(v[1], 8, &s[1]);
		ki_sample_compare(&s[0], &s[1], 0.95, &c);
		seemed += c.p < 0.05;
		assert_int_equal(c.p<0.05, c.low> 0 || c.high < 0);
	}
	assert_in_range(seemed, of * 40 / 1000, of * 60 / 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(table), cmocka_unit_test(closed), cmocka_unit_test(sleepers),
		cmocka_unit_test(exact), cmocka_unit_test(errors),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
