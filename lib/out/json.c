// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "out/json.h"

#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define EXACT_INTEGERS (UINT64_C(1) << 53)

void ki_json_init(struct ki_json *j, FILE *out)
{
	*j = (struct ki_json){.out = out};
}

static void fail(struct ki_json *j, int err)
{
	if (!j->err)
		j->err = err;
}

static void put(struct ki_json *j, const char *s, size_t n)
{
	if (!j->err && fwrite(s, 1, n, j->out) != n)
		fail(j, -EIO);
}

static void put_str(struct ki_json *j, const char *s)
{
	put(j, s, strlen(s));
}

/* Bytes of the UTF-8 sequence at s; 0 if it is none. s ends with a zero byte. */
static size_t utf8_len(const unsigned char *s)
{
	unsigned int min, c;
	size_t n;

	if (s[0] < 0x80)
		return 1;
	if (s[0] < 0xc2 || s[0] > 0xf4)
		return 0;
	n = s[0] < 0xe0 ? 2 : s[0] < 0xf0 ? 3 : 4;
	c = s[0] & (0x7f >> n);
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 0x3f);
	}
	min = n == 2 ? 0x80 : n == 3 ? 0x800 : 0x10000;
	if (c < min || c > 0x10ffff || (c >= 0xd800 && c <= 0xdfff))
		return 0;
	return n;
}

static void put_escape(struct ki_json *j, unsigned char c)
{
	static const char plain[] = "\"\\\b\f\n\r\t", letter[] = "\"\\bfnrt";
	const char *at = memchr(plain, c, sizeof(plain) - 1);
	char buf[8];

	if (at)
		snprintf(buf, sizeof(buf), "\\%c", letter[at - plain]);
	else
		snprintf(buf, sizeof(buf), "\\u%04x", c);
	put_str(j, buf);
}

static void put_quoted(struct ki_json *j, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;

	put(j, "\"", 1);
	while (*s) {
		size_t n = utf8_len(s);

		if (!n)
			put_str(j, "\xef\xbf\xbd");
		else if (*s < 0x20 || *s == '"' || *s == '\\' || *s == 0x7f)
			put_escape(j, *s);
		else if (*s == 0xc2 && s[1] < 0xa0) /* a control character, too */
			put_escape(j, s[1]);
		else
			put(j, (const char *)s, n);
		s += n ? n : 1;
	}
	put(j, "\"", 1);
}

/* What stands before a value: comma and key. An object's values have keys, no others do. */
static void begin(struct ki_json *j, const char *key)
{
	bool in_object = j->depth && j->close[j->depth - 1] == '}';

	if (in_object != (key != NULL) || (!j->depth && j->comma))
		fail(j, -EINVAL);
	if (j->comma)
		put(j, ",", 1);
	if (key) {
		put_quoted(j, key);
		put(j, ":", 1);
	}
	j->comma = true;
}

void ki_json_open(struct ki_json *j, const char *key, char kind)
{
	begin(j, key);
	if (j->depth == KI_JSON_DEPTH || (kind != '{' && kind != '[')) {
		fail(j, -EINVAL);
		return;
	}
	put(j, &kind, 1);
	j->close[j->depth++] = kind == '{' ? '}' : ']';
	j->comma = false;
}

void ki_json_close(struct ki_json *j)
{
	if (!j->depth) {
		fail(j, -EINVAL);
		return;
	}
	put(j, &j->close[--j->depth], 1);
	j->comma = true;
}

void ki_json_str(struct ki_json *j, const char *key, const char *s)
{
	begin(j, key);
	if (s)
		put_quoted(j, s);
	else
		put_str(j, "null");
}

void ki_json_u64(struct ki_json *j, const char *key, uint64_t n)
{
	char buf[32];

	begin(j, key);
	snprintf(buf, sizeof(buf), n < EXACT_INTEGERS ? "%" PRIu64 : "\"%" PRIu64 "\"", n);
	put_str(j, buf);
}

void ki_json_i64(struct ki_json *j, const char *key, int64_t n)
{
	bool exact = n < (int64_t)EXACT_INTEGERS && n > -(int64_t)EXACT_INTEGERS;
	char buf[32];

	begin(j, key);
	snprintf(buf, sizeof(buf), exact ? "%" PRId64 : "\"%" PRId64 "\"", n);
	put_str(j, buf);
}

void ki_json_hex(struct ki_json *j, const char *key, uint64_t addr)
{
	char buf[32];

	begin(j, key);
	snprintf(buf, sizeof(buf), "\"0x%" PRIx64 "\"", addr);
	put_str(j, buf);
}

/* The shortest form that reads back as the same number, with a point whatever the locale. */
void ki_json_double(struct ki_json *j, const char *key, double d)
{
	char buf[40], *point;

	begin(j, key);
	if (!isfinite(d)) {
		put_str(j, "null");
		return;
	}
	for (int digits = 6; digits <= 17; digits++) {
		snprintf(buf, sizeof(buf), "%.*g", digits, d);
		if (strtod(buf, NULL) == d)
			break;
	}
	point = strchr(buf, ',');
	if (point)
		*point = '.';
	put_str(j, buf);
}

void ki_json_bool(struct ki_json *j, const char *key, bool b)
{
	begin(j, key);
	put_str(j, b ? "true" : "false");
}

int ki_json_end_line(struct ki_json *j)
{
	if (j->depth)
		fail(j, -EINVAL);
	put(j, "\n", 1);
	j->comma = false;
	return j->err;
}
