/* SPDX-License-Identifier: GPL-2.0-only */
/* kerninst stat PID/POINT: a process measured. */
#ifndef KERNINST_PROCESS_STAT_H
#define KERNINST_PROCESS_STAT_H

#include "command.h"
#include "kerninst/stat.h"
#include "stat/stat_options.h"

/* Open the process s->pid, or start the command and open that. CLI_OK, or reported: what is wanted
 * is for the kernel only, it has ended before. */
int process_stat_open(const struct verb *self, const struct stat_options *o, struct ki_stat *s,
		      struct command *command, const struct ki_asked *asked);

/* As --await: until the process has mapped the modules of all points, for which the command begins
 * if it has to; *out: the process then. Reported, too: a point names no module. */
int process_stat_await(const struct stat_options *o, pid_t pid, const struct ki_asked *asked,
		       struct command *command, struct ki_target **out);

#endif
