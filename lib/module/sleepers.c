// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Does a task sleep in a module's code? The kernel unloads a module that nobody has a reference to,
 * and who sleeps in a function that only stood for another has none.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module/sleepers.h"

#define STACK 8192 /* bytes that a task's stack is told in: 64 frames */

/* The file of a task, as a string; false: there is none, or it may not be read. */
static bool read_of(const char *task, const char *file, char *buf, size_t size)
{
	char path[64];
	ssize_t n;
	int fd;

	snprintf(path, sizeof(path), "/proc/%s/%s", task, file);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	n = fd < 0 ? -1 : read(fd, buf, size - 1);
	if (fd >= 0)
		close(fd);
	buf[n > 0 ? n : 0] = 0;
	return n >= 0;
}

/* A line of a stack: "[<0>] msleep+0x2b/0x40", and [MODULE] after it. */
bool ki_module_on_stack(const char *stack, const char *module)
{
	const size_t n = strlen(module);

	for (const char *at = stack; (at = strstr(at, module)); at += n)
		if (at > stack && at[-1] == '[' && at[n] == ']')
			return true;
	return false;
}

static bool is_number(const char *s)
{
	return isdigit((unsigned char)*s);
}

/* Is it one of a process's threads? */
static bool one_sleeps(const char *pid, const char *module)
{
	char path[64], task[64], stack[STACK];
	bool sleeps = false;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%.16s/task", pid);
	d = opendir(path);
	while (d && !sleeps && (e = readdir(d))) {
		if (!is_number(e->d_name))
			continue;
		snprintf(task, sizeof(task), "%.16s/task/%.16s", pid, e->d_name);
		sleeps = read_of(task, "stack", stack, sizeof(stack)) &&
			 ki_module_on_stack(stack, module);
	}
	if (d)
		closedir(d);
	return sleeps;
}

int ki_module_sleeper(const char *module, struct ki_module_sleeper *out)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int found = 0;

	if (!d)
		return -errno;
	while (!found && (e = readdir(d))) {
		if (!is_number(e->d_name) || !one_sleeps(e->d_name, module))
			continue;
		found = 1;
		out->pid = atoi(e->d_name);
		read_of(e->d_name, "comm", out->comm, sizeof(out->comm));
		out->comm[strcspn(out->comm, "\n")] = 0;
	}
	closedir(d);
	return found;
}
