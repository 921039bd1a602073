/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The process that the program is about: the command of -c, which waits until all probes are in
 * before it becomes the command; or the one of -p, which runs.
 */
#ifndef KDTRACE_CHILD_H
#define KDTRACE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "kerninst/err.h"

struct child {
	pid_t pid;   /* 0: none */
	int grabbed; /* of -p: a descriptor of it; 0: it is the command of -c */
	int go;	     /* write to it, and it begins */
	struct ki_process_launch *launch; /* it has begun, and waits at its entry */
	bool ended;
	int status; /* then: of waitpid */
};

/* 0, or -errno. */
int child_prepare(struct child *c, const char *command);
void child_start(struct child *c);
/* The one of -p. */
void child_grab(struct child *c, pid_t pid);
/* It becomes the command, but does not run before its entry, or its main(): for probes in it. 0, or
 * -errno. Then child_start. */
int child_reach(struct child *c, bool to_main, struct ki_err *err);
/* Has it ended? */
bool child_has_ended(struct child *c);
/* One that has not begun does not; one that runs is killed: no command outlives its trace. */
void child_abandon(struct child *c);

#endif
