// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counters: per-CPU words that the driver hands out and this process maps.
 *
 * A sum over CPUs is not a snapshot: the CPUs go on counting while we add. It is never less than
 * what had been counted before the call and never more than what has been counted after it.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "kerninst/splice.h"
#include "target/process.h"

struct ki_counter_map {
	uint8_t *base;
	size_t len;
	uint64_t stride; /* bytes of one CPU's counters */
	unsigned int cpus;
};

int ki_counter_map_new(struct ki_target *t, struct ki_counter_map **out, struct ki_err *err)
{
	const struct ki_info *info = ki_target_info(t);
	struct ki_counter_map *m;
	void *base;

	if (!info)
		return ki_err_set(err, -EINVAL, 0, "counters: the target is not live");
	m = calloc(1, sizeof(*m));
	if (!m)
		return ki_err_set(err, -ENOMEM, 0, "counters: out of memory");
	m->stride = info->counter_bytes;
	m->cpus = info->cpus;
	m->len = m->stride * m->cpus;
	if (!m->len) { /* the machine has no counters: none can be taken */
		*out = m;
		return 0;
	}
	base = mmap(NULL, m->len, PROT_READ, MAP_SHARED, ki_target_fd(t), 0);
	if (base == MAP_FAILED) {
		int error = errno;

		free(m);
		return ki_err_set(err, -error, 0, "counters: mmap: %s", strerror(error));
	}
	m->base = base;
	*out = m;
	return 0;
}

void ki_counter_map_free(struct ki_counter_map *m)
{
	if (!m)
		return;
	if (m->base)
		munmap(m->base, m->len);
	free(m);
}

int ki_counters_take(struct ki_target *t, uint32_t count, uint32_t *first, struct ki_err *err)
{
	struct ki_counters req = {.size = sizeof(req), .count = count};
	int error;

	if (ki_target_kind(t) == KI_TARGET_PROCESS)
		return ki_process_counters(t, count, first, err);
	if (ioctl(ki_target_fd(t), KI_IOC_COUNTERS, &req) == 0) {
		*first = req.first;
		return 0;
	}
	error = errno;
	if (req.reason && req.reason < KI_R_COUNT)
		return ki_err_reason(err, req.reason, 0, "%u counters", count);
	return ki_err_set(err, -error, 0, "%u counters: %s", count, strerror(error));
}

uint64_t ki_counter_read_cpu(const struct ki_counter_map *m, uint32_t n, unsigned int cpu)
{
	const uint64_t *v;

	if (cpu >= m->cpus || n >= m->stride / sizeof(*v))
		return 0;
	v = (const uint64_t *)(const void *)(m->base + cpu * m->stride) + n;
	return __atomic_load_n(v, __ATOMIC_RELAXED);
}

uint64_t ki_counter_read(const struct ki_counter_map *m, uint32_t n)
{
	uint64_t sum = 0;

	for (unsigned int cpu = 0; cpu < m->cpus; cpu++)
		sum += ki_counter_read_cpu(m, n, cpu);
	return sum;
}
