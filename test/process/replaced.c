// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program of which functions are replaced: replaced THREADS CALLS. It prints "ready", and waits
 * for a line. Then each of so many threads calls one() CALLS times by each of three direct calls,
 * one jump and one pointer; it prints what their results are on the average, one number for each
 * caller, and how many wrong ones a thread has seen that calls all the time; whether getppid() is
 * getpid(); and waits for another line. It ends at the end of its input.
 *
 * one, two and three return 1, 2 and 3. brief is a single byte with code right after it.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone, noipa))
#define CALLERS	 5

static unsigned long calls;
static atomic_ulong sums[CALLERS], wrong;

NOINLINE unsigned long one(unsigned long n)
{
	volatile unsigned long kept = n;

	return kept - n + 1;
}

NOINLINE unsigned long two(unsigned long n)
{
	volatile unsigned long kept = n;

	return kept - n + 2;
}

NOINLINE unsigned long three(unsigned long n)
{
	volatile unsigned long kept = n;

	return kept - n + 3;
}

NOINLINE int same(void)
{
	return 4711;
}

void brief(void);
void brief_too(void);
__asm__(".text\n.globl brief, brief_too\n"
	".type brief, @function\nbrief: ret\n.size brief, 1\n"
	".type brief_too, @function\nbrief_too: ret\n.size brief_too, 1\n.p2align 4\n");

NOINLINE unsigned long first(unsigned long n)
{
	return one(n) + n;
}

NOINLINE unsigned long second(unsigned long n)
{
	return one(n) + one(n + 1) + n;
}

NOINLINE unsigned long tail(unsigned long n)
{
	return one(n ^ 1);
}

static unsigned long (*volatile pointer)(unsigned long) = one;

static unsigned long by(int caller, unsigned long n)
{
	switch (caller) {
	case 0:
		return first(n) - n;
	case 1:
		return second(n) - n;
	case 2:
		return tail(n);
	case 3:
		return pointer(n);
	default:
		brief();
		brief_too();
		return (unsigned long)(getppid() == getpid() || getppid() == same());
	}
}

static void *work(void *arg)
{
	for (int c = 0; c < CALLERS; c++) {
		unsigned long sum = 0;

		for (unsigned long i = 0; i < calls; i++)
			sum += by(c, i);
		atomic_fetch_add(&sums[c], sum);
	}
	return arg;
}

/* All the time: each call is one of the three. */
static void *watch(void *arg)
{
	for (unsigned long n = 0;; n++)
		for (int c = 0; c < 4; c++) {
			const unsigned long r = by(c, n), many = c == 1 ? 2 : 1;

			if (r < many || r > 3 * many)
				atomic_fetch_add(&wrong, 1);
		}
	return arg;
}

int main(int argc, char **argv)
{
	const int n = argc > 1 ? atoi(argv[1]) : 1;
	pthread_t threads[64], watcher;
	char line[16];

	calls = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	pthread_create(&watcher, NULL, watch, NULL);
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		for (int i = 0; i < n; i++)
			pthread_create(&threads[i], NULL, work, NULL);
		for (int i = 0; i < n; i++)
			pthread_join(threads[i], NULL);
		for (int c = 0; c < CALLERS; c++)
			printf("%g ", (double)atomic_exchange(&sums[c], 0) / (double)calls / n);
		printf("wrong %lu\n", atomic_exchange(&wrong, 0));
		fflush(stdout);
	}
	return 0;
}
