// SPDX-License-Identifier: GPL-2.0-only
/*
 * What others have in the kernel: sessions of the driver that are not the daemon's. The driver
 * tells how many sessions and windows there are; whose they are is told by who has the device open.
 */
#include <ctype.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "live_inside.h"

#define DEVICE "/dev/kerninst"

/* One that two of the daemon's measurements are in counts twice. Those of D programs are not
   known. */
static size_t own_windows(const struct live *l)
{
	size_t n = 0;

	for (const struct client *c = l->engine->clients.first; c; c = c->next) {
		const struct owner *o = c->own;

		for (const struct batch *b = o ? o->batches : NULL; b; b = b->next)
			n += ki_plan_windows(ki_measure_plan(b->m));
	}
	return n;
}

static unsigned int count_open(const char *pid)
{
	char path[300], to[sizeof(DEVICE) + 1];
	unsigned int n = 0;
	struct dirent *e;
	DIR *d;

	snprintf(path, sizeof(path), "/proc/%.20s/fd", pid);
	d = opendir(path);
	while (d && (e = readdir(d))) {
		snprintf(path, sizeof(path), "/proc/%.20s/fd/%.20s", pid, e->d_name);
		n += readlink(path, to, sizeof(to)) == sizeof(DEVICE) - 1 &&
		     !memcmp(to, DEVICE, sizeof(DEVICE) - 1);
	}
	if (d)
		closedir(d);
	return n;
}

static void put_process(struct ki_json *j, const char *pid, unsigned int sessions)
{
	char path[64], comm[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%.20s/comm", pid);
	f = fopen(path, "re");
	if (f && fgets(comm, sizeof(comm), f))
		comm[strcspn(comm, "\n")] = 0;
	if (f)
		fclose(f);
	ki_json_open(j, NULL, '{');
	ki_json_u64(j, "pid", strtoull(pid, NULL, 10));
	ki_json_str(j, "comm", comm);
	ki_json_u64(j, "sessions", sessions);
	ki_json_close(j);
}

static void put_processes(struct ki_json *j)
{
	DIR *d = opendir("/proc");
	struct dirent *e;

	ki_json_open(j, "processes", '[');
	while (d && (e = readdir(d))) {
		unsigned int n = isdigit((unsigned char)*e->d_name) &&
						 strtol(e->d_name, NULL, 10) != getpid()
					 ? count_open(e->d_name)
					 : 0;

		if (n)
			put_process(j, e->d_name, n);
	}
	if (d)
		closedir(d);
	ki_json_close(j);
}

void live_put_others(struct live *l, const struct ki_info *info, struct ki_json *j)
{
	const unsigned int sessions = count_open("self");
	const size_t windows = own_windows(l);

	if (info->sessions <= sessions)
		return;
	ki_json_open(j, "others", '{');
	ki_json_u64(j, "sessions", info->sessions - sessions);
	ki_json_u64(j, "windows",
		    info->windows > windows && !l->engine->programs ? info->windows - windows : 0);
	put_processes(j);
	ki_json_close(j);
}
