/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command that is measured, and waiting: for its end, for a signal, for a point in time.
 */
#ifndef KERNINST_COMMAND_H
#define KERNINST_COMMAND_H

#include <signal.h>
#include <stdbool.h>
#include <sys/types.h>
#include <time.h>

#include "kerninst/err.h"

struct command {
	pid_t pid; /* 0: none */
	bool started, ended;
	char **argv;			  /* NULL: there is none */
	int status;			  /* of wait, when ended */
	int stopped_by;			  /* the signal that ended the measurement, or 0 */
	struct ki_process_launch *launch; /* it is the command already, and waits at its entry */
	volatile int *no_exec; /* shared with the child: errno of an exec that failed, or 0 */
};

enum event { EVENT_TIME, EVENT_SIGNAL, EVENT_ENDED };

/*
 * Everything after "--" is the command, *command; it stays as it is if there is none. Returns how
 * many arguments stand before it.
 */
int command_cut(int argc, char **argv, char ***command);

/* Has command_cut found one? */
bool command_given(void);

/* Make the process, which waits before it becomes the command. quiet: it has nothing of this
   terminal. 0, or -errno. After wait_prepare. */
int command_prepare(struct command *c, char **argv, bool quiet);

/* Let it become the command, but not run yet. 0, or an error: see command_failed, too. */
int command_reach_entry(struct command *c, struct ki_err *err);

/* Let it become the command, and run. */
void command_start(struct command *c);

/* When it has ended: the errno why it never became the command, or 0. */
int command_failed(const struct command *c);

/* End it if it has not been started. One that runs is left alone. */
void command_abandon(struct command *c);

/* What a shell would say it returned. */
int command_exit_status(const struct command *c);

/* From here on SIGINT and SIGTERM are only seen by wait_event and wait_is_interrupted. */
void wait_prepare(void);

/* Has one come? wait_event will still see it. */
bool wait_is_interrupted(void);

/*
 * Wait for something to happen, until `deadline` (seconds of CLOCK_MONOTONIC; negative: for
 * ever). After the first SIGINT or SIGTERM further ones end this process at once. A signal is
 * passed on to the command, unless the terminal has sent it to both.
 */
enum event wait_event(struct command *c, double deadline);

/* A descriptor that can be read when there is something for wait_event, or `also`, a signal that is
   blocked from now on; 0: none. After wait_prepare. -errno. */
int wait_descriptor(int also);

/* Has that signal come? It is taken. */
bool wait_take(int sig);

double wait_now(void);
struct timespec wait_left(double deadline); /* from now on; 0: it is over */

#endif
