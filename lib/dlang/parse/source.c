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

#define LINE  256
#define BLANK " \t"

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

/* As it is counted from the last mark on. */
static unsigned int line_of(const struct ki_dlang *d, uint32_t at)
{
	struct ki_d_mark from = {.line = 1};

	for (size_t i = 0; i < d->marks.n; i++)
		if (d->marks.v[i].at <= at)
			from = d->marks.v[i];
	for (uint32_t i = from.at; i < at; i++)
		from.line += d->text[i] == '\n';
	return from.line;
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
	d->where = (struct ki_dlang_where){.tag = tag,
					   .at = at,
					   .line = line_of(d, at),
					   .column = (unsigned int)(d->text + at - line) + 1};
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
	ret = ki_d_option(&d->set, text, value, KI_D_IN_PROGRAM);
	if (ret && value)
		return ki_d_fail(d, err, at, "D_PRAGMA_OPTSET",
				 "failed to set option '%.40s' to '%.40s': %s", text, value,
				 ki_d_option_why(ret));
	return ret ? ki_d_fail(d, err, at, "D_PRAGMA_OPTSET", "failed to set option '%.40s': %s",
			       text, ki_d_option_why(ret))
		   : 0;
}

/* ---- lines ---- */

static bool is_any(const char *word, const char *const *words)
{
	for (; *words; words++)
		if (!strcmp(word, *words))
			return true;
	return false;
}

/* "1.2", "1.2.3" */
static bool is_version(const char *text)
{
	int end = 0;

	if (sscanf(text, "\"%*u.%*u\"%n", &end) == 0 && end)
		return !text[end];
	return sscanf(text, "\"%*u.%*u.%*u\"%n", &end) == 0 && end && !text[end];
}

/* What a pragma is about is declared behind it, or before. All providers are known. */
static int note_about(struct ki_dlang *d, const char *name, uint32_t at, struct ki_err *err)
{
	struct ki_d_about about = {.at = at};

	if (!strcmp(name, "provider") || !strcmp(name, "translator"))
		return 0;
	about.name = strdup(name);
	if (about.name && !ki_vec_push(&d->abouts, about))
		return 0;
	free(about.name);
	return ki_d_no_memory(err);
}

/* How stable a name is, since which version it is there, what a program needs. */
static int for_others(struct ki_dlang *d, const char *word, char **next, uint32_t at,
		      struct ki_err *err)
{
	static const char *const classes[] = {"provider", "module", "library", NULL};
	char *about = strtok_r(NULL, BLANK, next), *name = strtok_r(NULL, BLANK, next);
	const bool is_binding = !strcmp(word, "binding");
	struct ki_d_attributes attributes;

	if (!name || is_binding != (*about == '"'))
		return ki_d_fail(d, err, at, "D_PRAGMA_MALFORM",
				 "#pragma D %s: two words are expected", word);
	if (is_binding			  ? !is_version(about)
	    : !strcmp(word, "attributes") ? !ki_d_attributes_of(about, &attributes)
					  : !is_any(about, classes))
		return ki_d_fail(d, err, at, "D_PRAGMA_INVAL", "#pragma D %s: what is %.32s?", word,
				 about);
	if (!strcmp(word, "depends_on"))
		return strcmp(about, "library") != 0
			       ? 0
			       : ki_d_fail(d, err, at, "D_PRAGMA_DEPEND",
					   "%.32s: a program depends on no library", name);
	return note_about(d, name, at, err);
}

static int pragma_d(struct ki_dlang *d, char **next, uint32_t at, struct ki_err *err)
{
	static const char *const others[] = {"attributes", "binding", "depends_on", NULL};
	const char *word = strtok_r(NULL, BLANK, next);
	char *option;

	if (word && is_any(word, others))
		return for_others(d, word, next, at, err);
	if (word && !strcmp(word, "error"))
		return ki_d_fail(d, err, at, "D_PRAGERR", "#error: %s", *next);
	if (!word || strcmp(word, "option") != 0)
		return ki_d_fail(d, err, at, "D_PRAGMA_INVAL",
				 "#pragma D %.32s is not known: option NAME is", word ? word : "");
	option = strtok_r(NULL, BLANK, next);
	if (!option)
		return ki_d_fail(d, err, at, "D_PRAGMA_MALFORM",
				 "#pragma D option: a name is expected");
	if (strtok_r(NULL, BLANK, next))
		return ki_d_fail(d, err, at, "D_PRAGMA_MALFORM",
				 "#pragma D option: one option is expected, as NAME=VALUE");
	return set_option(d, option, at, err);
}

static int pragma(struct ki_dlang *d, char *line, uint32_t at, struct ki_err *err)
{
	char *next, *word = strtok_r(line, BLANK, &next);

	if (word && !strcmp(word, "error"))
		return ki_d_fail(d, err, at, "D_PRAGERR", "#error: %s", next);
	if (word && !strcmp(word, "ident"))
		return 0;
	if (!word || strcmp(word, "pragma") != 0)
		return ki_d_fail(d, err, at, "D_PRAGCTL_INVAL",
				 "invalid control directive: #%.32s; -C runs the C preprocessor "
				 "first",
				 word ? word : "");
	word = strtok_r(NULL, BLANK, &next);
	if (word && !strcmp(word, "error"))
		return ki_d_fail(d, err, at, "D_PRAGERR", "#error: %s", next);
	return word && !strcmp(word, "D") ? pragma_d(d, &next, at, err) : 0;
}

/* # 12 "file", #line 12: what follows is line 12 of a file. False: it is something else. */
static bool take_mark(const char *line, unsigned int *number)
{
	line += strspn(line, BLANK);
	if (!strncmp(line, "line", 4) && strchr(BLANK, line[4]))
		line += 4;
	line += strspn(line, BLANK);
	*number = (unsigned int)strtoul(line, NULL, 10);
	return isdigit((unsigned char)*line);
}

/* The line that begins there, of len bytes, becomes blank. */
static int take_line(struct ki_dlang *d, char *text, size_t len, struct ki_err *err)
{
	uint32_t at = (uint32_t)(text - d->text);
	const char *mark = memchr(text, '#', len);
	struct ki_d_mark m = {.at = at + (uint32_t)len + 1};
	char line[LINE];
	size_t n;
	int ret = 0;

	n = (size_t)(text + len - mark) - 1;
	if (n >= sizeof(line))
		return ki_d_fail(d, err, at, "D_SYNTAX", "a line with # of more than %d bytes",
				 LINE - 1);
	memcpy(line, mark + 1, n);
	line[n] = 0;
	if (take_mark(line, &m.line))
		ret = ki_vec_push(&d->marks, m) ? ki_d_no_memory(err) : 0;
	else if (text != mark || line[0] != '!')
		ret = pragma(d, line, at, err);
	if (!ret)
		memset(text, ' ', len);
	return ret;
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
