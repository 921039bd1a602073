/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of kerninst stat.
 */
#ifndef KERNINST_STAT_OPTIONS_H
#define KERNINST_STAT_OPTIONS_H

#include "points.h"
#include "when.h"

struct stat_options {
	struct ki_wanted wanted;
	bool json, hash, quiet, progress, per_cpu, show_code, dry_run, cost, await;
	double budget;	/* share of the machine; 0: none */
	char separator; /* of CSV; 0: none */
	enum ki_moving moving;
	double interval, duration; /* 0: none */
	const char *output;
	const char *preset; /* NULL: none */
	struct when when;
	struct ki_splits splits;
	struct ki_aggregate by;
	char **points, **command; /* command NULL: none */
	int npoints;
};

extern const char stat_usage[];

/* CLI_OK, or reported. *done: there is nothing more to do, whatever is returned. */
int stat_parse(const struct verb *self, int argc, char **argv, struct stat_options *o, bool *done);

/* After what has been made of them. */
void stat_options_free(struct stat_options *o);

#endif
