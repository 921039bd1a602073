/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much slower than at its best does a task get on now? The real machine may not let the virtual
 * CPUs run, and the guest's clock goes on; and a test's load takes its share of them. What is timed
 * must not take either for its own: a session that is closed is closed by a task like others. So a
 * loop is timed by the clock, long enough for others to have their turns.
 */
#ifndef TEST_SLOW_H
#define TEST_SLOW_H

#include <time.h>

#define SLOW_LOOPS 1000000 /* 5 ms or so, emulated */
#define SLOW_TURNS 8

static inline double slow_loop(void)
{
	struct timespec from, to;

	clock_gettime(CLOCK_MONOTONIC, &from);
	for (volatile unsigned int i = 0; i < SLOW_LOOPS; i++)
		;
	clock_gettime(CLOCK_MONOTONIC, &to);
	return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* The best of many. */
static inline double slow_best(void)
{
	double best = slow_loop(), now;

	for (int i = 0; i < 200; i++)
		if ((now = slow_loop()) < best)
			best = now;
	return best;
}

/* 1, or so much slower than at its best, which may be better now. */
static inline double slow_now(double *best)
{
	double sum = 0;

	for (int i = 0; i < SLOW_TURNS; i++) {
		double now = slow_loop();

		if (now < *best)
			*best = now;
		sum += now;
	}
	return sum / SLOW_TURNS / *best;
}

#endif
