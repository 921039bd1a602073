// SPDX-License-Identifier: GPL-2.0-only
/*
 * load N [own [futex]]: N reads of one byte of /dev/zero, after which "ten bytes." stands, and one
 * write to /dev/null for each 1,000; futex: each wakes nobody from a futex, instead; prints how
 * many nanoseconds they took (CLOCK_MONOTONIC; own: of this thread alone). Under -icount these are
 * instructions, of whoever executed them, or of this thread.
 */
#include <fcntl.h>
#include <linux/futex.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static long long now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

/* With frames of its own, of which stacks are told, as deep as that. */
__attribute__((noinline, optimize("no-omit-frame-pointer", "no-optimize-sibling-calls"))) static int
reads(long n, int deep)
{
	char bytes[] = "?ten bytes.";
	int in, out;

	if (deep)
		return reads(n, deep - 1);
	in = open("/dev/zero", O_RDONLY);
	out = open("/dev/null", O_WRONLY);
	for (long i = 0; i < n; i++) {
		if (read(in, bytes, 1) != 1)
			return 1;
		if (i % 1000 == 999 && write(out, bytes, 1) != 1)
			return 1;
	}
	return 0;
}

static int wakes(long n)
{
	static int word;

	for (long i = 0; i < n; i++)
		if (syscall(SYS_futex, &word, FUTEX_WAKE_PRIVATE, 1, NULL, NULL, 0))
			return 1;
	return 0;
}

int main(int argc, char **argv)
{
	long n = argc >= 2 ? atol(argv[1]) : 0;
	clockid_t clock = argc >= 3 ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
	long long from = now(clock);

	if (argc >= 4 ? wakes(n) : reads(n, 4))
		return 1;
	printf("%lld\n", now(clock) - from);
	return n <= 0;
}
