// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Names that this machine gives to numbers. A control group's number is that of its directory.
 */
#include <errno.h>
#include <pwd.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/vfs.h>

#include "predicate/predicate.h"

#define CGROUP2_MAGIC 0x63677270
#define PASSWD_MAX    (1u << 20)

int ki_host_user(const char *name, uint64_t *out)
{
	struct passwd pw, *found = NULL;
	int ret = ERANGE;

	for (size_t size = 1024; ret == ERANGE && size <= PASSWD_MAX; size *= 4) {
		char *room = malloc(size);

		if (!room)
			return -ENOMEM;
		ret = getpwnam_r(name, &pw, room, size, &found);
		if (found)
			*out = pw.pw_uid;
		free(room);
	}
	return found ? 0 : -ENOENT;
}

/* Where the unified hierarchy is mounted. */
static const char *mount_point(void)
{
	static const char *const usual[] = {"/sys/fs/cgroup", "/sys/fs/cgroup/unified"};
	struct statfs fs;

	for (size_t i = 0; i < 2; i++)
		if (!statfs(usual[i], &fs) && fs.f_type == CGROUP2_MAGIC)
			return usual[i];
	return NULL;
}

int ki_host_cgroup(const char *path, uint64_t *out)
{
	const char *mount = mount_point();
	struct stat st;
	char *full;
	int ret;

	if (!mount || *path != '/')
		return -ENOENT;
	if (asprintf(&full, "%s%s", mount, path) < 0)
		return -ENOMEM;
	ret = stat(full, &st);
	free(full);
	if (ret || !S_ISDIR(st.st_mode))
		return -ENOENT;
	*out = st.st_ino;
	return 0;
}
