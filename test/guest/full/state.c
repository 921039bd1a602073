// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the driver says of itself.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "full/full.h"

static const uint64_t *counters; /* of all CPUs; the mapping would keep a session open */
static uint64_t per_cpu;
static uint32_t cpus;

double now_s(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

struct ki_info state_info(void)
{
	struct ki_info info = {.size = sizeof(info)};
	int fd = device_open();

	if (ioctl(fd, KI_IOC_INFO, &info))
		die("info", strerror(errno));
	close(fd);
	return info;
}

void state_open(void)
{
	struct ki_info info = state_info();
	int fd = device_open();

	cpus = info.cpus;
	per_cpu = info.counter_bytes / sizeof(*counters);
	counters = mmap(NULL, cpus * info.counter_bytes, PROT_READ, MAP_SHARED, fd, 0);
	if (counters == MAP_FAILED)
		die("counters", strerror(errno));
	close(fd);
}

uint64_t state_count(uint32_t counter)
{
	uint64_t sum = 0;

	for (uint32_t c = 0; c < cpus; c++)
		sum += __atomic_load_n(&counters[c * per_cpu + counter], __ATOMIC_RELAXED);
	return sum;
}

void state_held(uint32_t n[KI_HELD_KINDS], struct ki_held *last)
{
	struct ki_held h = {.size = sizeof(h)};
	int fd = device_open();

	memset(n, 0, KI_HELD_KINDS * sizeof(*n));
	for (uint64_t i = 0; !ioctl(fd, KI_IOC_HELD, &h); i++) {
		if (h.kind >= KI_HELD_KINDS || h.index != i)
			die("held", "a row of no kind, or another one's");
		n[h.kind]++;
		if (last)
			*last = h;
		h = (struct ki_held){.size = sizeof(h), .index = i + 1};
	}
	if (errno != ENOENT)
		die("held", strerror(errno));
	close(fd);
}

uint32_t state_muted(void)
{
	uint32_t n[KI_HELD_KINDS];

	state_held(n, NULL);
	return n[KI_HELD_MUTED];
}

double state_until(bool (*is)(void *arg), void *arg, double most)
{
	double from = now_s();

	while (!is(arg)) {
		if (now_s() - from > most)
			return -1;
		usleep(5000);
	}
	return now_s() - from;
}
