// SPDX-License-Identifier: GPL-2.0-only
/*
 * A process beside the fuzzer, that ends it if no call ends for so long, and says where each of its
 * threads is in the kernel then. The kernel's log says so too, as one may not end even when killed.
 */
#include <dirent.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

#include "fuzz.h"

#define PATIENCE 180 /* seconds; the last check waits 120 for patches to be freed */

static void show_file(const char *dir, const char *tid, const char *name)
{
	char path[600], line[200];
	FILE *f;

	snprintf(path, sizeof(path), "%s/%s/%s", dir, tid, name);
	f = fopen(path, "r");
	if (!f)
		return;
	while (fgets(line, sizeof(line), f))
		printf("ioctl_fuzz: thread %s: %s: %s%s", tid, name, line,
		       strchr(line, '\n') ? "" : "\n");
	fclose(f);
}

static void show_threads(const char *pid)
{
	static const char *const files[] = {"wchan", "syscall", "stack"};
	const struct dirent *e;
	char dir[280];
	unsigned int i;
	DIR *d;

	snprintf(dir, sizeof(dir), "/proc/%s/task", pid);
	d = opendir(dir);
	while (d && (e = readdir(d)))
		for (i = 0; e->d_name[0] != '.' && i < sizeof(files) / sizeof(*files); i++)
			show_file(dir, e->d_name, files[i]);
	if (d)
		closedir(d);
}

static bool is_fuzzer(const char *pid)
{
	char path[300], name[32] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%s/comm", pid);
	f = fopen(path, "r");
	if (!f)
		return false;
	if (!fgets(name, sizeof(name), f))
		name[0] = 0;
	fclose(f);
	return !strcmp(name, "ioctl_fuzz\n");
}

static void show_all(void)
{
	DIR *d = opendir("/proc");
	const struct dirent *e;

	while (d && (e = readdir(d)))
		if (atoi(e->d_name) > 0 && is_fuzzer(e->d_name))
			show_threads(e->d_name);
	if (d)
		closedir(d);
}

static void tell_kernel(const char *file, const char *text)
{
	FILE *f = fopen(file, "w");

	if (!f)
		return;
	fputs(text, f);
	fclose(f);
}

void watch_begin(unsigned long (*progress)(void))
{
	unsigned long last = 0;
	unsigned int idle;

	if (fork())
		return;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	for (idle = 0; idle < PATIENCE; idle++) {
		sleep(1);
		if (progress() != last)
			idle = 0;
		last = progress();
	}
	wrong("no call ended for %u seconds, after %lu calls", PATIENCE, last);
	tell_kernel("/dev/kmsg", "<2>ioctl_fuzz: no call ends\n");
	tell_kernel("/proc/sysrq-trigger", "l"); /* what the CPUs do */
	tell_kernel("/proc/sysrq-trigger", "w"); /* who is blocked */
	show_all();
	fflush(stdout);
	kill(getppid(), SIGKILL);
	_exit(1);
}
