// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client of KCOV as the kernel's documentation (dev-tools/kcov.rst, "Comparison operands
 * collection") has it: the same constants and calls in the same order, and nothing that would know
 * of kerninst. Only what it prints is for the tests: a line for each record, of its four words.
 */
#include <fcntl.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#define KCOV_INIT_TRACE _IOR('c', 1, unsigned long)
#define KCOV_ENABLE	_IO('c', 100)
#define KCOV_DISABLE	_IO('c', 101)
#define COVER_SIZE	(64 << 10)

#define KCOV_TRACE_CMP	   1
#define KCOV_WORDS_PER_CMP 4

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

int main(void)
{
	uint64_t *cover, ncmp;
	int fd = open("/sys/kernel/debug/kcov", O_RDWR);

	must(fd != -1, "open");
	must(!ioctl(fd, KCOV_INIT_TRACE, COVER_SIZE), "ioctl INIT_TRACE");
	cover = mmap(NULL, COVER_SIZE * sizeof(unsigned long), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	must(cover != MAP_FAILED, "mmap");
	must(!ioctl(fd, KCOV_ENABLE, KCOV_TRACE_CMP), "ioctl ENABLE");
	__atomic_store_n(&cover[0], 0, __ATOMIC_RELAXED);
	read(-1, NULL, 0);
	ncmp = __atomic_load_n(&cover[0], __ATOMIC_RELAXED);
	for (uint64_t i = 0; i < ncmp; i++) {
		const uint64_t *r = cover + i * KCOV_WORDS_PER_CMP + 1;

		printf("%llu 0x%llx 0x%llx 0x%llx\n", (unsigned long long)r[0],
		       (unsigned long long)r[1], (unsigned long long)r[2],
		       (unsigned long long)r[3]);
	}
	must(!ioctl(fd, KCOV_DISABLE, 0), "ioctl DISABLE");
	must(!munmap(cover, COVER_SIZE * sizeof(unsigned long)), "munmap");
	must(!close(fd), "close");
	return 0;
}
