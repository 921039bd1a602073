/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Points that kerninst top measures, and the rows that come of it.
 *
 * Metrics that come later have a session of their own, as each view has: what is no longer looked
 * at gives back all it had.
 */
#ifndef KERNINST_TOP_VIEW_H
#define KERNINST_TOP_VIEW_H

#include "points.h"
#include "top/top_model.h"

/* How a view measures; lives as long as it. */
struct top_how {
	const struct ki_predicate *when; /* NULL: always */
	const char *condition;		 /* the same as text */
	pid_t pid;			 /* of a process; 0: the kernel */
	bool quiet;			 /* no progress */
	bool silent;			 /* nor warnings of what is refused */
};

struct top_gauge {
	struct ki_target *t;
	struct ki_points points;
	struct ki_reading *begin, *seen, *now;
	double begun, at, seconds; /* of the first and last reading; since the one before that */
};

/* Where a column's values come from. */
struct top_cell {
	unsigned int gauge, cell; /* cell: of each of its points */
};

struct top_view {
	const struct top_how *how;
	const char *preset; /* functions beside those asked for; NULL: none */
	struct ki_asked asked;
	char *what;
	struct top_gauge gauges[TOP_COLUMNS];
	unsigned int ngauges;
	struct top_cell cells[TOP_COLUMNS]; /* of the model's columns */
	struct top_model model;
	double start;
};

/* Ask for points before the first metric. what: a name for them; idle: those that are not reached
   are rows, too. CLI_OK, or reported, as of all here. */
int top_view_open(struct top_view *v, const struct top_how *how, const char *what, bool idle);
void top_view_close(struct top_view *v); /* takes out what is left */

/* Measure these, too, those of them that are not measured yet. Rows are sorted by the first. */
int top_view_measure(struct top_view *v, const struct ki_metric *const *metrics, unsigned int n);

/* What has been counted before this moment does not count. */
int top_view_begin(struct top_view *v);

/* Read all, and put the rows in order. */
int top_view_read(struct top_view *v);

/* Rates are of all the time since the start, from now on. */
void top_view_whole(struct top_view *v);

int top_view_take_out(struct top_view *v);

/* The process's, since the first metric is measured; NULL: the kernel. */
const struct ki_splice_process *top_view_process(const struct top_view *v);

/* Of a row. */
const struct ki_named_point *top_view_point(const struct top_view *v, size_t row);

#endif
