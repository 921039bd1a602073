/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The command line of kerninst top.
 */
#ifndef KERNINST_TOP_OPTIONS_H
#define KERNINST_TOP_OPTIONS_H

#include "points.h"
#include "kerninst/top.h"
#include "when.h"

struct top_options {
	struct ki_wanted wanted;
	enum ki_top_sort sort;
	double interval;
	unsigned int rows;  /* of a table; 0: all */
	unsigned int count; /* of tables; 0: no limit */
	bool batch, json, quiet;
	const char *preset; /* NULL: none */
	struct when when;
	char **points, **command; /* command NULL: none */
	int npoints;
	pid_t pid; /* whose points they are, or OPEN_COMMAND; 0: the kernel's */
};

extern const char top_usage[];

/* CLI_OK, or reported. *done: there is nothing more to do, whatever is returned. */
int top_parse(const struct verb *self, int argc, char **argv, struct top_options *o, bool *done);

/* After what has been made of them. */
void top_options_free(struct top_options *o);

#endif
