// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program whose functions have names: one of its own that nobody sees outside, and one of the C
 * library that it calls by its PLT, each 1,000 times for each line of its input.
 */
#include <stdio.h>
#include <stdlib.h>

#define NOINLINE __attribute__((noinline, noclone))

static NOINLINE long inner(long n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 3 + 1;
}

int main(void)
{
	char line[16], number[] = "7";

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		long sum = 0;

		for (int i = 0; i < 1000; i++)
			sum += inner(i) + strtol(number, NULL, 10);
		printf("%ld\n", sum);
		fflush(stdout);
	}
	return 0;
}
