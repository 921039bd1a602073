/* SPDX-License-Identifier: GPL-2.0-only */
/* kerninst stat PID/POINT: a process measured. */
#ifndef KERNINST_PROCESS_STAT_H
#define KERNINST_PROCESS_STAT_H

#include "stat/stat_options.h"

struct verb;

/* An exit status. */
int process_stat(const struct verb *self, const struct stat_options *o, pid_t pid,
		 const struct ki_asked *asked, const struct ki_predicate *when);

#endif
