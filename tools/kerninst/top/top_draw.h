/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A screen of kerninst top, as text: lines of a width, each all plain, bold or inverse.
 */
#ifndef KERNINST_TOP_DRAW_H
#define KERNINST_TOP_DRAW_H

#include "top/top_model.h"

enum top_look { TOP_PLAIN, TOP_BOLD, TOP_INVERSE };

struct top_canvas {
	unsigned int width, height;
	char *text;	      /* height lines of width characters, each with a 0 behind it */
	unsigned char *looks; /* enum top_look of each line */
};

/* 0, or -ENOMEM. */
int top_canvas_open(struct top_canvas *c, unsigned int width, unsigned int height);
void top_canvas_close(struct top_canvas *c);

const char *top_canvas_line(const struct top_canvas *c, unsigned int n);

/* Draw all of it. The last line is `status`, or what keys there are. The model is scrolled. */
void top_draw(struct top_canvas *c, struct top_model *m, const char *status);

/* How many rows fit. */
unsigned int top_draw_rows(const struct top_canvas *c);

/* The titles, and a row's values, as text for tables: "CALLS/S", "12.5"; total: since it has been
   measured. Returns text. */
#define TOP_TEXT 32
char *top_draw_title(const struct top_column *c, bool total, char text[TOP_TEXT]);
char *top_draw_value(const struct top_column *c, const struct top_value *v, bool total,
		     char text[TOP_TEXT]);

/* "functions: 3 of 8, 1 refused": what there is, and how much of it is shown. */
void top_draw_summary(const struct top_model *m, char *text, size_t len);

#endif
