/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What is said of a process at the end of a measurement in it.
 */
#ifndef KERNINST_CLI_PROCESS_H
#define KERNINST_CLI_PROCESS_H

#include <stdbool.h>
#include <sys/types.h>

#include "kerninst/opened.h"
#include "kerninst/process.h"
#include "kerninst/process_points.h"

/* How long its threads were held. told_end: say that it has ended, too. */
void process_tell_cost(const struct ki_splice_process *s, pid_t pid, bool told_end);

/* What is missing, because a thread had no place for it; nothing if there is none. */
void process_warn_lost(const struct ki_splice_process *s, pid_t pid);

/* Open it, if it has not been; the command is started for that, and waits at its entry. CLI_OK, or
   reported. */
struct command;
int process_open(struct ki_opened_processes *p, pid_t asked, struct command *command, char **argv);

#endif
