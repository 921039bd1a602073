// SPDX-License-Identifier: GPL-2.0-only
/*
 * Intervals of kerninst stat --by ustack: which stacks are one key changes from one to the next,
 * as more becomes known of processes, and what each interval shows is what was counted in it.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "../../../lib/aggregate/delta.c"

#include "table/map.h"

enum { STACKS = 4, KEYS = 2, VALUES = 3, WIDTH = KEYS + VALUES };

/* A count, and a sum of two words. */
static uint8_t merge[VALUES] = {KI_MERGE_SUM, KI_MERGE_SUM, KI_MERGE_CARRY};
static struct ki_table_map map = {.keys = KEYS, .values = VALUES, .merge = merge};
static struct ki_aggregate by = {.map = &map,
				 .key = {.fields[0] = {.show = KI_SHOW_STACK}, .n = 1},
				 .merge = {KI_MERGE_SUM, KI_MERGE_SUM, KI_MERGE_CARRY}};

/* What has been counted up to now for each stack: so often, and as many times 2^63. */
static struct ki_table_reading *reading(const uint64_t counts[STACKS])
{
	struct ki_table_reading *r = calloc(1, sizeof(*r));

	assert_non_null(r);
	*r = (struct ki_table_reading){.keys = KEYS, .values = VALUES};
	r->words = calloc(STACKS * WIDTH, sizeof(*r->words));
	assert_non_null(r->words);
	for (uint64_t i = 1; i < STACKS; i++)
		if (counts[i])
			memcpy(r->words + r->n++ * WIDTH,
			       (uint64_t[]){7, i, counts[i], counts[i] << 63, counts[i] >> 1},
			       WIDTH * sizeof(*r->words));
	return r;
}

/* The next interval, with what there is at its end: it must show `wanted`. */
static void shows(const uint64_t counts[STACKS], uint32_t same[STACKS],
		  const uint64_t wanted[STACKS])
{
	struct ki_table_reading r, *kept;
	size_t row = 0;

	by.now = reading(counts);
	by.same = same;
	by.nsame = same ? STACKS : 0;
	for (unsigned int twice = 0; twice < 2; twice++, row = 0) {
		assert_int_equal(ki_aggregate_delta(&by, &r), 0);
		for (uint64_t i = 1; i < STACKS; i++) {
			const uint64_t n = wanted[i];

			if (n == UINT64_MAX)
				continue;
			assert_memory_equal(ki_table_key(&r, row++),
					    ((uint64_t[]){7, i, n, n << 63, n >> 1}),
					    WIDTH * sizeof(uint64_t));
		}
		assert_int_equal(r.n, row);
		free(r.words);
	}
	kept = reading(counts);
	assert_memory_equal(by.now->words, kept->words, kept->n * WIDTH * sizeof(uint64_t));
	ki_table_reading_free(kept);
	ki_aggregate_next(&by);
	assert_null(by.now);
}

#define NONE UINT64_MAX

static void stacks_become_one_and_two_again(void **state)
{
	uint32_t first[STACKS] = {0, 1, 2, 2}, then[STACKS] = {0, 1, 2, 3},
		 last[STACKS] = {0, 1, 1, 3};

	(void)state;
	by.before = reading((uint64_t[]){0, 0, 10, 5});
	shows((uint64_t[]){0, 0, 12, 9}, first, (uint64_t[]){0, NONE, 6, NONE});
	shows((uint64_t[]){0, 0, 13, 20}, then, (uint64_t[]){0, NONE, 1, 11});
	shows((uint64_t[]){0, 4, 13, 21}, last, (uint64_t[]){0, 4, NONE, 1});
	shows((uint64_t[]){0, 4, 13, 22}, first, (uint64_t[]){0, 0, 1, NONE});
	shows((uint64_t[]){0, 5, 15, 25}, last, (uint64_t[]){0, 3, NONE, 3});
	shows((uint64_t[]){0, 6, 16, 26}, NULL, (uint64_t[]){0, 1, 1, 1});
	ki_table_reading_free(by.before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(stacks_become_one_and_two_again)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
