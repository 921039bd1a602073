/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What kerninst top shows: rows of values, in which order, and which of them is selected. It knows
 * neither the kernel nor the terminal.
 */
#ifndef KERNINST_TOP_MODEL_H
#define KERNINST_TOP_MODEL_H

#include <stdbool.h>
#include <stddef.h>

#define TOP_COLUMNS 8
#define TOP_NONE    ((size_t)-1)

enum top_sort { TOP_BY_RATE, TOP_BY_TOTAL, TOP_BY_NAME, TOP_SORTS };

/* Not a number: it cannot be measured there. */
struct top_value {
	double rate;  /* a second, in the last interval */
	double total; /* since it has been measured */
};

struct top_row {
	const char *name; /* the caller's */
	struct top_value values[TOP_COLUMNS];
};

struct top_column {
	const char *metric;
	bool seconds; /* else counts */
};

struct top_model {
	const char *what; /* "functions"; the caller's, as all texts are */
	const char *when; /* the condition; NULL: none */
	struct top_column columns[TOP_COLUMNS];
	unsigned int ncolumns;
	struct top_row *rows;
	size_t nrows;
	bool idle;	      /* rows of what has not happened are shown, too */
	double time, seconds; /* since the start; of the last interval */
	enum top_sort sort;
	unsigned int by; /* the column that they are sorted by */
	size_t *order;	 /* rows that are shown: [shown] */
	size_t shown, refused;
	size_t selected; /* a row; TOP_NONE: whichever is the first */
	size_t first;	 /* the first on the screen: index in order */
};

/* Rows without a name or values. 0, or -ENOMEM. */
int top_model_open(struct top_model *m, size_t nrows);
void top_model_close(struct top_model *m);

/* The column of a metric, which is new then. TOP_COLUMNS: there is no room for it. */
unsigned int top_model_column(struct top_model *m, const char *metric, bool seconds);

/* Put the rows in order; to be done when values or what they are sorted by have changed. */
void top_model_sort(struct top_model *m);

/* Another row is selected: so many further down, as far as there are any. One that has been
   selected stays so wherever it goes, but for the first, which is whichever is the first. */
void top_model_move(struct top_model *m, long by);

/* The one that is selected; TOP_NONE: there are no rows. */
size_t top_model_selected(const struct top_model *m);

/* The selected one shall be among the `height` rows that are on the screen. */
void top_model_scroll(struct top_model *m, size_t height);

#endif
