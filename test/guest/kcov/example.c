// SPDX-License-Identifier: GPL-2.0-only
/*
 * A client of KCOV as the kernel's documentation (dev-tools/kcov.rst, "Coverage collection") has
 * it: the same includes, constants and calls in the same order, and nothing that would know of
 * kerninst.
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

#define KCOV_TRACE_PC  0
#define KCOV_TRACE_CMP 1

static void must(int ok, const char *what)
{
	if (ok)
		return;
	perror(what);
	exit(1);
}

int main(void)
{
	unsigned long *cover, n;
	int fd = open("/sys/kernel/debug/kcov", O_RDWR);

	must(fd != -1, "open");
	must(!ioctl(fd, KCOV_INIT_TRACE, COVER_SIZE), "ioctl INIT_TRACE");
	cover = mmap(NULL, COVER_SIZE * sizeof(unsigned long), PROT_READ | PROT_WRITE, MAP_SHARED,
		     fd, 0);
	must(cover != MAP_FAILED, "mmap");
	must(!ioctl(fd, KCOV_ENABLE, KCOV_TRACE_PC), "ioctl ENABLE");
	__atomic_store_n(&cover[0], 0, __ATOMIC_RELAXED);
	read(-1, NULL, 0);
	n = __atomic_load_n(&cover[0], __ATOMIC_RELAXED);
	for (unsigned long i = 0; i < n; i++)
		printf("0x%lx\n", cover[i + 1]);
	must(!ioctl(fd, KCOV_DISABLE, 0), "ioctl DISABLE");
	must(!munmap(cover, COVER_SIZE * sizeof(unsigned long)), "munmap");
	must(!close(fd), "close");
	return 0;
}
