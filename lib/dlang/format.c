// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/format.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "util/text.h"

#define CONVERSIONS "diouxXcsSpYkaA@"
#define WIDEST	    10000

static int number(const char **p)
{
	long n = strtol(*p, NULL, 10);

	while (isdigit((unsigned char)**p))
		++*p;
	return n > WIDEST ? WIDEST : (int)n;
}

static void take_flags(const char **p, struct ki_d_spec *out)
{
	size_t n = 0;

	while (**p && strchr("-+ #0'", **p)) {
		if (n + 1 < sizeof(out->flags) && **p != '\'')
			out->flags[n++] = **p;
		++*p;
	}
}

static int conversion(const char **p, struct ki_d_spec *out, const char **why)
{
	take_flags(p, out);
	out->width = out->precision = -1;
	if (**p == '*') {
		out->width_arg = true;
		++*p;
	} else if (isdigit((unsigned char)**p)) {
		out->width = number(p);
	}
	if (**p == '.') {
		++*p;
		out->precision = number(p);
	}
	while (**p && strchr("hlLqjzt", **p))
		++*p;
	if (**p == '@') {
		out->at = true;
		++*p;
	}
	if (!**p || !strchr(CONVERSIONS, **p)) {
		*why = **p ? "no such conversion: %d %i %u %o %x %X %c %s %S %p %Y %a %k are known"
			   : "the format ends in a %";
		return -EINVAL;
	}
	out->conversion = *(*p)++;
	return 1;
}

int ki_d_format_next(const char **p, struct ki_d_spec *out, const char **why)
{
	*out = (struct ki_d_spec){.text = *p};
	if (!**p)
		return 0;
	if (**p == '%' && (*p)[1] == '%') {
		out->len = 1;
		*p += 2;
		return 1;
	}
	if (**p == '%') {
		++*p;
		return conversion(p, out, why);
	}
	out->len = strcspn(*p, "%");
	*p += out->len;
	return 1;
}

bool ki_d_format_takes(const struct ki_d_spec *s, struct ki_d_type t)
{
	if (s->conversion == 's' || s->conversion == 'S')
		return ki_d_is_string(t);
	if (s->conversion == 'k')
		return t.base == KI_D_STACK;
	return ki_d_is_scalar(t);
}

static bool is_signed(const struct ki_d_spec *s)
{
	return s->conversion == 'd' || s->conversion == 'i';
}

static void put_time(FILE *f, uint64_t nanoseconds)
{
	time_t at = (time_t)(nanoseconds / 1000000000);
	char text[64] = "";
	struct tm tm;

	if (localtime_r(&at, &tm))
		strftime(text, sizeof(text), "%Y %b %e %T", &tm);
	fputs(text, f);
}

/* Numbers are as wide as their type: %x of an int -1 is ffffffff. */
static uint64_t narrow(const struct ki_d_spec *s, struct ki_d_type t, uint64_t value)
{
	unsigned int bits = 8 * ki_d_size(t);

	if (bits == 64 || is_signed(s))
		return value;
	return value & ((UINT64_C(1) << bits) - 1);
}

void ki_d_format_number(FILE *f, const struct ki_d_spec *s, int width, struct ki_d_type t,
			uint64_t value)
{
	char fmt[64];
	const char *as = s->conversion == 'p'	? "#" PRIx64
			 : is_signed(s)		? PRId64
			 : s->conversion == 'o' ? PRIo64
			 : s->conversion == 'x' ? PRIx64
			 : s->conversion == 'X' ? PRIX64
						: PRIu64;

	if (s->conversion == 'Y') {
		put_time(f, value);
		return;
	}
	if (s->conversion == 'c') {
		fputc((int)(value & 0xff), f);
		return;
	}
	if (width < 0 && s->precision < 0)
		snprintf(fmt, sizeof(fmt), "%%%s%s", s->flags, as);
	else if (s->precision < 0)
		snprintf(fmt, sizeof(fmt), "%%%s%d%s", s->flags, width, as);
	else
		snprintf(fmt, sizeof(fmt), "%%%s%d.%d%s", s->flags, width < 0 ? 0 : width,
			 s->precision, as);
	fprintf(f, fmt, narrow(s, t, value));
}

void ki_d_format_string(FILE *f, const struct ki_d_spec *s, int width, const char *text)
{
	const bool left = strchr(s->flags, '-');
	const int most = s->precision < 0 ? (int)strlen(text) : s->precision;

	if (s->conversion == 'S') {
		ki_text_quote(f, text);
		return;
	}
	fprintf(f, left ? "%-*.*s" : "%*.*s", width < 0 ? 0 : width, most, text);
}
