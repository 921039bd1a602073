/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of kerninst record.
 */
#ifndef KERNINST_RECORD_OPTIONS_H
#define KERNINST_RECORD_OPTIONS_H

#include "points.h"
#include "util/vec.h"
#include "when.h"

enum record_mode {
	RECORD_RING,
	RECORD_WAKE,
	RECORD_NEWEST,
	RECORD_DISK,
	RECORD_TOTALS,
	RECORD_MODES
};

/* POINT[=VALUE,...], and when. */
struct record_ask {
	char *point;
	pid_t pid; /* of what process; 0: of the kernel; OPEN_COMMAND */
	struct ki_record_values values;
	double at, until; /* seconds from the start; until 0: the end */
};

struct record_options {
	ki_vec(struct record_ask) asks;
	enum record_mode mode;
	bool any_process;
	bool json, quiet, progress, self, any_values, show_code, dry_run, cost;
	double interval, duration; /* 0: none */
	double budget;		   /* share of the machine; 0: none */
	double at, until;	   /* of what is read next */
	uint32_t buffer;	   /* bytes for each CPU; 0: as the library has it */
	const char *output;
	struct when when;
	char **command; /* NULL: none */
};

extern const char record_usage[];

/* CLI_OK, or reported. *done: there is nothing more to do. Free it in any case. */
int record_parse(const struct verb *self, int argc, char **argv, struct record_options *o,
		 bool *done);
void record_options_free(struct record_options *o);

/* What was asked for, as one line; the end is left out if there is no room. */
void record_note_command(int argc, char **argv, char *to, size_t size);

#endif
