/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The result of kerninst stat, as a table or as one JSON object per line.
 */
#ifndef KERNINST_REPORT_H
#define KERNINST_REPORT_H

#include <stdio.h>

#include "out/table.h"
#include "points.h"

struct report {
	FILE *out;
	struct ki_table *table; /* NULL: JSON */
	char separator;		/* of CSV; 0: a table for people */
	enum metric metric;	/* which columns there are */
	bool timed;		/* rows of many intervals */
	bool per_cpu;		/* rows of each CPU behind the total's */
};

/* What is set in r but for the table. json: no table. 0, or -ENOMEM. */
int report_open(struct report *r, bool json);
void report_close(struct report *r);

/* Print the table so far, as it is wanted. 0, or -errno. */
int report_table(const struct report *r, struct ki_table *t);

/* A row per point with a value, the largest first: of `seconds` seconds, `time` after the start. */
int report_values(struct report *r, const struct points *p, double time, double seconds);

/* The refused points, in JSON only. */
int report_refused(struct report *r, const struct points *p);

/* The code of each point, with its source. */
int report_code(struct report *r, const struct points *p);

/* What would be installed: a row per point. */
int report_plan(struct report *r, const struct points *p);

/* The hash of the kernel's text "before" and "after". */
int report_hash(struct report *r, const char *when, const char *hash);

#endif
