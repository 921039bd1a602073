// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helper TEXT: one row of a table for each operation. What is made is made in the scratch of this
 * CPU's level, and gets its number at the end. All loops are bounded by the strings' lengths, and
 * searching by KI_STEPS comparisons.
 */
#include <linux/ctype.h>
#include <linux/kernel.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/smp.h>
#include <linux/string.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "data/stacks.h"
#include "data/texts.h"

#define KI_STEPS (1u << 20)

static s64 length_of(const struct ki_op *o)
{
	u32 i;

	for (i = 0; i < o->most && o->out[i]; i++)
		;
	return i;
}

static s64 do_user(struct ki_op *o)
{
	u32 most = o->b && o->b <= o->most ? o->b - 1 : o->most;
	int len = ki_user_memory() ? ki_string_read(o->out, o->a, most, true) : -1;

	return len < 0 ? KI_FAULT : len;
}

/* What a system call is given may be a string of the process. */
static s64 do_kernel(struct ki_op *o)
{
	int len;

	if (o->a < TASK_SIZE_MAX) {
		o->b = 0;
		return do_user(o);
	}
	len = ki_string_read(o->out, o->a, o->most, false);
	return len < 0 ? KI_FAULT : len;
}

static s64 do_comm(struct ki_op *o)
{
	memcpy(o->out, current->comm, min_t(u32, o->most, TASK_COMM_LEN));
	o->out[min_t(u32, o->most, TASK_COMM_LEN - 1)] = 0;
	return length_of(o);
}

static s64 put(struct ki_op *o, const u8 *from, u32 len)
{
	len = min(len, o->most);
	memcpy(o->out, from, len);
	return len;
}

static s64 do_join(struct ki_op *o)
{
	s64 n = put(o, o->s.at, o->s.len);
	u32 more = min(o->x.len, o->most - (u32)n);

	memcpy(o->out + n, o->x.at, more);
	return n + more;
}

static s64 do_part(struct ki_op *o)
{
	s64 at = (s64)o->b, n = (s64)o->c, len = o->s.len;

	if (at < 0) {
		at += len;
		if (at < 0 && n >= 0) {
			n = n + at > 0 ? n + at : 0;
			at = 0;
		}
	}
	if (at < 0 || at >= len)
		return 0;
	if (n < 0)
		n += len - at;
	return n > 0 ? put(o, o->s.at + at, min(n, len - at)) : 0;
}

/* Where x stands in s, from `from` to `to` in steps of `step`; -1. */
static s64 find(const struct ki_op *o, s64 from, s64 to, int step)
{
	u32 steps = KI_STEPS;
	s64 i;

	for (i = from; i != to + step && steps; i += step) {
		if (i < 0 || i + o->x.len > o->s.len)
			return -1;
		if (!memcmp(o->s.at + i, o->x.at, o->x.len))
			return i;
		steps -= min(steps, o->x.len + 1);
	}
	return -1;
}

static s64 do_first(struct ki_op *o)
{
	s64 at = max_t(s64, o->c, 0), last = (s64)o->s.len - o->x.len;

	if (!o->x.len)
		return min_t(s64, at, o->s.len);
	return at > last ? -1 : find(o, at, last, 1);
}

static s64 do_last(struct ki_op *o)
{
	s64 at = (s64)o->c, last = (s64)o->s.len - o->x.len;

	if (at < 0)
		return o->x.len ? -1 : 0;
	if (!o->x.len)
		return min_t(s64, at, o->s.len);
	return last < 0 ? -1 : find(o, min(at, last), 0, -1);
}

static s64 do_from(struct ki_op *o)
{
	u32 i;

	for (i = 0; i < o->s.len && o->s.at[i] != (u8)o->b; i++)
		;
	return put(o, o->s.at + i, o->s.len - i);
}

static s64 do_from_last(struct ki_op *o)
{
	u32 i = o->s.len;

	while (i && o->s.at[i - 1] != (u8)o->b)
		i--;
	return i ? put(o, o->s.at + i - 1, o->s.len - i + 1) : 0;
}

static s64 do_from_text(struct ki_op *o)
{
	s64 at = o->x.len <= o->s.len ? find(o, 0, (s64)o->s.len - o->x.len, 1) : -1;

	if (at >= 0 && at == o->s.len)
		return (s64)KI_TEXT_EMPTY;
	return at < 0 ? 0 : put(o, o->s.at + at, o->s.len - at);
}

