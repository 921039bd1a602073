// SPDX-License-Identifier: GPL-2.0-only
/*
 * A string's number: the row that says where it is, which is new if it is met for the first time.
 *
 * In any context, without locks. Bytes are written to a place of their own first, and a cmpxchg on
 * a free row publishes them; who loses compares the string that has won, and leaves its own place
 * unused. So a string stands there once, and no CPU waits.
 */
#include <linux/atomic.h>
#include <linux/string.h>

#include "data/texts.h"

struct ki_text_piece ki_texts_get(const struct ki_texts_table *t, u64 number)
{
	struct ki_text_piece none = {.at = (const u8 *)""};
	u64 row = number && number <= t->mask + 1ull ? READ_ONCE(t->rows[number - 1]) : 0;

	if (!row)
		return none;
	return (struct ki_text_piece){.at = t->heap + KI_TEXTS_AT(row), .len = KI_TEXTS_LEN(row)};
}

static u64 hash_of(const struct ki_texts_table *t, const u8 *text, u32 len)
{
	u64 h = t->seed ^ len;
	u32 i;

	for (i = 0; i < len; i++) {
		h = (h ^ text[i]) * 0x9e3779b97f4a7c15;
		h ^= h >> 32;
	}
	return h;
}

static bool is_same(const struct ki_texts_table *t, u64 row, u16 tag, const u8 *text, u32 len)
{
	return (u16)(row >> 16) == tag && KI_TEXTS_LEN(row) == len &&
	       !memcmp(t->heap + KI_TEXTS_AT(row), text, len);
}

/* A place for the bytes and a 0, with them in it; 0: there is none. */
static u32 take_place(struct ki_texts_table *t, const u8 *text, u32 len)
{
	const u32 need = ALIGN(len + 1, 8);
	u64 at = atomic64_read((atomic64_t *)&t->head->used);

	do {
		if (at + need > t->size)
			return 0;
	} while (!atomic64_try_cmpxchg((atomic64_t *)&t->head->used, (s64 *)&at, at + need));
	memcpy(t->heap + at, text, len);
	return at;
}

u64 ki_texts_put(struct ki_texts_table *t, const u8 *text, u32 len)
{
	u64 hash = hash_of(t, text, len), there;
	u32 at = hash & t->mask, tries = min_t(u32, t->mask + 1, KI_TEXTS_TRIES), place = 0;
	u16 tag = hash >> 48;

	if (!len)
		return 0;
	for (; tries; tries--, at = (at + 1) & t->mask) {
		there = smp_load_acquire(&t->rows[at]);
		if (!there && !place)
			place = take_place(t, text, len);
		if (!there && !place)
			break;
		if (!there)
			there = cmpxchg(&t->rows[at], 0, KI_TEXTS_ROW(place, tag, len));
		if (!there) {
			atomic64_inc((atomic64_t *)&t->head->rows);
			return at + 1;
		}
		if (is_same(t, there, tag, text, len))
			return at + 1;
	}
	atomic64_inc((atomic64_t *)&t->head->lost);
	return 0;
}
