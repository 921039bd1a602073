/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * kerninst record: all that there is while it records.
 */
#ifndef KERNINST_RECORD_VERB_H
#define KERNINST_RECORD_VERB_H

#include "process.h"
#include "record/record_options.h"
#include "record/record_wait.h"

struct record {
	struct record_options *o;
	struct ki_recorder r;
	struct ki_opened_processes processes;
	struct command command;
	struct record_waiting waiting;
	double end, next; /* when to stop, when to read: seconds of CLOCK_MONOTONIC; -1: never */
};

/* record_dry.c: the code, and what would be installed. CLI_OK, or reported. */
int record_show(struct record *r);

#endif
