/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command of -c: a process that waits until all probes are in before it becomes the command.
 */
#ifndef KDTRACE_CHILD_H
#define KDTRACE_CHILD_H

#include <stdbool.h>
#include <sys/types.h>

#include "kerninst/err.h"

struct child {
	pid_t pid;			  /* 0: none */
	int go;				  /* write to it, and it begins */
	struct ki_process_launch *launch; /* it has begun, and waits at its entry */
	bool ended;
	int status; /* then: of waitpid */
};

/* 0, or -errno. */
int child_prepare(struct child *c, const char *command);
void child_start(struct child *c);
/* It becomes the command, but does not run: for probes in it. 0, or -errno. Then child_start. */
int child_reach_entry(struct child *c, struct ki_err *err);
/* Has it ended? */
bool child_has_ended(struct child *c);
/* One that has not begun does not; one that runs is killed: no command outlives its trace. */
void child_abandon(struct child *c);

#endif
