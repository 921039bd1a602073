/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The reserved rows of all text as pieces that do not overlap, each with the reason that stands
 * first in the table. Rows may be long and lie over each other, thousands of them at one place:
 * whoever looked through them for each instruction would never end.
 *
 * The pieces end where a row begins or ends. Of the rows that have begun only the farthest end of
 * each reason has to be known, so there are at most two pieces for each row.
 */
#include "code/decode/facts.h"
#include "util/search.h"

#define REASONS 128

_Static_assert(KI_R_COUNT <= REASONS, "all reasons are in the set");

typedef unsigned __int128 reason_set;

struct sweep {
	struct ki_covers *out;
	uint64_t at;
	reason_set open; /* reasons of rows that have begun */
	uint64_t end[REASONS];
};

/* Of a set that is not empty. */
static unsigned int first_of(reason_set set)
{
	uint64_t low = (uint64_t)set;

	return (unsigned int)(low ? __builtin_ctzll(low)
				  : 64 + __builtin_ctzll((uint64_t)(set >> 64)));
}

static uint64_t row_end(const struct ki_reserved_row *row)
{
	uint64_t len = row->len ? row->len : 1;

	return len > UINT64_MAX - row->addr ? UINT64_MAX : row->addr + len;
}

/* The nearest end of an open reason, not after `limit`. */
static uint64_t next_end(const struct sweep *s, uint64_t limit)
{
	for (reason_set set = s->open; set; set &= set - 1) {
		uint64_t end = s->end[first_of(set)];

		if (end < limit)
			limit = end;
	}
	return limit;
}

static void close_ended(struct sweep *s)
{
	for (reason_set set = s->open; set; set &= set - 1)
		if (s->end[first_of(set)] <= s->at)
			s->open &= ~(set & -set);
}

/* Pieces from where the sweep is up to `limit`, or up to where nothing is open. */
static int advance(struct sweep *s, uint64_t limit)
{
	while (s->open && s->at < limit) {
		uint64_t end = next_end(s, limit);
		struct ki_covering c = {s->at, end, (uint16_t)first_of(s->open)};
		struct ki_covering *last = s->out->n ? &s->out->v[s->out->n - 1] : NULL;

		if (last && last->end == c.start && last->reason == c.reason)
			last->end = end;
		else if (ki_vec_push(s->out, c))
			return -ENOMEM;
		s->at = end;
		close_ended(s);
	}
	s->at = limit;
	return 0;
}

/* Of the rows of one reason, or (KI_R_OK) of all but sites. */
static int sweep(const struct ki_reserved_row *rows, size_t n, unsigned int only,
		 struct ki_covers *out)
{
	struct sweep s = {.out = out};
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++) {
		uint32_t reason = rows[i].reason;

		if (reason == KI_R_OK || reason >= REASONS)
			continue;
		if (only ? reason != only : ki_row_is_site(&rows[i]))
			continue;
		ret = advance(&s, rows[i].addr);
		if (!(s.open >> reason & 1) || s.end[reason] < row_end(&rows[i]))
			s.end[reason] = row_end(&rows[i]);
		s.open |= (reason_set)1 << reason;
	}
	return ret ? ret : advance(&s, UINT64_MAX);
}

int ki_covers_find(struct ki_target *t, struct ki_facts *f, struct ki_err *err)
{
	const struct ki_reserved_row *rows;
	size_t n;
	int ret = ki_target_reserved(t, 0, UINT64_MAX, &rows, &n, err);

	if (ret)
		return ret;
	ret = sweep(rows, n, KI_R_OK, &f->covers);
	if (!ret)
		ret = sweep(rows, n, KI_R_STATIC_CALL, &f->static_calls);
	return ret ? ki_err_set(err, ret, 0, "out of memory for the reserved text") : 0;
}

size_t ki_covers_from(const struct ki_covers *covers, uint64_t addr)
{
	return KI_FIRST(i, covers->n, covers->v[i].end > addr);
}
