/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * How much slower than at its best is this machine now? A virtual CPU that does not get the real
 * one stands still, and the guest's clock goes on: what is timed must not take that for its own. So
 * a loop is timed by the thread's own clock, which other tasks of the guest are not in.
 */
#ifndef TEST_SLOW_H
#define TEST_SLOW_H

#include <time.h>

#define SLOW_LOOPS 1000000

static inline double slow_loop(void)
{
	struct timespec from, to;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &from);
	for (volatile unsigned int i = 0; i < SLOW_LOOPS; i++)
		;
	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &to);
	return (double)(to.tv_sec - from.tv_sec) + (double)(to.tv_nsec - from.tv_nsec) / 1e9;
}

/* The best of many. */
static inline double slow_best(void)
{
	double best = slow_loop(), now;

	for (int i = 0; i < 100; i++)
		if ((now = slow_loop()) < best)
			best = now;
	return best;
}

/* 1, or so much slower than at its best, which may be better now. */
static inline double slow_now(double *best)
{
	double now = slow_loop();

	if (now < *best)
		*best = now;
	return now / *best;
}

#endif
