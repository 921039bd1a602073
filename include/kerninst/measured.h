/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The result of kerninst stat, as a table or as one JSON object per line.
 */
#ifndef KERNINST_REPORT_H
#define KERNINST_REPORT_H

#include <stdio.h>

#include "out/table.h"
#include "points.h"

#define REPORT_TITLE 40

/* A column of values: of one metric; "count" is also that of calls. */
struct report_column {
	const struct ki_metric *metric;
	bool rated; /* and how much that is in a second */
	char title[REPORT_TITLE], rate[REPORT_TITLE];
};

struct report {
	FILE *out;
	struct ki_table *table; /* NULL: JSON */
	char separator;		/* of CSV; 0: a table for people */
	bool per_cpu;		/* rows of each CPU behind the total's */
	struct report_column columns[KI_METRICS_MAX + 1];
	unsigned int ncolumns;
	enum ki_shape shape;	     /* which columns there are behind */
	bool timed;		     /* rows of many intervals */
	bool split;		     /* rows of parts */
	const struct ki_costs *cost; /* what it costs, too; NULL: not */
	double budget;		     /* for that; 0: none */
};

/* What is wanted of the result is set in r. json: no table. 0, or -ENOMEM. */
int report_open(struct report *r, const struct ki_points *p, bool json);
void report_close(struct report *r);

/*
 * A row per point with a value, the largest first: of `seconds` seconds, `time` after the start.
 * Histograms behind the table.
 */
int report_values(struct report *r, const struct ki_points *p, double time, double seconds);

/* What is refused, in JSON only. */
int report_refused(struct report *r, const struct ki_points *p);

/* The code of each point, with its source. CLI_OK, or reported. */
int report_code(struct report *r, const struct ki_points *p);

/*
 * Ask the driver what it would install, and show that, a row per point and metric; and what it
 * would cost. NULL: not known. CLI_OK, or reported: CLI_ERROR if it would install nothing.
 */
int report_dry(struct report *r, struct ki_points *p, const struct ki_prediction *pr, bool quiet);

/* Hits that were skipped meanwhile: a line of JSON if there are any. 0, or -errno. */
int report_skipped(const struct report *r, uint64_t n);

/* Reported. */
int report_failed(void);

/* Print the table so far, as it is wanted. 0, or -errno. */
int report_table(const struct report *r, struct ki_table *t);

/* The hash of the kernel's text "before" and "after". */
int report_hash(struct report *r, const char *when, const char *hash);

#endif
