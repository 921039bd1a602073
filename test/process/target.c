// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program to be measured: target THREADS CALLS [HZ]. It waits for a line; then each of so many
 * threads, or with 0 its only one, calls step() CALLS times and leap() for each fourth; it prints
 * what came of it, and waits for another line; it ends at the end of its input. With HZ, a signal
 * comes that often in a second of CPU time, and is handled for a third of it.
 */
#include <pthread.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))

static unsigned long calls;

/* Blocks of all kinds: a switch, a loop, calls, conditions on flags that live on. */
NOINLINE unsigned long leap(unsigned long n)
{
	unsigned long sum = 0;

	switch (n & 7) {
	case 0:
		sum = n * 3;
		break;
	case 1:
		sum = n ^ 0x55;
		break;
	case 2:
		for (unsigned long i = 0; i < (n & 15); i++)
			sum += i * n;
		break;
	case 3:
		sum = (unsigned long)(getppid() > 0);
		break;
	case 4:
		sum = n > 100 ? n - 100 : n < 50 ? 1 : 2;
		break;
	case 5:
		return n;
	default:
		sum = n / 3;
		break;
	}
	return sum + 1;
}

/* A leaf that keeps something below its stack pointer, while it decides. */
NOINLINE unsigned long step(unsigned long n)
{
	volatile unsigned long kept = n * 5;

	kept += 7ul * (n % 3 == 0);
	return kept + (n % 7 < 3);
}

static void *work(void *arg)
{
	unsigned long *sum = arg;
	sigset_t all;

	sigfillset(&all);
	pthread_sigmask(SIG_UNBLOCK, &all, NULL);
	for (unsigned long i = 0; i < calls; i++) {
		*sum += step(i);
		if (i % 4 == 0)
			*sum += leap(i / 4);
	}
	return NULL;
}

static void handle(int sig)
{
	(void)sig;
	for (volatile int i = 0; i < 1000000; i++)
		;
}

static void dwell(int sig)
{
	(void)sig;
	usleep(1500000);
}

/* Of all threads only those that work. */
static void interrupt(long hz)
{
	sigset_t all;

	const struct itimerval often = {{0, 1000000 / hz}, {0, 1000000 / hz}};

	sigfillset(&all);
	pthread_sigmask(SIG_BLOCK, &all, NULL);
	signal(SIGPROF, handle);
	setitimer(ITIMER_PROF, &often, NULL);
}

int main(int argc, char **argv)
{
	int n = argc > 1 ? atoi(argv[1]) : 1;
	unsigned long sums[64];
	pthread_t threads[64];
	char line[16];

	calls = argc > 2 ? strtoul(argv[2], NULL, 10) : 1000;
	signal(SIGUSR1, dwell);
	if (argc > 3)
		interrupt(atol(argv[3]));
	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		unsigned long sum;

		sums[0] = 0;
		if (!n)
			work(&sums[0]);
		for (int i = 0; i < n; i++) {
			sums[i] = 0;
			pthread_create(&threads[i], NULL, work, &sums[i]);
		}
		sum = n ? 0 : sums[0];
		for (int i = 0; i < n; i++) {
			pthread_join(threads[i], NULL);
			sum += sums[i];
		}
		printf("%lu\n", sum);
		fflush(stdout);
	}
	return 0;
}
