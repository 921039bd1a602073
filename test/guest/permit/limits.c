// SPDX-License-Identifier: GPL-2.0-only
/*
 * One of each at a time, until there is no more for a session, and then for its user; and what that
 * takes of the memory of the control group.
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/perf_event.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "permit/permit.h"

static int take_counter(int fd, unsigned int *reason)
{
	struct ki_counters r = {.size = sizeof(r), .count = 1};
	int ret = ioctl(fd, KI_IOC_COUNTERS, &r);

	*reason = r.reason;
	return ret;
}

static int take_global(int fd, unsigned int *reason)
{
	struct ki_globals r = {.size = sizeof(r), .count = 1};
	int ret = ioctl(fd, KI_IOC_GLOBALS, &r);

	*reason = r.reason;
	return ret;
}

static int take_word(int fd, unsigned int *reason)
{
	struct ki_words r = {.size = sizeof(r), .count = 1};
	int ret = ioctl(fd, KI_IOC_WORDS, &r);

	*reason = r.reason;
	return ret;
}

static int take_rows(int fd, unsigned int rows, unsigned int *reason)
{
	struct ki_table_request r = {
		.size = sizeof(r), .flags = KI_TABLE_SHARED, .keys = 1, .values = 2, .rows = rows};
	int ret = ioctl(fd, KI_IOC_TABLE, &r);

	*reason = r.reason;
	return ret;
}

static int take_table(int fd, unsigned int *reason) /* of two pages */
{
	return take_rows(fd, 1, reason);
}

static int take_event(int fd, unsigned int *reason)
{
	struct ki_event_req r = {
		.size = sizeof(r), .type = PERF_TYPE_SOFTWARE, .config = PERF_COUNT_SW_PAGE_FAULTS};
	int ret = ioctl(fd, KI_IOC_EVENT, &r);

	*reason = r.reason;
	return ret;
}

static int take_ring(int fd, unsigned int *reason)
{
	struct ki_ring r = {.size = sizeof(r), .pages = 256};
	int ret = ioctl(fd, KI_IOC_RING, &r);

	*reason = r.reason;
	return ret;
}

static int take_stacks(int fd, unsigned int *reason)
{
	struct ki_stacks r = {.size = sizeof(r), .rows = 2048, .frames = 62};
	int ret = ioctl(fd, KI_IOC_STACKS, &r);

	*reason = r.reason;
	return ret;
}

static const struct {
	const char *name;
	int (*take)(int fd, unsigned int *reason);
	unsigned int each; /* how much of what is limited one takes */
	unsigned int reason;
} kinds[] = {
	{"counters", take_counter, 1, KI_R_LIMIT_COUNTERS},
	{"globals", take_global, 1, KI_R_LIMIT_GLOBALS},
	{"words", take_word, 1, KI_R_LIMIT_WORDS},
	{"tables", take_table, 1, KI_R_LIMIT_TABLES},
	{"events", take_event, 1, KI_R_LIMIT_EVENTS},
	{"pages", take_table, 2, KI_R_LIMIT_PAGES},
};

/* The driver's own end of that is far away: 8 is few. */
static unsigned int taken(unsigned int kind, int fd, unsigned int *reason)
{
	unsigned int n = 0;

	while (n < 8 && !kinds[kind].take(fd, reason))
		n++;
	if (n < 8 && errno != EDQUOT)
		die(kinds[kind].name, strerror(errno));
	return n * kinds[kind].each;
}

static void limits_of(unsigned int kind, unsigned int session, unsigned int user)
{
	int a = device_open(), b = device_open();
	unsigned int why_a = 0, why_b = 0;
	unsigned int of_a = taken(kind, a, &why_a), of_b = taken(kind, b, &why_b);

	report(kinds[kind].name,
	       of_a == session && of_a + of_b == user && why_a == kinds[kind].reason &&
		       why_b == kinds[kind].reason,
	       "a session had %u, the next %u (reasons %u and %u)", of_a, of_b, why_a, why_b);
	close(a);
	close(b);
}

int limits_reach(const char *name, unsigned int session, unsigned int user)
{
	for (unsigned int i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		for (int round = 0; round < 3; round++) /* what was given back is there again */
			if (!strcmp(kinds[i].name, name))
				limits_of(i, session, user);
	return report_status();
}

static long in_group(const char *group)
{
	char path[256], text[32] = "";
	int fd;

	snprintf(path, sizeof(path), "%s/memory.current", group);
	fd = open(path, O_RDONLY);
	if (fd < 0 || read(fd, text, sizeof(text) - 1) <= 0)
		die(path, strerror(errno));
	close(fd);
	return atol(text) / 1024;
}

static int take_big_table(int fd, unsigned int *reason)
{
	return take_rows(fd, 1u << 15, reason);
}

/* Each of them is a megabyte or more. */
int limits_memory(const char *group)
{
	static const struct {
		const char *name;
		int (*take)(int fd, unsigned int *reason);
		long kilobytes;
	} all[] = {
		{"ring", take_ring, 1024},
		{"table", take_big_table, 768},
		{"stacks", take_stacks, 1024},
		{"words", take_word, 2048},
	};
	int fd = device_open();

	for (unsigned int i = 0; i < sizeof(all) / sizeof(*all); i++) {
		long before = in_group(group), after;
		unsigned int reason;

		if (all[i].take(fd, &reason))
			die(all[i].name, strerror(errno));
		after = in_group(group);
		report(all[i].name, after - before >= all[i].kilobytes,
		       "the group has %ld KiB more of memory", after - before);
	}
	return report_status();
}
