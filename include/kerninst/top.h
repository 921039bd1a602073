/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What kerninst top shows: points that are measured while it goes on, as rows of values, in an
 * order, one of them selected; drawn on a canvas, or written as tables. The model knows neither the
 * kernel nor the terminal.
 *
 * Metrics that come later have a session of their own, as each view has: what is no longer looked
 * at gives back all it had.
 */
#ifndef KERNINST_TOP_H
#define KERNINST_TOP_H

#include <stdbool.h>
#include <stddef.h>

#include "kerninst/page.h"
#include "kerninst/points.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KI_TOP_COLUMNS 8
#define KI_TOP_NONE    ((size_t)-1)

enum ki_top_sort { KI_TOP_BY_RATE, KI_TOP_BY_TOTAL, KI_TOP_BY_NAME, KI_TOP_SORTS };

/* Not a number: it cannot be measured there. */
struct ki_top_value {
	double rate;  /* a second, in the last interval */
	double total; /* since it has been measured */
};

struct ki_top_row {
	const char *name; /* the caller's */
	struct ki_top_value values[KI_TOP_COLUMNS];
};

struct ki_top_column {
	const char *metric;
	bool seconds; /* else counts */
};

struct ki_top_model {
	const char *what; /* "functions"; the caller's, as all texts are */
	const char *when; /* the condition; NULL: none */
	struct ki_top_column columns[KI_TOP_COLUMNS];
	unsigned int ncolumns;
	struct ki_top_row *rows;
	size_t nrows;
	bool idle;	      /* rows of what has not happened are shown, too */
	double time, seconds; /* since the start; of the last interval */
	enum ki_top_sort sort;
	unsigned int by; /* the column that they are sorted by */
	size_t *order;	 /* rows that are shown: [shown] */
	size_t shown, refused;
	size_t selected; /* a row; KI_TOP_NONE: whichever is the first */
	size_t first;	 /* the first on the screen: index in order */
};

/* Rows without a name or values. 0, or -ENOMEM. */
int ki_top_model_new(struct ki_top_model *m, size_t nrows);
void ki_top_model_free(struct ki_top_model *m);

/* The column of a metric, which is new then. KI_TOP_COLUMNS: there is no room for it. */
unsigned int ki_top_model_column(struct ki_top_model *m, const char *metric, bool seconds);

/* Put the rows in order; to be done when values or what they are sorted by have changed. */
void ki_top_model_sort(struct ki_top_model *m);

/* Another row is selected: so many further down, as far as there are any. One that has been
   selected stays so wherever it goes, but for the first, which is whichever is the first. */
void ki_top_model_move(struct ki_top_model *m, long by);

/* The one that is selected; KI_TOP_NONE: there are no rows. */
size_t ki_top_model_selected(const struct ki_top_model *m);

/* The selected one shall be among the `height` rows that are on the screen. */
void ki_top_model_scroll(struct ki_top_model *m, size_t height);

/* ---- as a screen, and as text ---- */

struct ki_canvas;

/* Draw all of it. The last line is `status`, or what keys there are. The model is scrolled. */
void ki_top_draw(struct ki_canvas *c, struct ki_top_model *m, const char *status);

/* How many rows fit. */
unsigned int ki_top_draw_rows(const struct ki_canvas *c);

/* The titles, and a row's values, as text for tables: "CALLS/S", "12.5"; total: since it has been
   measured. Returns text. */
#define KI_TOP_TEXT 32
char *ki_top_draw_title(const struct ki_top_column *c, bool total, char text[KI_TOP_TEXT]);
char *ki_top_draw_value(const struct ki_top_column *c, const struct ki_top_value *v, bool total,
			char text[KI_TOP_TEXT]);

/* "functions: 3 of 8, 1 refused": what there is, and how much of it is shown. */
void ki_top_draw_summary(const struct ki_top_model *m, char *text, size_t len);

/* ---- what is measured ---- */

/* How a view measures; lives as long as it. */
struct ki_top_how {
	const struct ki_predicate *when; /* NULL: always */
	const char *condition;		 /* the same as text */
	pid_t pid;			 /* of a process; 0: the kernel */
	bool silent;			 /* no warnings of what is refused */
	const struct ki_listener *listener;
	/* Opens what is measured, once for each gauge. 0, or -errno. */
	int (*open)(void *open_arg, struct ki_target **t, struct ki_err *err);
	void *open_arg;
};

struct ki_top_gauge {
	struct ki_target *t;
	struct ki_points points;
	struct ki_reading *begin, *seen, *now;
	double begun, at, seconds; /* of the first and last reading; since the one before that */
};

/* Where a column's values come from. */
struct ki_top_cell {
	unsigned int gauge, cell; /* cell: of each of its points */
};

struct ki_top_view {
	const struct ki_top_how *how;
	const char *preset; /* functions beside those asked for; NULL: none */
	struct ki_asked asked;
	char *what;
	struct ki_top_gauge gauges[KI_TOP_COLUMNS];
	unsigned int ngauges;
	struct ki_top_cell cells[KI_TOP_COLUMNS]; /* of the model's columns */
	struct ki_top_model model;
	double start;
};

/* Ask for points before the first metric. what: a name for them; idle: those that are not reached
   are rows, too. 0, or -ENOMEM. */
int ki_top_view_new(struct ki_top_view *v, const struct ki_top_how *how, const char *what,
		    bool idle);
void ki_top_view_free(struct ki_top_view *v); /* takes out what is left */

/* 0, or -errno, as of all that follow. Measure these, too, those of them that are not measured yet.
 * Rows are sorted by the first. */
int ki_top_view_measure(struct ki_top_view *v, const struct ki_metric *const *metrics,
			unsigned int n, struct ki_err *err);

/* Open a view of the blocks of a point's function, and measure that. */
int ki_top_view_blocks(struct ki_top_view *v, const struct ki_top_how *how,
		       const struct ki_named_point *p, const struct ki_metric *metric,
		       struct ki_err *err);

/* What has been counted before this moment does not count. */
int ki_top_view_begin(struct ki_top_view *v, struct ki_err *err);

/* Read all, and put the rows in order. */
int ki_top_view_read(struct ki_top_view *v, struct ki_err *err);

/* Rates are of all the time since the start, from now on. */
void ki_top_view_whole(struct ki_top_view *v);

int ki_top_view_take_out(struct ki_top_view *v, struct ki_err *err);

/* The process's, since the first metric is measured; NULL: the kernel. */
const struct ki_splice_process *ki_top_view_process(const struct ki_top_view *v);

/* Of a row. */
const struct ki_named_point *ki_top_view_point(const struct ki_top_view *v, size_t row);

/* So many rows of it, in their order, as a table, or as JSON, an object for each; 0: all. 0, or
   -errno. */
int ki_top_print(const struct ki_top_view *v, unsigned int rows, const struct ki_page *page);

#ifdef __cplusplus
}
#endif

#endif
