/* SPDX-License-Identifier: GPL-2.0-only */
/* kerninst stat PID/POINT: a process measured. */
#ifndef KERNINST_PROCESS_STAT_H
#define KERNINST_PROCESS_STAT_H

#include "command.h"
#include "kerninst/stat.h"
#include "stat/stat_options.h"

/*
 * Open the process s->pid, or start the command and open that; with --await, wait until it has
 * mapped the modules of all points, for which the command begins if it has to. CLI_OK, or reported:
 * what is wanted is for the kernel only, it has ended before, a point names no module.
 */
int process_stat_open(const struct verb *self, const struct stat_options *o, struct ki_stat *s,
		      struct command *command, const struct ki_asked *asked);

#endif
