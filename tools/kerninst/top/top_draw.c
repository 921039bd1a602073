// SPDX-License-Identifier: GPL-2.0-only
#include "top/top_draw.h"

#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/value_text.h"
#include "out/seconds.h"

#define COLUMN 13 /* width of a value, a space before it included */
#define LINE   1024

static const char keys[] = "q quit  Enter blocks  Backspace back  j k select  c calls  v vtime  "
			   "w walltime  s sort";

int top_canvas_open(struct top_canvas *c, unsigned int width, unsigned int height)
{
	*c = (struct top_canvas){.width = width, .height = height};
	c->text = malloc(((size_t)width + 1) * height + 1);
	c->looks = malloc(height + 1);
	if (c->text && c->looks)
		return 0;
	top_canvas_close(c);
	return -ENOMEM;
}

void top_canvas_close(struct top_canvas *c)
{
	free(c->text);
	free(c->looks);
	*c = (struct top_canvas){0};
}

static char *line_at(const struct top_canvas *c, unsigned int n)
{
	return c->text + ((size_t)c->width + 1) * n;
}

const char *top_canvas_line(const struct top_canvas *c, unsigned int n)
{
	return line_at(c, n);
}

/* What does not fit is left out; what would not be one character is a question mark. */
static void put_line(struct top_canvas *c, unsigned int n, enum top_look look, const char *text)
{
	char *to;
	unsigned int i = 0;

	if (n >= c->height)
		return;
	to = line_at(c, n);
	for (; i < c->width && text[i]; i++)
		to[i] = isprint((unsigned char)text[i]) ? text[i] : '?';
	memset(to + i, ' ', c->width - i);
	to[c->width] = 0;
	c->looks[n] = (unsigned char)look;
}

char *top_draw_title(const struct top_column *c, bool total, char text[TOP_TEXT])
{
	size_t i = 0;

	for (; c->metric[i] && i < TOP_TEXT - 3; i++)
		text[i] = (char)toupper((unsigned char)c->metric[i]);
	strcpy(text + i, total ? "" : "/S");
	return text;
}

char *top_draw_value(const struct top_column *c, const struct top_value *v, bool total,
		     char text[TOP_TEXT])
{
	if (isnan(v->total))
		snprintf(text, TOP_TEXT, "-");
	else if (total && c->seconds)
		ki_seconds_text(v->total, text);
	else if (total)
		snprintf(text, TOP_TEXT, "%.0f", v->total);
	else
		snprintf(text, TOP_TEXT, c->seconds ? "%.3f" : "%.1f", v->rate);
	return text;
}

void top_draw_summary(const struct top_model *m, char *text, size_t len)
{
	int n = snprintf(text, len, "%s: %zu of %zu", m->what, m->shown, m->nrows);

	if (m->refused && n > 0 && (size_t)n < len)
		snprintf(text + n, len - (size_t)n, ", %zu refused", m->refused);
}

static void draw_summary(struct top_canvas *c, const struct top_model *m)
{
	char text[LINE], what[LINE / 2];

	top_draw_summary(m, what, sizeof(what));
	snprintf(text, sizeof(text), "kerninst top  %.1f s, the last %.1f  %s%s%.200s", m->time,
		 m->seconds, what, m->when ? "  if " : "", m->when ? m->when : "");
	put_line(c, 0, TOP_PLAIN, text);
}

/* Values right, and room for names: text grows by what is written. */
static void append(char *text, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
static void append(char *text, const char *fmt, ...)
{
	size_t n = strlen(text);
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(text + n, LINE - n, fmt, ap);
	va_end(ap);
}

static void draw_titles(struct top_canvas *c, const struct top_model *m)
{
	char text[LINE] = "", cell[TOP_TEXT], marked[TOP_TEXT + 1];

	for (unsigned int i = 0; i < m->ncolumns; i++)
		for (int total = 0; total < 2; total++) {
			bool here = i == m->by && (int)m->sort == total;

			snprintf(marked, sizeof(marked), "%s%s", here ? ">" : "",
				 top_draw_title(&m->columns[i], total, cell));
			append(text, "%*s", COLUMN, marked);
		}
	append(text, "  %s", m->sort == TOP_BY_NAME ? ">POINT" : "POINT");
	put_line(c, 1, TOP_BOLD, text);
}

static void draw_row(struct top_canvas *c, const struct top_model *m, unsigned int line, size_t row)
{
	const struct top_row *r = &m->rows[row];
	char text[LINE] = "", cell[TOP_TEXT];

	for (unsigned int i = 0; i < m->ncolumns; i++)
		for (int total = 0; total < 2; total++)
			append(text, "%*s", COLUMN,
			       top_draw_value(&m->columns[i], &r->values[i], total, cell));
	append(text, "  %s", r->name);
	put_line(c, line, row == top_model_selected(m) ? TOP_INVERSE : TOP_PLAIN, text);
}

unsigned int top_draw_rows(const struct top_canvas *c)
{
	return c->height > 3 ? c->height - 3 : 0;
}

void top_draw(struct top_canvas *c, struct top_model *m, const char *status)
{
	const unsigned int rows = top_draw_rows(c);

	top_model_scroll(m, rows);
	draw_summary(c, m);
	draw_titles(c, m);
	for (unsigned int i = 0; i < rows; i++)
		if (m->first + i < m->shown)
			draw_row(c, m, 2 + i, m->order[m->first + i]);
		else
			put_line(c, 2 + i, TOP_PLAIN, "");
	put_line(c, rows ? 2 + rows : 2, TOP_BOLD, status && *status ? status : keys);
}