/* How many bytes from `at` on are among x, or are not. */
static u32 span(const struct ki_op *o, u32 at, bool among)
{
	u32 n = 0;

	while (at + n < o->s.len && !!memchr(o->x.at, o->s.at[at + n], o->x.len) == among)
		n++;
	return n;
}

static s64 do_token(struct ki_op *o)
{
	u32 at = span(o, 0, true);

	return put(o, o->s.at + at, span(o, at, false));
}

static s64 do_rest(struct ki_op *o)
{
	u32 at = span(o, 0, true);

	at += span(o, at, false);
	return put(o, o->s.at + at, o->s.len - at);
}

static s64 do_base(struct ki_op *o)
{
	return ki_text_base(o->s, o->out, o->most);
}

static s64 do_dir(struct ki_op *o)
{
	return ki_text_dir(o->s, o->out, o->most);
}

static s64 do_clean(struct ki_op *o)
{
	return ki_text_clean(o->s, o->out, o->most);
}

/* Digits from the end of a buffer, then to its beginning. */
static s64 do_number(struct ki_op *o)
{
	u64 base = o->b >= 2 && o->b <= 36 ? o->b : 10, v = o->a;
	bool minus = base == 10 && (s64)v < 0;
	u8 text[72];
	u32 at = sizeof(text);

	v = minus ? 0 - v : v;
	do {
		text[--at] = "0123456789abcdefghijklmnopqrstuvwxyz"[v % base];
		v /= base;
	} while (v);
	if (base == 16)
		text[--at] = 'x';
	if ((base == 16 || base == 8) && text[at] != '0')
		text[--at] = '0';
	if (minus)
		text[--at] = '-';
	return put(o, text + at, sizeof(text) - at);
}

static s64 do_compare(struct ki_op *o)
{
	int order = memcmp(o->s.at, o->x.at, min(o->s.len, o->x.len));

	if (!order)
		order = o->s.len < o->x.len ? -1 : o->s.len > o->x.len;
	if (!order && !o->s.len)
		order = !!o->a - !!o->b;
	return order < 0 ? -1 : order > 0;
}

static s64 do_upper(struct ki_op *o)
{
	u32 i;

	for (i = 0; i < o->s.len; i++)
		o->out[i] = toupper(o->s.at[i]);
	return o->s.len;
}

static s64 do_lower(struct ki_op *o)
{
	u32 i;

	for (i = 0; i < o->s.len; i++)
		o->out[i] = tolower(o->s.at[i]);
	return o->s.len;
}

static int digit(u8 c)
{
	if (isdigit(c))
		return c - '0';
	c |= 32;
	return c >= 'a' && c <= 'z' ? c - 'a' + 10 : 99;
}

static s64 do_value(struct ki_op *o)
{
	const u8 *p = o->s.at, *end = p + o->s.len;
	u64 base = o->b, v = 0;
	bool minus;

	while (p < end && isspace(*p))
		p++;
	minus = p < end && *p == '-';
	if (p < end && (*p == '-' || *p == '+'))
		p++;
	if ((!base || base == 16) && end - p > 2 && *p == '0' && (p[1] | 32) == 'x') {
		base = 16;
		p += 2;
	}
	if (!base)
		base = p < end && *p == '0' ? 8 : 10;
	for (; p < end && digit(*p) < (int)base; p++)
		v = v * base + digit(*p);
	return minus ? 0 - v : v;
}

static s64 do_length(struct ki_op *o)
{
	return o->s.len;
}

static s64 do_byte(struct ki_op *o)
{
	return o->b < o->s.len ? (s8)o->s.at[o->b] : 0;
}

/* ---- numbers that programs take ---- */

static s64 do_take(struct ki_op *o)
{
	const u32 most = min_t(u64, o->a, KI_TEXTS_NUMBERS);
	u32 i;

	for (i = 0; i < most; i++)
		if (!test_bit(i, o->t->numbers) && !test_and_set_bit(i, o->t->numbers))
			return i + 1;
	atomic64_inc((atomic64_t *)&o->t->head->refused);
	return 0;
}

static bool is_number(const struct ki_op *o)
{
	return o->a && o->a <= KI_TEXTS_NUMBERS;
}

static s64 do_taken(struct ki_op *o)
{
	return is_number(o) && test_bit(o->a - 1, o->t->numbers) ? o->a : 0;
}

