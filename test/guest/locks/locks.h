/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * locks: requests that sleep in user memory. Files: main.c, sleeper.c (a process that sleeps in
 * one), kinds.c (the requests).
 */
#ifndef TEST_LOCKS_H
#define TEST_LOCKS_H

#include "common/common.h"

/* A request of which one array is at `never`, a page that nobody ever brings. Returns an errno. */
struct kind {
	const char *name;
	int (*make)(int fd, void *never);
};
extern const struct kind kinds[];
extern const unsigned int nkinds;
/* Windows and copies as many as a request may have, which is much memory; chunks at `never`. */
int big_splice(int fd, void *never);

struct sleeper {
	pid_t pid;
	int says;  /* the end of a pipe */
	int error; /* if it does not sleep: the errno of its request */
};

/* A process with a descriptor of its own. True if it sleeps now in this request, in the page. */
bool sleeper_begin(struct sleeper *s, int (*request)(int fd, void *never));
/* Has the request not come back? */
bool sleeper_sleeps(const struct sleeper *s);
/* kill -9; true if it is gone within some seconds. */
bool sleeper_kill(struct sleeper *s);

#endif
