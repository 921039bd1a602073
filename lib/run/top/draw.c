// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/top.h"

#include <ctype.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "kerninst/value_text.h"
#include "out/canvas.h"
#include "out/seconds.h"

#define COLUMN 13 /* width of a value, a space before it included */
#define LINE   1024

static const char keys[] = "q quit  Enter blocks  Backspace back  j k select  c calls  v vtime  "
			   "w walltime  s sort";

char *ki_top_draw_title(const struct ki_top_column *c, bool total, char text[KI_TOP_TEXT])
{
	size_t i = 0;

	for (; c->metric[i] && i < KI_TOP_TEXT - 3; i++)
		text[i] = (char)toupper((unsigned char)c->metric[i]);
	strcpy(text + i, total ? "" : "/S");
	return text;
}

char *ki_top_draw_value(const struct ki_top_column *c, const struct ki_top_value *v, bool total,
			char text[KI_TOP_TEXT])
{
	if (isnan(v->total))
		snprintf(text, KI_TOP_TEXT, "-");
	else if (total && c->seconds)
		ki_seconds_text(v->total, text);
	else if (total)
		snprintf(text, KI_TOP_TEXT, "%.0f", v->total);
	else
		snprintf(text, KI_TOP_TEXT, c->seconds ? "%.3f" : "%.1f", v->rate);
	return text;
}

void ki_top_draw_summary(const struct ki_top_model *m, char *text, size_t len)
{
	int n = snprintf(text, len, "%s: %zu of %zu", m->what, m->shown, m->nrows);

	if (m->refused && n > 0 && (size_t)n < len)
		snprintf(text + n, len - (size_t)n, ", %zu refused", m->refused);
}

static void draw_summary(struct ki_canvas *c, const struct ki_top_model *m)
{
	char text[LINE], what[LINE / 2];

	ki_top_draw_summary(m, what, sizeof(what));
	snprintf(text, sizeof(text), "kerninst top  %.1f s, the last %.1f  %s%s%.200s", m->time,
		 m->seconds, what, m->when ? "  if " : "", m->when ? m->when : "");
	ki_canvas_put(c, 0, KI_LOOK_PLAIN, text);
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

static void draw_titles(struct ki_canvas *c, const struct ki_top_model *m)
{
	char text[LINE] = "", cell[KI_TOP_TEXT], marked[KI_TOP_TEXT + 1];

	for (unsigned int i = 0; i < m->ncolumns; i++)
		for (int total = 0; total < 2; total++) {
			bool here = i == m->by && (int)m->sort == total;

			snprintf(marked, sizeof(marked), "%s%s", here ? ">" : "",
				 ki_top_draw_title(&m->columns[i], total, cell));
			append(text, "%*s", COLUMN, marked);
		}
	append(text, "  %s", m->sort == KI_TOP_BY_NAME ? ">POINT" : "POINT");
	ki_canvas_put(c, 1, KI_LOOK_BOLD, text);
}

static void draw_row(struct ki_canvas *c, const struct ki_top_model *m, unsigned int line,
		     size_t row)
{
	const struct ki_top_row *r = &m->rows[row];
	char text[LINE] = "", cell[KI_TOP_TEXT];

	for (unsigned int i = 0; i < m->ncolumns; i++)
		for (int total = 0; total < 2; total++)
			append(text, "%*s", COLUMN,
			       ki_top_draw_value(&m->columns[i], &r->values[i], total, cell));
	append(text, "  %s", r->name);
	ki_canvas_put(c, line, row == ki_top_model_selected(m) ? KI_LOOK_INVERSE : KI_LOOK_PLAIN,
		      text);
}

unsigned int ki_top_draw_rows(const struct ki_canvas *c)
{
	return c->height > 3 ? c->height - 3 : 0;
}

void ki_top_draw(struct ki_canvas *c, struct ki_top_model *m, const char *status)
{
	const unsigned int rows = ki_top_draw_rows(c);

	ki_top_model_scroll(m, rows);
	draw_summary(c, m);
	draw_titles(c, m);
	for (unsigned int i = 0; i < rows; i++)
		if (m->first + i < m->shown)
			draw_row(c, m, 2 + i, m->order[m->first + i]);
		else
			ki_canvas_put(c, 2 + i, KI_LOOK_PLAIN, "");
	ki_canvas_put(c, rows ? 2 + rows : 2, KI_LOOK_BOLD, status && *status ? status : keys);
}