static s64 do_give(struct ki_op *o)
{
	return is_number(o) && test_and_clear_bit(o->a - 1, o->t->numbers) ? o->a : 0;
}

/* ---- scratch memory ---- */

static s64 do_scratch(struct ki_op *o)
{
	u8 *at = ki_texts_piece(o->t, o->a);

	return at ? (s64)at : (s64)KI_TEXT_SECOND;
}

static s64 do_alloca(struct ki_op *o)
{
	u8 *at = ki_texts_alloca(o->t, o->a, o->b);

	return at ? (s64)at : (s64)KI_TEXT_SECOND;
}

static s64 do_give_room(struct ki_op *o)
{
	ki_texts_give_room(o->t, o->a);
	return 0;
}

/* Never more than a piece has: n has been compared. */
static s64 copy(u8 *to, u64 from, u64 n, bool user)
{
	if (user)
		return ki_user_memory() && !copy_from_user_nofault(to, (const void __user *)from, n)
			       ? 0
			       : (s64)KI_TEXT_FAULT;
	return copy_from_kernel_nofault(to, (const void *)from, n) ? (s64)KI_TEXT_FAULT : 0;
}

static s64 do_copyin(struct ki_op *o)
{
	u8 *at = ki_texts_piece(o->t, o->b);

	if (!at)
		return (s64)KI_TEXT_SECOND;
	return copy(at, o->a, o->b, true) ? (s64)KI_TEXT_FAULT : (s64)at;
}

static s64 do_alloca_user(struct ki_op *o)
{
	u8 *at = ki_texts_alloca(o->t, o->b, o->c);

	if (!at)
		return (s64)KI_TEXT_SECOND;
	if (!copy(at, o->a, o->b, true))
		return (s64)at;
	if (!o->c)
		ki_texts_give_room(o->t, (u64)at);
	return (s64)KI_TEXT_FAULT;
}

static s64 do_copy(struct ki_op *o)
{
	if (!ki_texts_inside(o->t, o->b, o->c))
		return (s64)KI_TEXT_SECOND;
	if (ki_texts_scratch(o->t, o->a) && !ki_texts_inside(o->t, o->a, o->c))
		return (s64)KI_TEXT_FAULT;
	return copy((u8 *)o->b, o->a, o->c, false);
}

static s64 do_copy_user(struct ki_op *o)
{
	if (!ki_texts_inside(o->t, o->b, o->c))
		return (s64)KI_TEXT_SECOND;
	return copy((u8 *)o->b, o->a, o->c, true);
}

static s64 do_store(struct ki_op *o)
{
	u32 i;

	if (o->c > sizeof(o->b) || !ki_texts_inside(o->t, o->a, o->c))
		return (s64)KI_TEXT_FAULT;
	for (i = 0; i < o->c; i++)
		WRITE_ONCE(((u8 *)o->a)[i], (u8)(o->b >> 8 * i));
	return 0;
}

static bool is_bad(const struct ki_op *o, u8 *to, u32 n)
{
	if (ki_texts_scratch(o->t, o->a) && !ki_texts_inside(o->t, o->a, n))
		return true;
	return copy_from_kernel_nofault(to, (const void *)o->a, n);
}

static s64 do_unreadable(struct ki_op *o)
{
	return is_bad(o, o->out, min_t(u64, o->b, 8));
}

static s64 do_bytes(struct ki_op *o)
{
	const u32 n = min_t(u64, o->b, o->most);

	return is_bad(o, o->out, n) ? KI_FAULT : (s64)n;
}

#define KI_A_TEXT    1 /* a is a string */
#define KI_B_TEXT    2
#define KI_IS_NUMBER 4 /* so is not what is made */

