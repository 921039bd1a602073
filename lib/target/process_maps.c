/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "target/process_maps.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

static int add_string(struct ki_mappings *all, const char *s, uint32_t *off)
{
	size_t len = strlen(s) + 1;

	if (ki_vec_reserve(&all->strings, len))
		return -ENOMEM;
	*off = (uint32_t)all->strings.n;
	memcpy(all->strings.v + all->strings.n, s, len);
	all->strings.n += len;
	return 0;
}

/* start-end perms offset major:minor inode   path */
static int add_line(struct ki_mappings *all, char *line)
{
	struct ki_mapping m = {0};
	char perms[5];
	int path = 0;

	line[strcspn(line, "\n")] = 0;
	if (sscanf(line, "%" SCNx64 "-%" SCNx64 " %4s %" SCNx64 " %*x:%*x %" SCNu64 " %n", &m.start,
		   &m.end, perms, &m.off, &m.inode, &path) < 5)
		return -EINVAL;
	m.readable = perms[0] == 'r';
	m.executable = perms[2] == 'x';
	if (add_string(all, path ? line + path : "", &m.path))
		return -ENOMEM;
	return ki_vec_push(&all->m, m);
}

int ki_mappings_read(struct ki_mappings *out, pid_t pid)
{
	char name[40], *line = NULL;
	size_t room = 0;
	int ret = 0;
	FILE *f;

	*out = (struct ki_mappings){0};
	snprintf(name, sizeof(name), "/proc/%d/maps", pid);
	f = fopen(name, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	while (!ret && getline(&line, &room, f) > 0)
		ret = add_line(out, line);
	if (!ret && ferror(f))
		ret = -EIO;
	free(line);
	fclose(f);
	return ret;
}

void ki_mappings_free(struct ki_mappings *m)
{
	ki_vec_free(&m->m);
	ki_vec_free(&m->strings);
}

int ki_process_status(pid_t pid, const char *name, char *value, size_t len)
{
	char path[40], line[256];
	size_t n = strlen(name);
	int ret = -ENOENT;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/status", pid);
	f = fopen(path, "re");
	if (!f)
		return errno == ENOENT ? -ESRCH : -errno;
	while (ret && fgets(line, sizeof(line), f)) {
		if (strncmp(line, name, n) || line[n] != ':')
			continue;
		line[strcspn(line, "\n")] = 0;
		snprintf(value, len, "%s", line + n + 1 + strspn(line + n + 1, " \t"));
		ret = 0;
	}
	fclose(f);
	return ret;
}
