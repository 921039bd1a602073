// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "util/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

void ki_text_quote(FILE *f, const char *text)
{
	fputc('"', f);
	for (; *text; text++)
		if (*text == '"' || *text == '\\')
			fprintf(f, "\\%c", *text);
		else if (isprint((unsigned char)*text))
			fputc(*text, f);
		else
			fprintf(f, "\\%03o", (unsigned char)*text);
	fputc('"', f);
}

/* One of the second set, in UTF-8. */
static bool is_wide_control(const unsigned char *s)
{
	return s[0] == 0xc2 && s[1] >= 0x80 && s[1] < 0xa0;
}

void ki_text_replace_controls(char *text)
{
	for (unsigned char *s = (unsigned char *)text; *s; s++)
		if (*s < ' ' || *s == 0x7f || is_wide_control(s)) {
			if (is_wide_control(s))
				*s++ = '?';
			*s = '?';
		}
}

void ki_text_vprint(FILE *f, const char *fmt, va_list ap)
{
	size_t n = strlen(fmt), newlines = 0;
	char *text;
	int len = vasprintf(&text, fmt, ap);

	if (len < 0)
		return;
	while (newlines < n && fmt[n - 1 - newlines] == '\n')
		newlines++;
	text[(size_t)len - newlines] = 0;
	ki_text_replace_controls(text);
	fputs(text, f);
	while (newlines--)
		fputc('\n', f);
	free(text);
}

void ki_text_print(FILE *f, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	ki_text_vprint(f, fmt, ap);
	va_end(ap);
}