static const struct {
	s64 (*make)(struct ki_op *o);
	u8 is;
} ops[KI_TEXT_OPS] = {
	[KI_TEXT_KERNEL] = {do_kernel, 0},
	[KI_TEXT_USER] = {do_user, 0},
	[KI_TEXT_COMM] = {do_comm, 0},
	[KI_TEXT_JOIN] = {do_join, KI_A_TEXT | KI_B_TEXT},
	[KI_TEXT_PART] = {do_part, KI_A_TEXT},
	[KI_TEXT_FIRST] = {do_first, KI_A_TEXT | KI_B_TEXT | KI_IS_NUMBER},
	[KI_TEXT_LAST] = {do_last, KI_A_TEXT | KI_B_TEXT | KI_IS_NUMBER},
	[KI_TEXT_FROM] = {do_from, KI_A_TEXT},
	[KI_TEXT_FROM_LAST] = {do_from_last, KI_A_TEXT},
	[KI_TEXT_FROM_TEXT] = {do_from_text, KI_A_TEXT | KI_B_TEXT},
	[KI_TEXT_TOKEN] = {do_token, KI_A_TEXT | KI_B_TEXT},
	[KI_TEXT_REST] = {do_rest, KI_A_TEXT | KI_B_TEXT},
	[KI_TEXT_BASE] = {do_base, KI_A_TEXT},
	[KI_TEXT_DIR] = {do_dir, KI_A_TEXT},
	[KI_TEXT_CLEAN] = {do_clean, KI_A_TEXT},
	[KI_TEXT_NUMBER] = {do_number, 0},
	[KI_TEXT_COMPARE] = {do_compare, KI_A_TEXT | KI_B_TEXT | KI_IS_NUMBER},
	[KI_TEXT_UPPER] = {do_upper, KI_A_TEXT},
	[KI_TEXT_LOWER] = {do_lower, KI_A_TEXT},
	[KI_TEXT_VALUE] = {do_value, KI_A_TEXT | KI_IS_NUMBER},
	[KI_TEXT_LENGTH] = {do_length, KI_A_TEXT | KI_IS_NUMBER},
	[KI_TEXT_IPV4] = {ki_text_do_ipv4, 0},
	[KI_TEXT_IPV6] = {ki_text_do_ipv6, 0},
	[KI_TEXT_TAKE] = {do_take, KI_IS_NUMBER},
	[KI_TEXT_TAKEN] = {do_taken, KI_IS_NUMBER},
	[KI_TEXT_GIVE] = {do_give, KI_IS_NUMBER},
	[KI_TEXT_SCRATCH] = {do_scratch, KI_IS_NUMBER},
	[KI_TEXT_COPYIN] = {do_copyin, KI_IS_NUMBER},
	[KI_TEXT_COPY] = {do_copy, KI_IS_NUMBER},
	[KI_TEXT_COPY_USER] = {do_copy_user, KI_IS_NUMBER},
	[KI_TEXT_STORE] = {do_store, KI_IS_NUMBER},
	[KI_TEXT_BYTES] = {do_bytes, 0},
	[KI_TEXT_UNREADABLE] = {do_unreadable, KI_IS_NUMBER},
	[KI_TEXT_PATH] = {ki_text_do_path, 0},
	[KI_TEXT_ARGUMENTS] = {ki_text_do_arguments, 0},
	[KI_TEXT_COPY_OUT] = {ki_text_do_copy_out, KI_IS_NUMBER},
	[KI_TEXT_COPY_OUT_TEXT] = {ki_text_do_copy_out_text, KI_A_TEXT | KI_IS_NUMBER},
	[KI_TEXT_COPY_TEXT] = {ki_text_do_copy_text, KI_A_TEXT | KI_IS_NUMBER},
	[KI_TEXT_BYTE] = {do_byte, KI_A_TEXT | KI_IS_NUMBER},
	[KI_TEXT_JSON] = {ki_text_do_json, KI_A_TEXT | KI_B_TEXT},
	[KI_TEXT_ALLOCA] = {do_alloca, KI_IS_NUMBER},
	[KI_TEXT_ALLOCA_USER] = {do_alloca_user, KI_IS_NUMBER},
	[KI_TEXT_GIVE_ROOM] = {do_give_room, KI_IS_NUMBER},
};

u64 ki_text_op(u32 what, u64 a, u64 b, u64 c)
{
	struct ki_texts_table *t = ki_texts_tables[what >> 8];
	u32 op = (u8)what;
	struct ki_op o = {.t = t, .a = a, .b = b, .c = c, .most = t->most};
	s64 r;

	o.out = t->scratch[raw_smp_processor_id()] +
		interrupt_context_level() * (t->most + KI_TEXTS_PAD);
	if (ops[op].is & KI_A_TEXT)
		o.s = ki_texts_get(t, a);
	if (ops[op].is & KI_B_TEXT)
		o.x = ki_texts_get(t, b);
	r = ops[op].make(&o);
	if (ops[op].is & KI_IS_NUMBER)
		return r;
	if (r == (s64)KI_TEXT_EMPTY)
		return r;
	return r < 0 ? KI_TEXT_FAULT : ki_texts_put(t, o.out, min_t(s64, r, t->most));
}
