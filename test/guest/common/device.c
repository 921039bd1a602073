// SPDX-License-Identifier: GPL-2.0-only
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>

#include "common/common.h"

int device_open(void)
{
	int fd = open(KI_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0)
		die(KI_DEVICE, strerror(errno));
	return fd;
}

int map_errno(int fd, size_t len, int prot, int flags, uint64_t at)
{
	void *p = mmap(NULL, len, prot, flags, fd, (off_t)at);

	if (p == MAP_FAILED)
		return errno;
	munmap(p, len);
	return 0;
}
