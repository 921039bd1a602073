/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A measurement of points from its beginning to its end: read now and then, by keys if that is
 * wanted, with what it costs and below a budget; and what is shown of it, as tables or as JSON.
 *
 * The order of things is what makes counts exact: all is in before what is measured begins, and is
 * read when that has ended, before anything is taken out. Functions return 0 or -errno; -EIO
 * without anything in err: the result could not be written.
 */
#ifndef KERNINST_STAT_H
#define KERNINST_STAT_H

#include <stdbool.h>
#include <stdio.h>
#include <sys/types.h>

#include "kerninst/aggregate.h"
#include "kerninst/budget.h"
#include "kerninst/measured.h"
#include "kerninst/points.h"
#include "kerninst/skipped.h"
#include "kerninst/text_change.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_stat {
	/* given; all of it lives as long */
	struct ki_target *t; /* a live kernel, or a process */
	pid_t pid;	     /* that process; 0: the kernel */
	struct ki_wanted wanted;
	enum ki_moving moving;
	const struct ki_predicate *when; /* NULL: always */
	const struct ki_splits *splits;
	struct ki_aggregate *by; /* nothing is wanted of it: no keys */
	bool per_cpu;		 /* rows of each CPU, too */
	bool costed;		 /* say what it costs */
	double budget;		 /* share of the machine; 0: none */
	bool timed;		 /* tables of many intervals */
	bool hashed;		 /* is the text what it was? */
	bool quiet;		 /* no warnings */
	bool json, bold;
	char separator; /* of CSV; 0: a table for people */
	FILE *out;
	const struct ki_listener *listener;
	/* found */
	struct ki_points points;
	struct ki_reading *seen, *now; /* NULL: the start */
	struct ki_costs cost;
	struct ki_budget keeping;
	struct ki_measured report;
	double start, last; /* seconds of CLOCK_MONOTONIC; of the last table */
	struct ki_skipped skipped;
	struct ki_measured_patches patches;
	struct ki_text_watch text;
	bool ended; /* the process has, when that was looked at */
};

/* How its points are to be found. */
struct ki_points_how ki_stat_how(const struct ki_stat *s);

/* When s->points have been found: open what is shown. */
int ki_stat_new(struct ki_stat *s, struct ki_err *err);

/* All points are refused: that is written, and an error. */
int ki_stat_nothing(struct ki_stat *s, struct ki_err *err);

/* Put all in; from now on it counts; take all out. */
int ki_stat_put_in(struct ki_stat *s, struct ki_err *err);
int ki_stat_begin(struct ki_stat *s, struct ki_err *err);
int ki_stat_take_out(struct ki_stat *s, struct ki_err *err);

/*
 * When something is to be done if nothing happens, seconds of CLOCK_MONOTONIC, negative: never.
 * end, next: of the measurement, of the next table; negative: none. *tick: it is the next table.
 */
double ki_stat_next(const struct ki_stat *s, double end, double next, bool *tick);

/* Keep to the budget. */
int ki_stat_look(struct ki_stat *s, double now, struct ki_err *err);

/* Has the process ended, or become another program? Warns of what it has mapped and unmapped. */
bool ki_stat_over(struct ki_stat *s);

/* Write a table of what came since the last one. */
int ki_stat_table(struct ki_stat *s, double now, struct ki_err *err);

/* The last reading, while all is still in; what is written when all is out. */
int ki_stat_end(struct ki_stat *s, struct ki_err *err);
int ki_stat_result(struct ki_stat *s, double end, struct ki_err *err);

void ki_stat_free(struct ki_stat *s); /* all but what was given */

#ifdef __cplusplus
}
#endif

#endif
