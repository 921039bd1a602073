/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Something to be executed, with lines that are and lines that are not.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "prog.h"

static int collatz(unsigned long n)
{
	int steps = 0;

	while (n != 1) {
		if (odd(n))
			n = 3 * n + 1;
		else
			n /= 2;
		steps++;
	}
	return steps;
}

static const char *kind(int n)
{
	switch (n % 7) {
	case 0:
		return "zero";
	case 1:
		return "one";
	case 2:
		return "two";
	case 3:
		return "three";
	case 4:
		return "four";
	case 5:
		return "five";
	default:
		return "many";
	}
}

static int never(int n)
{
	if (odd((unsigned long)n))
		return n;
	return -n;
}

int main(int argc, char **argv)
{
	int limit = 5, sum = 0;

	if (argc > 1)
		limit = atoi(argv[1]);
	if (argc > 2)
		return never(argc);
	for (int i = 1; i < limit; i++) {
		int steps = collatz((unsigned long)i);

		if (steps > 100)
			sum++;
		else if (strlen(kind(i)) > 4)
			sum += 2;
		do {
			steps -= 10;
		} while (steps > 0);
	}
	printf("%d\n", sum);
	return 0;
}
