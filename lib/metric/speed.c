// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/speed.h"

#include <time.h>

#define ROUNDS	  100000
#define PER_ROUND 5
#define TRIES	  7

static void busy(unsigned long rounds)
{
	static unsigned long word;

	__asm__ volatile("1:	incq %1\n"
			 "	jmp 2f\n"
			 "2:	jmp 3f\n"
			 "3:	dec %0\n"
			 "	jnz 1b\n"
			 : "+r"(rounds), "+m"(word)
			 :
			 : "cc");
}

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

double ki_cpu_speed(void)
{
	double best = 0;

	for (int i = 0; i < TRIES; i++) {
		double from = now(), taken;

		busy(ROUNDS);
		taken = now() - from;
		if (taken > 0 && ROUNDS * PER_ROUND / taken > best)
			best = ROUNDS * PER_ROUND / taken;
	}
	return best > 0 ? best : 1e9;
}
