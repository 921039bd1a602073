// SPDX-License-Identifier: GPL-2.0-only
/*
 * What a switch between threads costs more while words are in use: two processes hand a byte to
 * and fro. With -icount a tick of the time stamp counter is an instruction. Lines
 * that begin with # are for bench/switches.sh.
 */
#include "words.h"

#include <stdio.h>
#include <x86intrin.h>

static double measure_with(uint32_t words)
{
	struct ki_target *t;
	struct ki_err err = {0};
	uint32_t first;
	double cost;

	if (ki_target_new_live(&t, &err) || ki_words_take(t, words, &first, &err))
		hand_die("words", &err);
	ticks_switch();
	cost = ticks_switch();
	ki_target_free(t);
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

	if (ki_target_new_live(&t, &err) || ki_words_take(t, 1000, &first, &err))
		hand_die("words", &err);
	for (int i = 0; i < 2; i++) {
		ticks = __rdtsc();
		if (ki_words_inside(t, &(struct ki_words_run){KI_CLOCK_THREAD, first, 1000}, rows,
				    &now, &err))
			hand_die("inside", &err);
		ticks = __rdtsc() - ticks;
	}
	printf("# look %llu\n", (unsigned long long)ticks);
	ki_target_free(t);
	sleep_ms(1000);
}

void test_cost(void)
{
	double without, one, thousand, again;

	switches_begin();
	without = ticks_switch();
	one = measure_with(1);
	thousand = measure_with(1000);
	again = ticks_switch();
	switches_end();
	report("a switch costs the same for any number of words",
	       one > without + 10 && one < without + 200 && thousand < one + 1 &&
		       one < thousand + 1 && again < without + 1,
	       "%.1f ticks without, %.1f with one, %.1f with 1000, %.1f without again: %.1f more",
	       without, one, thousand, again, one - without);
	printf("# without %.1f\n# one %.1f\n# thousand %.1f\n", without, one, thousand);
	look_at_all();
}
