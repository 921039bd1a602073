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
	enum metric metric;	/* which columns there are */
	bool timed;		/* rows of many intervals */
};

int report_open(struct report *r, FILE *out, bool json, enum metric metric, bool timed);
void report_close(struct report *r);

/* A row per point with a value, the largest first: of `seconds` seconds, `time` after the start. */
int report_values(struct report *r, const struct points *p, double time, double seconds);

/* The refused points, in JSON only. */
int report_refused(struct report *r, const struct points *p);

/* The hash of the kernel's text "before" and "after". */
int report_hash(struct report *r, const char *when, const char *hash);

#endif
