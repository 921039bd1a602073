/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What was measured at points, as a table or as one JSON object per line.
 */
#ifndef KERNINST_MEASURED_H
#define KERNINST_MEASURED_H

#include <stdio.h>

#include "kerninst/cost.h"
#include "kerninst/points.h"
#include "kerninst/predict.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_table;

#define KI_MEASURED_TITLE 40

/* A column of values: of one metric; "count" is also that of calls. */
struct ki_measured_column {
	const struct ki_metric *metric;
	bool rated; /* and how much that is in a second */
	char title[KI_MEASURED_TITLE], rate[KI_MEASURED_TITLE];
};

struct ki_measured {
	FILE *out;
	struct ki_table *table; /* NULL: JSON */
	char separator;		/* of CSV; 0: a table for people */
	bool per_cpu;		/* rows of each CPU after the total's */
	struct ki_measured_column columns[KI_METRICS_MAX + 1];
	unsigned int ncolumns;
	enum ki_shape shape;	     /* which columns there are after */
	bool timed;		     /* rows of many intervals */
	bool split;		     /* rows of parts */
	const struct ki_costs *cost; /* what it costs, too; NULL: not */
	double budget;		     /* for that; 0: none */
	bool bold;		     /* titles, as a terminal shows it */
};

/* What is wanted of the result is set in r. json: no table. 0, or -ENOMEM. */
int ki_measured_new(struct ki_measured *r, const struct ki_points *p, bool json);
void ki_measured_free(struct ki_measured *r);

/*
 * A row per point with a value, the largest first: of `seconds` seconds, `time` after the start.
 * Histograms after the table.
 */
int ki_measured_values(struct ki_measured *r, const struct ki_points *p, double time,
		       double seconds);

/* What is refused, in JSON only. */
int ki_measured_refused(struct ki_measured *r, const struct ki_points *p);

/* The code of each point, with its source. 0, or -errno. */
int ki_measured_code(struct ki_measured *r, const struct ki_points *p, struct ki_err *err);

/*
 * Ask the driver what it would install, and show that, a row per point and metric; and what it
 * would cost. pr: NULL: not known. 0, or -errno.
 */
int ki_measured_dry(struct ki_measured *r, struct ki_points *p, const struct ki_prediction *pr,
		    struct ki_err *err);

/* What was shed: a line of JSON. 0, or -errno. */
int ki_measured_shed(const struct ki_measured *r, const struct ki_named_point *pt,
		     const struct ki_cell *c, double rate, double time);

/* Hits that were skipped meanwhile: a line of JSON if there are any. 0, or -errno. */
int ki_measured_skipped(const struct ki_measured *r, uint64_t n);

/* Print the table so far, as it is wanted. 0, or -errno. */
int ki_measured_table(const struct ki_measured *r, struct ki_table *t);

/* The hash of the kernel's text "before" and "after". */
int ki_measured_hash(struct ki_measured *r, const char *when, const char *hash);

/* The memory that the patches of a session take. */
struct ki_measured_patches {
	bool known; /* not by a driver that cannot say it */
	struct ki_patches now;
};

/* While everything is in. */
void ki_measured_patches_read(struct ki_measured_patches *p, const struct ki_target *t);

/* A line of JSON, if functions have been moved. 0, or -errno. */
int ki_measured_patches_show(const struct ki_measured *r, const struct ki_measured_patches *p);

#ifdef __cplusplus
}
#endif

#endif
