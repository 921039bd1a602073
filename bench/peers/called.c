// SPDX-License-Identifier: GPL-2.0-only
/*
 * A function that is called all the time, and what a call takes: the least of some rounds, in ns.
 * Its first instruction has the five bytes that a fast tracepoint of gdb's needs.
 */
#include <stdio.h>
#include <time.h>

#define CALLS  100000
#define ROUNDS 5

static __attribute__((noinline, noclone)) unsigned long hit(unsigned long n)
{
	__asm__ volatile("lea 0x1000(%0), %0" : "+r"(n));
	return n * 3 + 1;
}

static double now_ns(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (double)ts.tv_sec * 1e9 + (double)ts.tv_nsec;
}

int main(void)
{
	double least = 1e9;
	unsigned long n = 0;

	for (int r = 0; r < ROUNDS; r++) {
		double ns = now_ns();

		for (int i = 0; i < CALLS; i++)
			n = hit(n);
		ns = (now_ns() - ns) / CALLS;
		least = ns < least ? ns : least;
	}
	__asm__ volatile("" : : "r"(n));
	printf("%.2f\n", least);
	fflush(stdout);
	return 0;
}
