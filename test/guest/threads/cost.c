// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a switch between threads costs more while words are in use: two processes hand a byte to
 * and fro. With -icount a tick of the time stamp counter is an instruction. Lines
 * that begin with # are for bench/switches.sh.
 */
#include "words.h"

#include <stdio.h>
#include <stdlib.h>
#include <sys/wait.h>
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

static double measure_with(uint32_t words)
{
	struct ki_target *t;
	struct ki_err err = {0};
	uint32_t first;
	double cost;

	if (ki_target_open_live(&t, &err) || ki_words_take(t, words, &first, &err))
		hand_die("words", &err);
	measure();
	cost = measure();
	ki_target_close(t);
	sleep_ms(1000);
	return cost;
}

static void look_at_all(void)
{
	static struct ki_inside_row rows[1000];
	struct ki_target *t;
	struct ki_err err = {0};
	uint32_t first;
	uint64_t now, ticks;

	if (ki_target_open_live(&t, &err) || ki_words_take(t, 1000, &first, &err))
		hand_die("words", &err);
	for (int i = 0; i < 2; i++) {
		ticks = __rdtsc();
		if (ki_words_inside(t, KI_CLOCK_THREAD, first, 1000, rows, &now, &err))
			hand_die("inside", &err);
		ticks = __rdtsc() - ticks;
	}
	printf("# look %llu\n", (unsigned long long)ticks);
	ki_target_close(t);
	sleep_ms(1000);
}

void test_cost(void)
{
	double without, one, thousand, again;

	if (pipe(there) || pipe(back))
		hand_die("pipe", NULL);
	if (!fork()) {
		close(there[1]);
		for (;;)
			hand_on(there[0], back[1]);
	}
	if (write(there[1], "!", 1) != 1)
		hand_die("pipe", NULL);
	measure();
	without = measure();
	one = measure_with(1);
	thousand = measure_with(1000);
	again = measure();
	close(there[1]);
	report("a switch costs the same for any number of words",
	       one > without + 10 && one < without + 200 && thousand < one + 1 &&
		       one < thousand + 1 && again < without + 1,
	       "%.1f ticks without, %.1f with one, %.1f with 1000, %.1f without again: %.1f more",
	       without, one, thousand, again, one - without);
	printf("# without %.1f\n# one %.1f\n# thousand %.1f\n", without, one, thousand);
	look_at_all();
}
