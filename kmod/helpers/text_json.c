// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper TEXT: a value in a text that is JSON (RFC 8259). Objects and arrays that lead to it are
 * walked, all else is passed over. Each step goes forward in the text, so its length bounds them.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/string.h>

#include "data/stacks.h"
#include "data/texts.h"

#define NOWHERE U32_MAX

static bool is_one_of(const struct ki_op *o, u32 i, const char *set)
{
	return i < o->s.len && o->s.at[i] && strchr(set, o->s.at[i]);
}

static u32 past_blanks(const struct ki_op *o, u32 i)
{
	while (is_one_of(o, i, " \t\r\n"))
		i++;
	return i;
}

/* From a quote to what is after the other one; the end, if there is none. */
static u32 past_string(const struct ki_op *o, u32 i)
{
	for (i++; i < o->s.len && o->s.at[i] != '"'; i++)
		if (o->s.at[i] == '\\')
			i++;
	return min(i + 1, o->s.len);
}

static u32 past_word(const struct ki_op *o, u32 i)
{
	while (i < o->s.len && !is_one_of(o, i, " \t\r\n,:[]{}\""))
		i++;
	return i;
}

static u32 past_value(const struct ki_op *o, u32 i)
{
	u32 depth = 0;

	do {
		i = past_blanks(o, i);
		if (is_one_of(o, i, "\""))
			i = past_string(o, i);
		else if (is_one_of(o, i, "[]{},:")) {
			depth += is_one_of(o, i, "[{");
			depth -= is_one_of(o, i, "]}") && depth;
			i++;
		} else
			i = past_word(o, i);
	} while (depth && i < o->s.len);
	return i;
}

/* The part of the path that begins there or later; its length, 0 if there is none. */
static u32 part(const struct ki_op *o, u32 *at)
{
	u32 n = 0;

	while (*at < o->x.len && strchr(".[]", o->x.at[*at]))
		++*at;
	while (*at + n < o->x.len && !strchr(".[]", o->x.at[*at + n]))
		n++;
	return n;
}

/* After a {: the value of the member with that name. */
static u32 member(const struct ki_op *o, u32 i, const u8 *name, u32 len)
{
	for (;;) {
		u32 from = past_blanks(o, i) + 1, end;

		if (!is_one_of(o, from - 1, "\""))
			return NOWHERE;
		end = past_string(o, from - 1);
		i = past_blanks(o, end);
		if (!is_one_of(o, i, ":"))
			return NOWHERE;
		i = past_blanks(o, i + 1);
		if (end - 1 - from == len && !memcmp(o->s.at + from, name, len))
			return i;
		i = past_blanks(o, past_value(o, i));
		if (!is_one_of(o, i, ","))
			return NOWHERE;
		i++;
	}
}

/* After a [: the element with that number. */
static u32 element(const struct ki_op *o, u32 i, const u8 *digits, u32 len)
{
	u32 n = 0, at;

	for (at = 0; at < len; at++) {
		if (!isdigit(digits[at]) || n > o->s.len)
			return NOWHERE;
		n = 10 * n + digits[at] - '0';
	}
	for (; n; n--, i++) {
		i = past_blanks(o, past_value(o, i));
		if (!is_one_of(o, i, ","))
			return NOWHERE;
	}
	return past_blanks(o, i);
}

s64 ki_text_do_json(struct ki_op *o)
{
	u32 i = past_blanks(o, 0), at = 0, len, end;

	while ((len = part(o, &at))) {
		if (is_one_of(o, i, "{"))
			i = member(o, i + 1, o->x.at + at, len);
		else
			i = is_one_of(o, i, "[") ? element(o, i + 1, o->x.at + at, len) : NOWHERE;
		if (i >= o->s.len)
			return 0;
		at += len;
	}
	end = past_word(o, i);
	if (is_one_of(o, i, "\"")) {
		end = past_string(o, i) - 1;
		i++;
		if (end < i || !is_one_of(o, end, "\""))
			return 0;
	}
	len = min(end - i, o->most);
	memcpy(o->out, o->s.at + i, len);
	return len;
}
