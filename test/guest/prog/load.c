// SPDX-License-Identifier: GPL-2.0-only
/*
 * load N [own]: N reads of one byte of /dev/zero, and one write to /dev/null for each 1,000; prints
 * how many nanoseconds they took (CLOCK_MONOTONIC; own: of this thread alone). Under -icount these
 * are instructions, of whoever executed them, or of this thread.
 */
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static long long now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

int main(int argc, char **argv)
{
	long n = argc >= 2 ? atol(argv[1]) : 0;
	clockid_t clock = argc == 3 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
	int in = open("/dev/zero", O_RDONLY), out = open("/dev/null", O_WRONLY);
	long long from = now(clock);
	char byte;

	for (long i = 0; i < n; i++) {
		if (read(in, &byte, 1) != 1)
			return 1;
		if (i % 1000 == 999 && write(out, &byte, 1) != 1)
			return 1;
	}
	printf("%lld\n", now(clock) - from);
	return n <= 0;
}
