/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* Opening targets: the public functions, and where a real kernel is found. */
#include <errno.h>
#include <sys/ioctl.h>

#include "target/kinds.h"

static int system_ioctl(int fd, unsigned long request, void *arg)
{
	return ioctl(fd, request, arg) < 0 ? -errno : 0;
}

static const struct ki_live_env system_env = {
	.device = KI_DEVICE,
	.kallsyms = "/proc/kallsyms",
	.modules = "/proc/modules",
	.kcore = "/proc/kcore",
	.ioctl = system_ioctl,
};

int ki_target_new_live(struct ki_target **out, struct ki_err *err)
{
	return ki_live_open(&system_env, out, err);
}

int ki_target_new_image(const char *path, struct ki_target **out, struct ki_err *err)
{
	return ki_image_open(path, NULL, out, err);
}

int ki_target_new_with_map(const char *path, const char *system_map, struct ki_target **out,
			   struct ki_err *err)
{
	struct ki_live_env env = system_env;

	env.system_map = system_map;
	return path ? ki_image_open(path, system_map, out, err) : ki_live_open(&env, out, err);
}
