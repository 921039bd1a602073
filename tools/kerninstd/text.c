// SPDX-License-Identifier: GPL-2.0-only
#include "text.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_INTEGERS 9007199254740992.0 /* 2^53 */

static bool make_room(struct text *t, size_t n)
{
	size_t cap = t->cap ? t->cap : 256;
	char *v;

	if (t->failed || n < t->cap - t->n)
		return !t->failed;
	while (cap - t->n <= n)
		cap *= 2;
	v = realloc(t->v, cap);
	if (!v) {
		t->failed = true;
		return false;
	}
	t->v = v;
	t->cap = cap;
	return true;
}

void text_put(struct text *t, const char *s, size_t n)
{
	if (!make_room(t, n))
		return;
	memcpy(t->v + t->n, s, n);
	t->n += n;
	t->v[t->n] = '\0';
}

void text_str(struct text *t, const char *s)
{
	text_put(t, s, strlen(s));
}

void text_u64(struct text *t, uint64_t n)
{
	char buf[20], *p = buf + sizeof(buf);

	do
		*--p = (char)('0' + n % 10);
	while (n /= 10);
	text_put(t, p, (size_t)(buf + sizeof(buf) - p));
}

void text_double(struct text *t, double d)
{
	if (!isfinite(d)) {
		text_str(t, "null");
	} else if (d >= 0 && d < EXACT_INTEGERS && d == floor(d)) {
		text_u64(t, (uint64_t)d);
	} else {
		text_printf(t, "%.9g", d);
	}
}

void text_printf(struct text *t, const char *fmt, ...)
{
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0 || !make_room(t, (size_t)n + 1))
		return;
	va_start(ap, fmt);
	vsnprintf(t->v + t->n, (size_t)n + 1, fmt, ap);
	va_end(ap);
	t->n += (size_t)n;
}

void text_free(struct text *t)
{
	free(t->v);
	*t = (struct text){0};
}
