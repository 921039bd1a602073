// SPDX-License-Identifier: GPL-2.0-only
/*
 * Calls of KCOV's file, in any order, by any thread: some files are shared, and forgotten open,
 * mapped, and with a task that is traced.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdatomic.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <linux/kcov.h>

#include "fuzz.h"

#define FILES 4
#define AREA  (1u << 16) /* words, at most; what is asked for beyond that must be refused */

static atomic_int files[FILES] = {-1, -1, -1, -1};

static unsigned long some_size(struct rng *r)
{
	const unsigned long sizes[] = {0, 1, 2, 3, 512, 513, AREA, INT_MAX / 8 + 1ul, ULONG_MAX};

	return sizes[rng_below(r, sizeof(sizes) / sizeof(*sizes))];
}

static long init(int fd, struct rng *r)
{
	unsigned long size = some_size(r);
	long ret = ioctl(fd, KCOV_INIT_TRACE, size);

	if (!ret && (size < 2 || size > AREA))
		wrong("an area of %lu words was allowed", size);
	return ret;
}

static long map(int fd, struct rng *r)
{
	size_t len = some_size(r) * 8;
	uint64_t *p =
		mmap(NULL, len, PROT_READ | PROT_WRITE, rng_one_in(r, 4) ? MAP_PRIVATE : MAP_SHARED,
		     fd, rng_one_in(r, 4) ? 4096 : 0);

	if (p == MAP_FAILED)
		return -1;
	p[0] = rng_one_in(r, 2) ? 0 : rng_next(r);
	p[len / 8 - 1] = 1;
	return munmap(p, len);
}

long kcov_call(struct rng *r)
{
	atomic_int *file = &files[rng_below(r, FILES)];
	int fd = *file;

	switch (rng_below(r, 8)) {
	case 0:
		return init(fd, r);
	case 1:
	case 2:
		return ioctl(fd, KCOV_ENABLE, rng_below(r, 3));
	case 3:
	case 4:
		return ioctl(fd, KCOV_DISABLE, rng_one_in(r, 8));
	case 5:
		return map(fd, r);
	case 6:
		return ioctl(fd, _IOC(rng_below(r, 4), 'c', rng_below(r, 256), 8), 0);
	default:
		fd = atomic_exchange(file, open("/sys/kernel/debug/kcov", O_RDWR | O_CLOEXEC));
		return fd < 0 ? 0 : close(fd);
	}
}
