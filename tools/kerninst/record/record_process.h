/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes of which points are recorded.
 */
#ifndef KERNINST_RECORD_PROCESS_H
#define KERNINST_RECORD_PROCESS_H

#include "process.h"
#include "run.h"
#include "record/record_group.h"

/* Open all that groups name; the command is started for it, and waits at its entry. The groups have
   their processes then. CLI_OK, or reported. */
int record_processes_open(opened_processes *p, const struct record_options *o,
			  struct command *command, struct record_group *groups, size_t n);

/* Have all of which something is recorded ended? Of the kernel nothing does. */
bool record_processes_over(const struct record_group *groups, size_t n);

/* What its points' addresses are, for the file. CLI_OK, or -errno. */
int record_processes_write(const struct record_group *groups, size_t n, struct ki_record_file *f);

#endif
