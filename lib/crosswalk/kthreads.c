// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/* Threads of the kernel's own (jbd2, kswapd, ...), by what the scheduler says of them. */
#include <dirent.h>
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "crosswalk/async.h"

#define OF_KERNEL 0x00200000 /* PF_KTHREAD, of /proc/PID/stat's flags */

static bool read_file(int tid, const char *name, char *text, size_t size)
{
	char path[64];
	size_t n = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/%s", tid, name);
	f = fopen(path, "re");
	if (f) {
		n = fread(text, 1, size - 1, f);
		fclose(f);
	}
	text[n] = '\0';
	return n > 0;
}

/* "2 (kthreadd) S 0 0 0 0 -1 FLAGS ..." */
static bool is_kernel(int tid, char *name, size_t size)
{
	char text[1024], *open, *end;
	unsigned int flags;

	if (!read_file(tid, "stat", text, sizeof(text)))
		return false;
	open = strchr(text, '(');
	end = strrchr(text, ')');
	if (!open || !end || sscanf(end + 1, " %*c %*d %*d %*d %*d %*d %u", &flags) != 1)
		return false;
	snprintf(name, size, "%.*s", (int)(end - open - 1), open + 1);
	return flags & OF_KERNEL;
}

static bool is_known_better(const char *name)
{
	return !strncmp(name, "kworker/", 8) || !strncmp(name, "ksoftirqd/", 10);
}

static int add_thread(struct ki_kthreads *t, int tid)
{
	struct ki_kthread one = {.tid = tid};
	char text[128];

	if (!is_kernel(tid, one.name, sizeof(one.name)) || is_known_better(one.name) ||
	    !read_file(tid, "schedstat", text, sizeof(text)))
		return 0;
	one.ran = strtoull(text, NULL, 10);
	return ki_vec_push(t, one);
}

int ki_kthreads_read(struct ki_kthreads *t)
{
	const struct dirent *e;
	DIR *d = opendir("/proc");
	int ret = 0;

	*t = (struct ki_kthreads){0};
	while (d && !ret && (e = readdir(d)))
		if (*e->d_name >= '1' && *e->d_name <= '9')
			ret = add_thread(t, atoi(e->d_name));
	if (d)
		closedir(d);
	return ret;
}

void ki_kthreads_free(struct ki_kthreads *t)
{
	ki_vec_free(t);
}

static uint64_t ran_before(const struct ki_kthreads *before, const struct ki_kthread *t)
{
	for (size_t i = 0; i < before->n; i++)
		if (before->v[i].tid == t->tid && before->v[i].ran <= t->ran)
			return before->v[i].ran;
	return 0;
}

int ki_kthreads_add(struct ki_crosswalk *w, const struct ki_kthreads *before, double seconds)
{
	struct ki_kthreads now;
	int ret = ki_kthreads_read(&now);

	for (size_t i = 0; !ret && i < now.n; i++) {
		const uint64_t ran = now.v[i].ran - ran_before(before, &now.v[i]);

		ret = ki_crosswalk_async_add(
			w,
			&(struct ki_crosswalk_elsewhere){.kind = KI_CROSSWALK_THREAD,
							 .share = (double)ran / 1e9 / seconds},
			now.v[i].name, "kernel");
	}
	ki_kthreads_free(&now);
	return ret;
}
