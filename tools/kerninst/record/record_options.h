/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of kerninst record.
 */
#ifndef KERNINST_RECORD_OPTIONS_H
#define KERNINST_RECORD_OPTIONS_H

#include "kerninst/recorder.h"
#include "points.h"
#include "util/vec.h"
#include "when.h"

struct record_options {
	struct ki_recorder_options r;
	bool any_command;
	bool json, progress, self, any_values, show_code, dry_run;
	double interval, duration; /* 0: none */
	double at, until;	   /* of what is read next */
	struct when when;
	char **command; /* NULL: none */
};

extern const char record_usage[];

/* CLI_OK, or reported. *done: there is nothing more to do. Free it in any case. */
int record_parse(const struct verb *self, int argc, char **argv, struct record_options *o,
		 bool *done);
void record_options_free(struct record_options *o);

#endif
