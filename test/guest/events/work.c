// SPDX-License-Identifier: GPL-2.0-only
#include "events.h"

#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#define THREADS 64

static int zero;
static unsigned int amount;

static void open_zero(void)
{
	zero = open("/dev/zero", O_RDONLY | O_CLOEXEC);
	if (zero < 0)
		die("/dev/zero", strerror(errno));
}

static void run(void *(*body)(void *), unsigned int threads)
{
	pthread_t t[THREADS];

	for (unsigned int i = 0; i < threads && i < THREADS; i++)
		if (pthread_create(&t[i], NULL, body, NULL))
			die("pthread_create", strerror(errno));
	for (unsigned int i = 0; i < threads && i < THREADS; i++)
		pthread_join(t[i], NULL);
}

/* New memory, small pages: the kernel takes a fault for each when it writes there. */
static void *fault(void *unused)
{
	size_t len = (size_t)amount * PAGE;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED || madvise(p, len, MADV_NOHUGEPAGE))
		die("memory", strerror(errno));
	for (size_t at = 0; at < len; at += 16ul * PAGE)
		if (read(zero, p + at, 16ul * PAGE) != (ssize_t)(16 * PAGE))
			die("read", strerror(errno));
	munmap(p, len);
	return unused;
}

void work_faults(unsigned int pages, unsigned int threads)
{
	open_zero();
	amount = pages;
	run(fault, threads);
}

void work_sleeps(unsigned int times)
{
	const struct timespec ts = {.tv_nsec = 3000000};

	while (times--)
		clock_nanosleep(CLOCK_MONOTONIC, 0, &ts, NULL);
}

void work_moves(unsigned int times)
{
	cpu_set_t set;

	for (unsigned int i = 0; i <= times; i++) {
		CPU_ZERO(&set);
		CPU_SET(i % 2, &set);
		if (sched_setaffinity(0, sizeof(set), &set))
			die("sched_setaffinity", strerror(errno));
	}
}

static double thread_ms(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_THREAD_CPUTIME_ID, &ts);
	return (double)ts.tv_sec * 1e3 + (double)ts.tv_nsec / 1e6;
}

static void *burn(void *unused)
{
	static char buf[1 << 20];

	while (thread_ms() < amount)
		if (read(zero, buf, sizeof(buf)) != sizeof(buf))
			die("read", strerror(errno));
	return unused;
}

void work_burn(unsigned int ms, unsigned int threads)
{
	open_zero();
	amount = ms;
	run(burn, threads);
}
