// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/print/format.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "snippet/tree.h"

#define CONVERSIONS    "diouxXcCsSpYTkaAeEfFgG@"
#define FLOATS	       "eEfFgG"
#define LONGS	       "DOU" /* of 8 bytes: %ld, %lo, %lu */
#define WIDEST	       99999999
#define ADDRESS_DIGITS 16 /* %?x is as wide as an address */

static int number(const char **p)
{
	long n = strtol(*p, NULL, 10);

	while (isdigit((unsigned char)**p))
		++*p;
	return n > WIDEST ? WIDEST : (int)n;
}

/* The @ of printa() may stand before them, among them, or behind the width. */
static void take_flags(const char **p, struct ki_d_spec *out)
{
	size_t n = 0;

	for (; **p && strchr("-+ #0'@", **p); ++*p) {
		if (**p == '@')
			out->at = true;
		else if (n + 1 < sizeof(out->flags))
			out->flags[n++] = **p;
	}
}

static int conversion(const char **p, struct ki_d_spec *out, const char **why)
{
	take_flags(p, out);
	out->width = out->precision = -1;
	if (**p == '*') {
		out->width_arg = true;
		++*p;
	} else if (**p == '?') {
		out->width = ADDRESS_DIGITS;
		++*p;
	} else if (isdigit((unsigned char)**p)) {
		out->width = number(p);
	}
	if (**p == '.') {
		++*p;
		out->precision_arg = **p == '*';
		*p += out->precision_arg;
		out->precision = out->precision_arg ? -1 : number(p);
	}
	while (**p && strchr("hlLqjztw", **p))
		++*p;
	if (**p == '@') {
		out->at = true;
		++*p;
	}
	if (!**p || !strchr(CONVERSIONS LONGS, **p)) {
		*why = **p ? "no such conversion: %d %i %u %o %x %X %c %s %S %p %Y %a %k are known"
			   : "the format ends in a %";
		return -EINVAL;
	}
	out->conversion = strchr(LONGS, **p) ? (char)tolower(**p) : **p;
	++*p;
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
	if (ki_d_is_place(t))
		return s->conversion == (t.num >= KI_D_USYM ? 'A' : 'a');
	if (strchr("apA", s->conversion))
		return ki_d_is_scalar(t);
	if (t.base == KI_D_FLOAT && !t.stars)
		return strchr(FLOATS, s->conversion);
	if (t.stars || !ki_d_is_scalar(t))
		return false;
	if (strchr("cC", s->conversion))
		return ki_d_size(t) <= 4;
	return !strchr("YT", s->conversion) || ki_d_size(t) == 8;
}

static bool is_decimal(const struct ki_d_spec *s)
{
	return s->conversion == 'd' || s->conversion == 'i';
}

/* %Y is the local time, %T that of mail. */
static void put_time(FILE *f, const struct ki_d_spec *s, int width, uint64_t nanoseconds)
{
	const bool left = strchr(s->flags, '-');
	time_t at = (time_t)(nanoseconds / 1000000000);
	char text[64] = "";
	struct tm tm;

	if (localtime_r(&at, &tm))
		strftime(text, sizeof(text),
			 s->conversion == 'Y' ? "%Y %b %e %T" : "%a, %d %b %G %T %Z", &tm);
	fprintf(f, left ? "%-*s" : "%*s", width < 0 ? 0 : width, text);
}

static void put_char(FILE *f, const struct ki_d_spec *s, int width, unsigned char c)
{
	if (s->conversion == 'C')
		ki_d_format_escaped(f, c);
	else
		fprintf(f, strchr(s->flags, '-') ? "%-*c" : "%*c", width < 0 ? 0 : width, c);
}

/* Numbers are as wide as their type: %x of an int -1 is ffffffff. */
static uint64_t narrow(struct ki_d_type t, uint64_t value)
{
	unsigned int bits = 8 * ki_d_size(t);

	return bits == 64 ? value : value & ((UINT64_C(1) << bits) - 1);
}

/* "%-08ld" and the like, of flags, width, precision and what stands behind them. */
static void rebuild(char fmt[64], const struct ki_d_spec *s, int width, const char *as)
{
	if (width < 0 && s->precision < 0)
		snprintf(fmt, 64, "%%%s%s", s->flags, as);
	else if (s->precision < 0)
		snprintf(fmt, 64, "%%%s%d%s", s->flags, width, as);
	else if (width < 0)
		snprintf(fmt, 64, "%%%s.%d%s", s->flags, s->precision, as);
	else
		snprintf(fmt, 64, "%%%s%d.%d%s", s->flags, width, s->precision, as);
}

static void put_float(FILE *f, const struct ki_d_spec *s, int width, struct ki_d_type t,
		      uint64_t value)
{
	const char as[] = {s->conversion, 0};
	char fmt[64];
	double x;

	rebuild(fmt, s, width, as);
	memcpy(&x, &value, sizeof(x));
	if (t.base == KI_D_INT)
		x = ki_d_num(t) >= KI_U8 ? (double)value : (double)(int64_t)value;
	fprintf(f, fmt, x);
}

void ki_d_format_number(FILE *f, const struct ki_d_spec *s, int width, struct ki_d_type t,
			uint64_t value)
{
	const bool sign = is_decimal(s) && ki_d_num(t) < KI_U8;
	const char c = s->conversion, *as = sign		   ? PRId64
					    : c == 'o'		   ? PRIo64
					    : c == 'X'		   ? PRIX64
					    : c == 'x' || c == 'p' ? PRIx64
								   : PRIu64;
	char fmt[64];

	if (strchr("YT", c)) {
		put_time(f, s, width, value);
	} else if (strchr("cC", c)) {
		put_char(f, s, width, (unsigned char)value);
	} else if (strchr(FLOATS, c)) {
		put_float(f, s, width, t, value);
	} else {
		rebuild(fmt, s, width, as);
		fprintf(f, fmt, sign ? ki_type_extend(ki_d_num(t), value) : narrow(t, value));
	}
}

void ki_d_format_escaped(FILE *f, unsigned char c)
{
	static const char named[] = "\0\a\b\f\n\r\t\v\"\\", letters[] = "0abfnrtv\"\\";
	const char *at = memchr(named, c, sizeof(named) - 1);

	if (at)
		fprintf(f, "\\%c", letters[at - named]);
	else if (isprint(c))
		fputc(c, f);
	else
		fprintf(f, "\\%03o", c);
}

/* A precision of 0 limits nothing, as the reference has it. */
void ki_d_format_string(FILE *f, const struct ki_d_spec *s, int width, const char *text)
{
	const bool left = strchr(s->flags, '-');
	const int most = s->precision <= 0 ? (int)strlen(text) : s->precision;
	char *escaped = NULL;
	size_t len;
	FILE *m;

	if (s->conversion != 'S') {
		fprintf(f, left ? "%-*.*s" : "%*.*s", width < 0 ? 0 : width, most, text);
		return;
	}
	m = open_memstream(&escaped, &len);
	for (; m && *text; text++)
		ki_d_format_escaped(m, (unsigned char)*text);
	if (m && fclose(m) == 0)
		fprintf(f, left ? "%-*s" : "%*s", width < 0 ? 0 : width, escaped);
	free(escaped);
}
