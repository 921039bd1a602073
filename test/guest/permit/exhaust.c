// SPDX-License-Identifier: GPL-2.0-only
/*
 * One descriptor that takes all that it is given, in a control group with little memory; and what
 * another one outside of the group notices of that.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "permit/permit.h"

#define TIMES 4096u /* no kind may be had as often */
#define DELAY 100   /* milliseconds, at most, for which another one is late */

#define TAKE(name, type, number, ...)                                                              \
	static int name(int fd)                                                                    \
	{                                                                                          \
		struct type r = {.size = sizeof(r), __VA_ARGS__};                                  \
                                                                                                   \
		return ioctl(fd, number, &r) ? errno : 0;                                          \
	}

TAKE(take_tables, ki_table_request, KI_IOC_TABLE, .flags = KI_TABLE_SHARED, .keys = 1, .values = 2,
     .rows = 1u << 17)
TAKE(take_ring, ki_ring, KI_IOC_RING, .pages = 4096)
TAKE(take_stacks, ki_stacks, KI_IOC_STACKS, .rows = 1u << 15, .frames = 62)
TAKE(take_texts, ki_texts, KI_IOC_TEXTS, .most = 4096, .rows = 65536, .heap = 64u << 20)
TAKE(take_words, ki_words, KI_IOC_WORDS, .count = 64)
TAKE(take_globals, ki_globals, KI_IOC_GLOBALS, .count = 512)
TAKE(take_counters, ki_counters, KI_IOC_COUNTERS, .count = 512)

static const struct {
	const char *name;
	int (*take)(int fd);
} kinds[] = {
	{"globals", take_globals}, {"counters", take_counters}, {"words", take_words},
	{"ring", take_ring},	   {"stacks", take_stacks},	{"texts", take_texts},
	{"tables", take_tables},
};

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

/* Another session opens, counts, and ends; milliseconds. */
static double work(void)
{
	double begin = now();
	int fd = device_open();

	if (take_counters(fd) || take_globals(fd))
		die("another session", strerror(errno));
	close(fd);
	return now() - begin;
}

static void enter(const char *group)
{
	char path[256];
	FILE *f;

	snprintf(path, sizeof(path), "%s/cgroup.procs", group);
	f = fopen(path, "w");
	if (!f || fprintf(f, "%d\n", getpid()) < 0 || fclose(f))
		die(path, strerror(errno));
}

/* The driver's limits are not for who has CAP_SYS_RESOURCE. */
static void be_limited(void)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, data))
		die("capget", strerror(errno));
	data[0].effective &= ~(1u << CAP_SYS_RESOURCE);
	if (syscall(SYS_capset, &head, data))
		die("capset", strerror(errno));
}

/* All of each kind; the number that were refused for the group's memory. */
static unsigned int take_all(int fd)
{
	unsigned int refused = 0;

	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
		unsigned int n = 0;
		int error = 0;

		while (n < TIMES && !(error = kinds[i].take(fd)))
			n++;
		refused += error == ENOMEM;
		printf("# %s: %u, then %s\n", kinds[i].name, n,
		       error ? strerror(error) : "nothing");
		if (n == TIMES)
			die(kinds[i].name, "there is no end");
	}
	return refused;
}

/* Told by `begin` to look, it says by its status whether it was late. */
static pid_t neighbour(const int begin[2], double alone)
{
	pid_t pid = fork();
	double took;
	char c;

	if (pid)
		return pid;
	close(begin[1]);
	if (read(begin[0], &c, 1) != 1)
		_exit(2);
	took = work();
	printf("# another session's work took %.1f ms, before that %.1f\n", took, alone);
	fflush(stdout);
	_exit(took - alone > DELAY);
}

int exhaust(const char *group)
{
	int begin[2], fd, status = -1;
	unsigned int refused;
	double alone;
	pid_t other;
	long most, used;

	setvbuf(stdout, NULL, _IOLBF, 0);
	work();
	alone = work();
	if (pipe(begin))
		die("pipe", strerror(errno));
	other = neighbour(begin, alone);
	enter(group);
	be_limited();
	fd = device_open();
	refused = take_all(fd);
	most = group_value(group, "memory.max", "");
	used = group_value(group, "memory.current", "");
	report("it is refused what the group has no memory for", refused && used <= most,
	       "%u kinds refused, %ld of %ld KiB", refused, used >> 10, most >> 10);
	if (write(begin[1], "", 1) != 1)
		die("write", strerror(errno));
	waitpid(other, &status, 0);
	report("others do not notice", !status, "status %d", status);
	report("nobody was killed", !group_value(group, "memory.events", "oom_kill "), "%ld were",
	       group_value(group, "memory.events", "oom_kill "));
	close(fd);
	for (int i = 0; i < 600 && group_value(group, "memory.current", "") > most / 8; i++)
		usleep(100000);
	used = group_value(group, "memory.current", "");
	report("all of it is given back", used <= most / 8, "%ld KiB are left", used >> 10);
	return report_status();
}
