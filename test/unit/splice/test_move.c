// SPDX-License-Identifier: GPL-2.0-only
/*
 * What moving a function spares: seq_list_start as it stands in a running 6.1. Of its blocks 2 and
 * 5, two bytes each, one bounces in the filler at its end, and the other has no place for that.
 */
#include <stdlib.h>

#include "common_code.h"
#include "kerninst/splice.h"

#define SEQ_LIST_START                                                                             \
	0x0f, 0x1f, 0x44, 0x00, 0x00, 0x48, 0x8b, 0x07, 0x48, 0x39, 0xc7, 0x74, 0x15, 0x48, 0x85,  \
		0xf6, 0x75, 0x08, 0xeb, 0x10, 0x48, 0x83, 0xee, 0x01, 0x74, 0x0a, 0x48, 0x8b,      \
		0x00, 0x48, 0x39, 0xc7, 0x75, 0xf2, 0x31, 0xc0, 0xc3, 0xcc, 0xcc, 0xcc, 0xcc,      \
		0x0f, 0x1f, 0x80, 0x00, 0x00, 0x00, 0x00

/* A call before the block: what comes back to it, be the function moved or not, needs a
 * springboard. */
#define BEHIND_A_CALL 0xff, 0xd0, 0x75, 0x02, 0x31, 0xc0, 0xc3, 0x90

static bool spares(const struct ki_function *fn, const struct ki_spans *spans, uint32_t block)
{
	const struct ki_point pt = {.kind = KI_POINT_BLOCK, .block = block};
	struct ki_place *places;
	size_t n;
	bool yes;

	assert_int_equal(ki_point_places(fn, spans, &pt, &places, &n, NULL), 0);
	assert_int_equal(ki_move_spares(fn, spans, places, n, &yes), 0);
	free(places);
	return yes;
}

static void a_breakpoint_is_spared(void **state)
{
	struct ki_spans s;
	unsigned int traps = 0;

	(void)state;
	TEXT(x, SEQ_LIST_START);
	assert_int_equal(x.fn->nblocks, 7);
	assert_int_equal(ki_spans_find(x.fn, &s, NULL), 0);
	for (uint32_t b = 0; b < x.fn->nblocks; b++) {
		const struct ki_span *v = ki_spans_at(&s, x.fn, x.fn->blocks[b].start);
		bool trap = v && v->board == KI_BOARD_TRAP;

		assert_int_equal(spares(x.fn, &s, b), trap);
		traps += trap;
	}
	assert_int_equal(traps, 1);
	ki_spans_free(&s);
	close_text(&x);
}

static void one_that_stays_is_not(void **state)
{
	struct ki_spans s;
	unsigned int traps = 0;

	(void)state;
	TEXT(x, BEHIND_A_CALL);
	assert_int_equal(ki_spans_find(x.fn, &s, NULL), 0);
	for (size_t i = 0; i < s.n; i++)
		traps += s.v[i].board == KI_BOARD_TRAP;
	assert_true(traps > 0);
	for (uint32_t b = 0; b < x.fn->nblocks; b++)
		assert_false(spares(x.fn, &s, b));
	ki_spans_free(&s);
	close_text(&x);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_breakpoint_is_spared),
		cmocka_unit_test(one_that_stays_is_not),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
