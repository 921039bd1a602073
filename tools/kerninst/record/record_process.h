/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Processes of which points are recorded, by what stands before these: PID/, command/.
 */
#ifndef KERNINST_RECORD_PROCESS_H
#define KERNINST_RECORD_PROCESS_H

#include "run.h"
#include "record/record_group.h"

struct record_process {
	pid_t asked, pid; /* OPEN_COMMAND: the command's */
	char prefix[16];
	struct ki_target *t;
};

typedef ki_vec(struct record_process) record_processes;

/* Open all that groups name; the command is started for it, and waits at its entry. The groups have
   their processes then. CLI_OK, or reported. */
int record_processes_open(record_processes *p, const struct record_options *o,
			  struct command *command, struct record_group *groups, size_t n);
void record_processes_close(record_processes *p);

/* Have all of which something is recorded ended? Of the kernel nothing does. */
bool record_processes_over(const struct record_group *groups, size_t n);

/* What its points' addresses are, for the file. CLI_OK, or -errno. */
int record_processes_write(const struct record_group *groups, size_t n, struct ki_record_file *f);

#endif
