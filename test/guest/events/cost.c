// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a switch between threads costs more for each event that is counted for threads, and nothing
 * for others: two processes hand a byte to and fro. With -icount a tick of the time stamp counter
 * is an instruction.
 */
#include "events.h"

#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>
#include <x86intrin.h>

#define ROUNDS 4000
#define RUNS   9

static int there[2], back[2];

static void hand_on(int from, int to)
{
	char byte;

	if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
		_exit(0);
}

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Ticks of a switch: of some runs the median. */
static double measure(void)
{
	uint64_t ticks[RUNS];

	for (int i = 0; i < RUNS; i++) {
		ticks[i] = __rdtsc();
		for (int k = 0; k < ROUNDS; k++)
			hand_on(back[0], there[1]);
		ticks[i] = __rdtsc() - ticks[i];
	}
	qsort(ticks, RUNS, sizeof(*ticks), by_value);
	return (double)ticks[RUNS / 2] / (2 * ROUNDS);
}

static double measure_with(unsigned int events, uint32_t flags)
{
	struct ki_target *t;
	struct ki_err err = {0};
	uint32_t number, reason, first;
	double cost;

	if (ki_target_open_live(&t, &err) || ki_words_take(t, 1, &first, &err))
		die("words");
	while (events--)
		if (ask(ki_target_fd(t), PERF_TYPE_SOFTWARE, PERF_COUNT_SW_PAGE_FAULTS, flags,
			&number, &reason))
			die("event");
	measure();
	cost = measure();
	ki_target_close(t);
	usleep(1000000);
	return cost;
}

void test_cost(void)
{
	double none, others, one, four;

	if (pipe(there) || pipe(back))
		die("pipe");
	if (!fork()) {
		close(there[1]);
		for (;;)
			hand_on(there[0], back[1]);
	}
	if (write(there[1], "!", 1) != 1)
		die("pipe");
	measure();
	none = measure_with(0, 0);
	others = measure_with(4, 0);
	one = measure_with(1, KI_EVENT_OWN);
	four = measure_with(4, KI_EVENT_OWN);
	close(there[1]);
	report("a switch pays for what is counted for threads, and for nothing else",
	       others < none + 1 && none < others + 1 && one > none && one < none + 200 &&
		       four - none > 2 * (one - none) && four - none < 4 * (one - none) + 40,
	       "%.1f ticks with words, %.1f more with 4 events that are not, %.1f with 1 that is, %.1f with 4",
	       none, others - none, one - none, four - none);
}
