// SPDX-License-Identifier: GPL-2.0-only
/*
 * What each request answers in each state of a file, as the kernel's kcov.c has it (6.1).
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "client.h"

#define AREA	512 /* words: a page */
#define UNKNOWN _IO('c', 77)

/* Who asks: this thread at the file; at another file, that is initialized; another thread. */
enum who { SELF, OTHER_FILE, OTHER_THREAD };

/* In order: each leaves the state that the next one finds. */
static const struct step {
	const char *name;
	enum who who;
	unsigned long request, arg;
	int want; /* errno */
} steps[] = {
	{"new: ENABLE", SELF, KCOV_ENABLE, KCOV_TRACE_PC, EINVAL},
	{"new: DISABLE", SELF, KCOV_DISABLE, 0, EINVAL},
	{"new: INIT_TRACE 0", SELF, KCOV_INIT_TRACE, 0, EINVAL},
	{"new: INIT_TRACE 1", SELF, KCOV_INIT_TRACE, 1, EINVAL},
	{"new: INIT_TRACE too large", SELF, KCOV_INIT_TRACE, INT_MAX / 8 + 1ul, EINVAL},
	{"new: INIT_TRACE all ones", SELF, KCOV_INIT_TRACE, ULONG_MAX, EINVAL},
	{"new: an unknown request", SELF, UNKNOWN, 0, ENOTTY},
	{"new: REMOTE_ENABLE", SELF, KCOV_REMOTE_ENABLE, 0, ENOTTY},
	{"new: INIT_TRACE", SELF, KCOV_INIT_TRACE, AREA, 0},
	{"initialized: INIT_TRACE", SELF, KCOV_INIT_TRACE, AREA, EBUSY},
	{"initialized: INIT_TRACE 1", SELF, KCOV_INIT_TRACE, 1, EINVAL},
	{"initialized: DISABLE", SELF, KCOV_DISABLE, 0, EINVAL},
	{"initialized: ENABLE of comparisons", SELF, KCOV_ENABLE, KCOV_TRACE_CMP, 0},
	{"enabled for comparisons: ENABLE of blocks", SELF, KCOV_ENABLE, KCOV_TRACE_PC, EINVAL},
	{"enabled for comparisons: ENABLE of another file", OTHER_FILE, KCOV_ENABLE, KCOV_TRACE_PC,
	 EBUSY},
	{"enabled for comparisons: DISABLE", SELF, KCOV_DISABLE, 0, 0},
	{"initialized: ENABLE of what is not known", SELF, KCOV_ENABLE, 2, EINVAL},
	{"initialized: REMOTE_ENABLE", SELF, KCOV_REMOTE_ENABLE, 0, ENOTTY},
	{"initialized: ENABLE", SELF, KCOV_ENABLE, KCOV_TRACE_PC, 0},
	{"enabled: ENABLE", SELF, KCOV_ENABLE, KCOV_TRACE_PC, EINVAL},
	{"enabled: ENABLE of another file", OTHER_FILE, KCOV_ENABLE, KCOV_TRACE_PC, EBUSY},
	{"enabled: ENABLE of comparisons of another file", OTHER_FILE, KCOV_ENABLE, KCOV_TRACE_CMP,
	 EBUSY},
	{"enabled: ENABLE by another thread", OTHER_THREAD, KCOV_ENABLE, KCOV_TRACE_PC, EINVAL},
	{"enabled: INIT_TRACE", SELF, KCOV_INIT_TRACE, AREA, EBUSY},
	{"enabled: DISABLE with an argument", SELF, KCOV_DISABLE, 1, EINVAL},
	{"enabled: DISABLE of another file", OTHER_FILE, KCOV_DISABLE, 0, EINVAL},
	{"enabled: DISABLE by another thread", OTHER_THREAD, KCOV_DISABLE, 0, EINVAL},
	{"enabled: DISABLE", SELF, KCOV_DISABLE, 0, 0},
	{"disabled: DISABLE", SELF, KCOV_DISABLE, 0, EINVAL},
	{"disabled: ENABLE by another thread, which ends", OTHER_THREAD, KCOV_ENABLE, KCOV_TRACE_PC,
	 0},
	{"its thread has ended: ENABLE", SELF, KCOV_ENABLE, KCOV_TRACE_PC, 0},
	{"enabled again: DISABLE", SELF, KCOV_DISABLE, 0, 0},
	{"disabled: ENABLE of another file", OTHER_FILE, KCOV_ENABLE, KCOV_TRACE_PC, 0},
	{"another file enabled: DISABLE", SELF, KCOV_DISABLE, 0, EINVAL},
	{"another file enabled: its DISABLE", OTHER_FILE, KCOV_DISABLE, 0, 0},
};

struct asking {
	int fd;
	const struct step *step;
	int got;
};

static void *ask(void *arg)
{
	struct asking *a = arg;

	a->got = ioctl(a->fd, a->step->request, a->step->arg) ? errno : 0;
	return NULL;
}

static void take_step(int self, int other, const struct step *s)
{
	struct asking a = {.fd = s->who == OTHER_FILE ? other : self, .step = s};
	pthread_t thread;

	if (s->who != OTHER_THREAD)
		ask(&a);
	else if (pthread_create(&thread, NULL, ask, &a) || pthread_join(thread, NULL))
		die("a thread");
	if (a.got != s->want)
		printf("# errno %d, not %d\n", a.got, s->want);
	say(s->name, a.got == s->want);
}

static int map_errno(int fd, size_t len, off_t at)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_SHARED, fd, at);

	if (p == MAP_FAILED)
		return errno;
	munmap(p, len);
	return 0;
}

static void maps(int fd)
{
	static const struct {
		const char *name;
		size_t len;
		off_t at;
		int want;
	} rows[] = {
		{"mapping all of it", AREA * 8, 0, 0},
		{"mapping it again", AREA * 8, 0, 0},
		{"mapping too much", AREA * 16, 0, EINVAL},
		{"mapping from its second page on", AREA * 8, AREA * 8, EINVAL},
	};
	char c;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		say(rows[i].name, map_errno(fd, rows[i].len, rows[i].at) == rows[i].want);
	say("it is not read", read(fd, &c, 1) == -1 && errno == EINVAL);
	say("it is not written", write(fd, "", 1) == -1 && errno == EINVAL);
	say("it has no position", lseek(fd, 0, SEEK_SET) == -1 && errno == ESPIPE);
}

void errors_all(void)
{
	int self = open(KCOV_FILE, O_RDWR), other = open(KCOV_FILE, O_RDWR);

	if (self < 0 || other < 0 || ioctl(other, KCOV_INIT_TRACE, AREA))
		die(KCOV_FILE);
	say("new: mapping", map_errno(self, AREA * 8, 0) == EINVAL);
	for (size_t i = 0; i < sizeof(steps) / sizeof(*steps); i++)
		take_step(self, other, &steps[i]);
	maps(self);
	close(self);
	close(other);
}
