/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What programs share that ask the driver for things in processes, right and wrong ones, and say
 * of each answer whether it is the one they wanted.
 */
#ifndef KI_TEST_ASK_H
#define KI_TEST_ASK_H

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/types.h>

#include "uapi/kerninst.h"

#define PAGE 4096ull

static int failures;

static void is(const char *name, int got, int wanted)
{
	printf("%s %s\n", got == wanted ? "ok" : "not ok", name);
	if (got != wanted)
		printf("# %d, not %d\n", got, wanted);
	failures += got != wanted;
	fflush(stdout);
}

/* What it is refused with: -errno * 1000 - reason; or 0. */
static int say(int ret, uint32_t reason)
{
	return ret ? -errno * 1000 - (int)reason : 0;
}

#define WITH(error, reason) (-(error)*1000 - (reason))

static int session(void)
{
	int fd = open(KI_DEVICE, O_RDWR | O_CLOEXEC);

	if (fd < 0) {
		perror(KI_DEVICE);
		exit(1);
	}
	return fd;
}

static inline int begin(int fd, pid_t pid)
{
	struct ki_process_open req = {.size = sizeof(req), .pid = pid};
	int ret = ioctl(fd, KI_IOC_PROCESS, &req);

	return say(ret, req.reason);
}

#endif
