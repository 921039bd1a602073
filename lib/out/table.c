// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "out/table.h"

#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "util/text.h"
#include "util/vec.h"

struct ki_table {
	struct ki_column *columns; /* width: the widest so far */
	unsigned int n;
	ki_vec(char) text;    /* the cells, each with its terminator */
	ki_vec(size_t) cells; /* where they begin */
	bool titled;
	int err;
};

int ki_table_new(struct ki_table **out, const struct ki_column *columns, unsigned int n)
{
	struct ki_table *t = calloc(1, sizeof(*t));

	if (!t)
		return -ENOMEM;
	t->columns = calloc(n, sizeof(*t->columns));
	if (!t->columns) {
		free(t);
		return -ENOMEM;
	}
	t->n = n;
	memcpy(t->columns, columns, n * sizeof(*columns));
	for (unsigned int i = 0; i < n; i++)
		if (t->columns[i].width < strlen(columns[i].title))
			t->columns[i].width = (unsigned int)strlen(columns[i].title);
	*out = t;
	return 0;
}

void ki_table_free(struct ki_table *t)
{
	if (!t)
		return;
	ki_vec_free(&t->text);
	ki_vec_free(&t->cells);
	free(t->columns);
	free(t);
}

void ki_table_cell(struct ki_table *t, const char *fmt, ...)
{
	struct ki_column *c = &t->columns[t->cells.n % t->n];
	va_list ap;
	int len;

	va_start(ap, fmt);
	len = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (len < 0 || ki_vec_reserve(&t->text, (size_t)len + 1) ||
	    ki_vec_push(&t->cells, t->text.n)) {
		t->err = t->err ? t->err : -ENOMEM;
		return;
	}
	va_start(ap, fmt);
	vsnprintf(t->text.v + t->text.n, (size_t)len + 1, fmt, ap);
	va_end(ap);
	t->text.n += (size_t)len + 1;
	if (c->width < (unsigned int)len)
		c->width = (unsigned int)len;
}

/* No blanks at the end of a line: the last column is filled only on its left. */
static void print_cell(const struct ki_table *t, unsigned int column, const char *text, FILE *out)
{
	const struct ki_column *c = &t->columns[column];

	if (column)
		fputs("  ", out);
	if (c->align == KI_ALIGN_RIGHT)
		fprintf(out, "%*s", (int)c->width, text);
	else if (column + 1 < t->n)
		fprintf(out, "%-*s", (int)c->width, text);
	else
		fputs(text, out);
}

static void print_titles(const struct ki_table *t, FILE *out, bool bold)
{
	if (bold)
		fputs("\033[1m", out);
	for (unsigned int i = 0; i < t->n; i++)
		print_cell(t, i, t->columns[i].title, out);
	fputs(bold ? "\033[0m\n" : "\n", out);
}

static void print_value(const char *text, char separator, FILE *out)
{
	if (!strpbrk(text, "\"\r\n") && !strchr(text, separator)) {
		fputs(text, out);
		return;
	}
	fputc('"', out);
	for (; *text; text++) {
		if (*text == '"')
			fputc('"', out);
		fputc(*text, out);
	}
	fputc('"', out);
}

/* All cells there are, and the titles before if they are still to come; separator 0: aligned. */
static int print_all(struct ki_table *t, FILE *out, bool bold, char separator)
{
	size_t cells = t->cells.n / t->n * t->n, titles = t->titled ? 0 : t->n;

	if (t->err)
		return t->err;
	if (!t->titled && !separator) {
		print_titles(t, out, bold);
		titles = 0;
	}
	t->titled = true;
	for (size_t i = 0; i < titles + cells; i++) {
		unsigned int column = i % t->n;
		char *cell = i < titles ? NULL : t->text.v + t->cells.v[i - titles];
		const char *text = cell ? cell : t->columns[i].title;

		if (separator) {
			if (column)
				fputc(separator, out);
			print_value(text, separator, out);
		} else {
			ki_text_replace_controls(cell); /* it may come from outside */
			print_cell(t, column, text, out);
		}
		if (column == t->n - 1)
			fputc('\n', out);
	}
	t->cells.n = 0;
	t->text.n = 0;
	return ferror(out) ? -EIO : 0;
}

int ki_table_print(struct ki_table *t, FILE *out, bool bold)
{
	return print_all(t, out, bold, 0);
}

int ki_table_print_csv(struct ki_table *t, FILE *out, char separator)
{
	return print_all(t, out, false, separator);
}
