// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Lines that begin with #: what they say is done, and they become blank, so that all else keeps its
 * place.
 */
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/program.h"
#include "predicate/lex.h"

#define LINE 256

int ki_d_no_memory(struct ki_err *err)
{
	return ki_err_set(err, -ENOMEM, 0, "D: out of memory");
}

int ki_d_error(const struct ki_dlang *d, struct ki_err *err, uint32_t at, const char *fmt, ...)
{
	unsigned int line = 1, column = 1;
	char why[KI_ERR_MSG];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	for (uint32_t i = 0; i < at && d->text[i]; i++, column++)
		if (d->text[i] == '\n') {
			line++;
			column = 0;
		}
	return ki_err_set(err, -EINVAL, 0, "D: line %u, column %u: %s", line, column, why);
}

static void place(struct ki_dlang *d, uint32_t at, const char *tag)
{
	const char *line = d->text + at;
	size_t len;

	if (d->where.tag)
		return;
	while (line > d->text && line[-1] != '\n')
		line--;
	len = strcspn(line, "\n");
	d->where = (struct ki_dlang_where){
		.tag = tag, .line = 1, .column = (unsigned int)(d->text + at - line) + 1};
	for (const char *p = d->text; p < line; p++)
		d->where.line += *p == '\n';
	if (len >= sizeof(d->where.text))
		len = sizeof(d->where.text) - 1;
	memcpy(d->where.text, line, len);
}

void ki_d_where(struct ki_dlang *d, uint32_t at, unsigned int wrong)
{
	static const char *const tags[] = {
		[KI_LEX_SYNTAX] = "D_SYNTAX",	       [KI_LEX_NUMBER_LARGE] = "D_INT_OFLOW",
		[KI_LEX_NUMBER_DIGIT] = "D_INT_DIGIT", [KI_LEX_STRING_END] = "D_STR_NL",
		[KI_LEX_CHAR_END] = "D_CHR_NL",	       [KI_LEX_CHAR_EMPTY] = "D_CHR_NULL",
		[KI_LEX_CHAR_LONG] = "D_CHR_OFLOW"};

	place(d, at, tags[wrong]);
}

int ki_d_fail(struct ki_dlang *d, struct ki_err *err, uint32_t at, const char *tag, const char *fmt,
	      ...)
{
	char why[KI_ERR_MSG];
	va_list ap;

	va_start(ap, fmt);
	vsnprintf(why, sizeof(why), fmt, ap);
	va_end(ap);
	place(d, at, tag);
	return ki_d_error(d, err, at, "%s", why);
}

/* ---- options ---- */

static int set_option(struct ki_dlang *d, char *text, uint32_t at, struct ki_err *err)
{
	char *value = strchr(text, '=');
	int ret;

	if (value)
		*value++ = 0;
	ret = ki_d_option(&d->set, text, value, false);
	if (ret && value)
		return ki_d_error(d, err, at, "failed to set option '%.40s' to '%.40s': %s", text,
				  value, ki_d_option_why(ret));
	return ret ? ki_d_error(d, err, at, "failed to set option '%.40s': %s", text,
				ki_d_option_why(ret))
		   : 0;
}

/* ---- lines ---- */

static int pragma(struct ki_dlang *d, char *line, uint32_t at, struct ki_err *err)
{
	static const char *const blank = " \t";
	char *next, *word = strtok_r(line, blank, &next);

	if (!word || strcmp(word, "pragma") != 0)
		return ki_d_error(d, err, at, "#%.32s means nothing here: #pragma D option NAME",
				  word ? word : "");
	word = strtok_r(NULL, blank, &next);
	if (!word || strcmp(word, "D") != 0)
		return 0; /* another program's */
	word = strtok_r(NULL, blank, &next);
	if (!word || strcmp(word, "option") != 0)
		return ki_d_error(d, err, at, "#pragma D %.32s is not known: option NAME is",
				  word ? word : "");
	word = strtok_r(NULL, blank, &next);
	return word ? set_option(d, word, at, err)
		    : ki_d_error(d, err, at, "#pragma D option: a name is expected");
}

/* The line that begins there, of len bytes, becomes blank. */
static int take_line(struct ki_dlang *d, char *text, size_t len, struct ki_err *err)
{
	uint32_t at = (uint32_t)(text - d->text);
	const char *mark = memchr(text, '#', len);
	char line[LINE];
	size_t n;

	if (at == 0 && len > 1 && text[1] == '!') {
		memset(text, ' ', len);
		return 0;
	}
	n = (size_t)(text + len - mark) - 1;
	if (n >= sizeof(line))
		return ki_d_error(d, err, at, "a line with # of more than %d bytes", LINE - 1);
	memcpy(line, mark + 1, n);
	line[n] = 0;
	memset(text, ' ', len);
	return pragma(d, line, at, err);
}

int ki_d_source(struct ki_dlang *d, struct ki_err *err)
{
	char *p = d->text;
	int ret = 0;

	while (!ret && *p) {
		size_t len = strcspn(p, "\n"), blank = strspn(p, " \t\r");

		if (p[blank] == '#')
			ret = take_line(d, p, len, err);
		p += len + (p[len] == '\n');
	}
	return ret;
}
