// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Global variables: words that the driver hands out and this process maps.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>

#include "kerninst/splice.h"
#include "target/process.h"

struct ki_global_map {
	const uint64_t *v;
	uint32_t n;
};

int ki_globals_take(struct ki_target *t, uint32_t count, uint32_t *first, struct ki_err *err)
{
	struct ki_globals req = {.size = sizeof(req), .count = count};
	int error;

	if (ki_target_kind(t) == KI_TARGET_PROCESS)
		return ki_process_counters(t, count, first, err);
	if (ioctl(ki_target_fd(t), KI_IOC_GLOBALS, &req) == 0) {
		*first = req.first;
		return 0;
	}
	error = errno;
	if (req.reason && req.reason < KI_R_COUNT)
		return ki_err_reason(err, req.reason, 0, "%u global variables", count);
	return ki_err_set(err, -error, 0, "%u global variables: %s", count, strerror(error));
}

int ki_global_set(struct ki_target *t, uint32_t n, uint64_t value, struct ki_err *err)
{
	struct ki_global req = {.size = sizeof(req), .number = n, .value = value};
	int error;

	if (ioctl(ki_target_fd(t), KI_IOC_GLOBAL, &req) == 0)
		return 0;
	error = errno;
	return ki_err_set(err, -error, 0, "global variable %u: %s", n, strerror(error));
}

int ki_global_map_new(struct ki_target *t, struct ki_global_map **out, struct ki_err *err)
{
	const struct ki_info *info = ki_target_info(t);
	struct ki_global_map *m;
	void *base;
	int error;

	if (!info)
		return ki_err_set(err, -EINVAL, 0, "global variables: the target is not live");
	m = calloc(1, sizeof(*m));
	if (!m)
		return ki_err_set(err, -ENOMEM, 0, "global variables: out of memory");
	m->n = info->globals;
	base = mmap(NULL, m->n * sizeof(*m->v), PROT_READ, MAP_SHARED, ki_target_fd(t),
		    KI_MAP_GLOBALS);
	if (base == MAP_FAILED) {
		error = errno;
		free(m);
		return ki_err_set(err, -error, 0, "global variables: mmap: %s", strerror(error));
	}
	m->v = base;
	*out = m;
	return 0;
}

void ki_global_map_free(struct ki_global_map *m)
{
	if (!m)
		return;
	munmap((void *)(uintptr_t)m->v, m->n * sizeof(*m->v));
	free(m);
}

uint64_t ki_global_read(const struct ki_global_map *m, uint32_t n)
{
	return n < m->n ? __atomic_load_n(&m->v[n], __ATOMIC_RELAXED) : 0;
}
