/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Counters and words of threads of a process: their numbers, which this process gives out, and what
 * threads have in words that hold a start time.
 */
#include <stdlib.h>
#include <string.h>
#include <x86intrin.h>

#include "target/process.h"

#define COUNTERS   (1u << 24)
#define START_BITS 56 /* of a word are a start time */
#define PIECE	   (64u << 10)

static int take(struct ki_err *err, const char *what, uint32_t *used, uint32_t count,
		uint32_t limit, uint32_t *first)
{
	if (count > limit || *used > limit - count)
		return ki_err_reason(err, KI_R_COUNTERS_FULL, 0, "%u %s", count, what);
	*first = *used;
	*used += count;
	return 0;
}

int ki_process_counters(struct ki_target *t, uint32_t count, uint32_t *first, struct ki_err *err)
{
	struct ki_process *p = t->own;

	return take(err, "counters", &p->counters, count, COUNTERS, first);
}

int ki_process_words(struct ki_target *t, uint32_t count, uint32_t *first, struct ki_err *err)
{
	struct ki_process *p = t->own;

	return take(err, "words of threads", &p->words, count, KI_PROCESS_WORDS, first);
}

/* Whoever begins after the reading of the clock has been inside for no time. */
static void look_at_row(const uint64_t *row, uint32_t first, uint32_t count,
			struct ki_inside_row *rows, uint64_t now)
{
	for (uint32_t i = 0; row[0] && i < count; i++) {
		const uint64_t word = row[1 + first + i];
		int64_t ticks = (int64_t)((now - word) << (64 - START_BITS)) >> (64 - START_BITS);

		if (!word)
			continue;
		rows[i].threads++;
		rows[i].ticks += ticks > 0 ? (uint64_t)ticks : 0;
	}
}

int ki_process_inside(struct ki_target *t, uint32_t first, uint32_t count,
		      struct ki_inside_row *rows, uint64_t *now, struct ki_err *err)
{
	const struct ki_process *p = t->own;
	const unsigned int shift = ki_process_row_shift(p->words);
	const size_t all = (size_t)KI_PROCESS_ROWS << shift;
	uint64_t *piece = malloc(PIECE);
	int ret = p->rows ? 0 : -ESRCH;

	if (!piece)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	memset(rows, 0, count * sizeof(*rows));
	*now = __rdtsc();
	for (size_t at = 0; !ret && at < all; at += PIECE) {
		const size_t len = all - at < PIECE ? all - at : PIECE;

		ret = ki_process_peek(p->mem, p->rows + at, piece, len);
		*now = __rdtsc();
		for (size_t row = 0; !ret && row < len; row += 1u << shift)
			look_at_row(piece + row / 8, first, count, rows, *now);
	}
	free(piece);
	if (ret && ret != -ESRCH)
		return ki_err_set(err, ret, p->rows, "who is inside: %s", strerror(-ret));
	return 0;
}
