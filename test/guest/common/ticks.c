// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <unistd.h>
#include <x86intrin.h>

#include "common/common.h"

#define RUNS   9
#define READS  (TICKS_READS / RUNS)
#define ROUNDS 4000

static int by_value(const void *a, const void *b)
{
	const uint64_t *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

double ticks_median(void (*run)(void *arg), void *arg, unsigned int n)
{
	uint64_t ticks[RUNS];

	for (int i = 0; i < RUNS; i++) {
		ticks[i] = __rdtsc();
		run(arg);
		ticks[i] = __rdtsc() - ticks[i];
	}
	qsort(ticks, RUNS, sizeof(*ticks), by_value);
	return (double)ticks[RUNS / 2] / n;
}

static void read_bytes(void *fd)
{
	char byte;

	for (int i = 0; i < READS; i++)
		if (read(*(const int *)fd, &byte, 1) != 1)
			die("read", "there is nothing");
}

double ticks_read(int fd)
{
	return ticks_median(read_bytes, &fd, READS);
}

/* ---- switches ---- */

static int there[2], back[2];

static void hand_on(int from, int to)
{
	char byte;

	if (read(from, &byte, 1) != 1 || write(to, &byte, 1) != 1)
		_exit(0);
}

void switches_begin(void)
{
	if (pipe(there) || pipe(back))
		die("pipe", "none can be made");
	if (!fork()) {
		close(there[1]);
		for (;;)
			hand_on(there[0], back[1]);
	}
	if (write(there[1], "!", 1) != 1)
		die("pipe", "it cannot be written");
	ticks_switch();
}

static void go_round(void *unused)
{
	(void)unused;
	for (int i = 0; i < ROUNDS; i++)
		hand_on(back[0], there[1]);
}

double ticks_switch(void)
{
	return ticks_median(go_round, NULL, 2 * ROUNDS);
}

void switches_end(void)
{
	close(there[1]);
}
