// SPDX-License-Identifier: GPL-2.0-only
/*
 * meter: for how long is the CPU held? A thread before which all others must give way sleeps for
 * PERIOD nanoseconds, again and again, and looks how much later than it asked for it runs. Until
 * SIGTERM; then it prints the latest, in nanoseconds, and how often it slept.
 *
 * Whoever holds the CPU for longer than PERIOD makes it late by that, but for PERIOD at most: so
 * what it prints and PERIOD together are a bound. It counts what waking up takes, too.
 */
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

#define PERIOD	20000
#define BILLION 1000000000

static volatile sig_atomic_t over;

static void on_term(int sig)
{
	over = sig;
}

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return t.tv_sec * (uint64_t)BILLION + t.tv_nsec;
}

/* How much too late it is over. */
static uint64_t sleep_once(void)
{
	uint64_t end = now() + PERIOD, late;
	struct timespec t = {end / BILLION, end % BILLION};

	if (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL))
		return 0; /* the signal */
	late = now() - end;
	return late;
}

int main(void)
{
	const struct sched_param first = {.sched_priority = 99};
	uint64_t latest = 0, at = 0, begin = now();
	unsigned long n = 0;

	signal(SIGTERM, on_term);
	if (sched_setscheduler(0, SCHED_FIFO, &first) || mlockall(MCL_CURRENT | MCL_FUTURE)) {
		perror("meter");
		return 2;
	}
	for (; !over; n++) {
		uint64_t late = sleep_once();

		if (late > latest) {
			latest = late;
			at = now() - begin;
		}
	}
	printf("%llu %d %lu %llu\n", (unsigned long long)latest, PERIOD, n, (unsigned long long)at);
	return 0;
}
