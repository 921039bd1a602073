/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* How the kinds of target are opened, for the functions of target.h (open.c). */
#ifndef KI_TARGET_KINDS_H
#define KI_TARGET_KINDS_H

#include "kerninst/target.h"

/* system_map: the file whose symbols are used; NULL: the target's own. */
int ki_image_open(const char *path, const char *system_map, struct ki_target **out,
		  struct ki_err *err);

/* Where the live kernel is found: a test puts its own driver and files here. */
struct ki_live_env {
	const char *device;
	const char *kallsyms;
	const char *modules; /* a file that is not there is no error */
	const char *kcore;
	const char *system_map;					/* or NULL */
	int (*ioctl)(int fd, unsigned long request, void *arg); /* 0 or -errno */
};

int ki_live_open(const struct ki_live_env *env, struct ki_target **out, struct ki_err *err);

#endif
