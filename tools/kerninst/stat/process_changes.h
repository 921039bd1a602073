/* SPDX-License-Identifier: GPL-2.0-only */
/* What comes and goes in a process, before and while it is measured. */
#ifndef KERNINST_PROCESS_CHANGES_H
#define KERNINST_PROCESS_CHANGES_H

#include "command.h"
#include "points.h"

/*
 * Wait until the process has mapped the modules of all points; the command begins if it has to.
 * CLI_OK and *out, or reported: it has ended before, or a point names no module.
 */
int await_modules(pid_t pid, const struct ki_asked *asked, struct command *command,
		  struct ki_target **out);

/* Say what concerns the points. True: it is another program, none of them will be reached again. */
bool tell_changes(struct ki_target *t, pid_t pid, const struct ki_points *points, bool quiet);

#endif
