/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_TARGET_LIVE_H
#define KI_TARGET_LIVE_H

#include "target/priv.h"

/* Where the live kernel is found: a test puts its own driver and symbols here. */
struct ki_live_env {
	const char *device;
	const char *kallsyms;
	int (*ioctl)(int fd, unsigned long request, void *arg); /* 0 or -errno */
};

int ki_live_open(const struct ki_live_env *env, struct ki_target **out, struct ki_err *err);

#endif
