// SPDX-License-Identifier: GPL-2.0-only
/*
 * Reading a table (lib/table/reading.c), from one in this process's memory: rows of several banks
 * become one, and rows of a shared table are changed, given to others, and made again while they
 * are read.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "table/map.h"

#define BANKS  2
#define ROWS   8
#define KEYS   2
#define VALUES 6

static struct bank {
	struct ki_table_head head;
	uint8_t rest[TABLE_PAGE - sizeof(struct ki_table_head)];
	uint64_t rows[ROWS][1 + KEYS + VALUES];
} banks[BANKS];

static uint8_t merge[VALUES] = {KI_MERGE_SUM, KI_MERGE_CARRY, KI_MERGE_MIN,
				KI_MERGE_MAX, KI_MERGE_UMIN,  KI_MERGE_UMAX};
static struct ki_table_map map;
static unsigned int steps; /* rows copied */

static void start(bool shared)
{
	memset(banks, 0, sizeof(banks));
	steps = 0;
	map = (struct ki_table_map){.base = (const uint8_t *)banks,
				    .stride = sizeof(*banks),
				    .banks = shared ? 1 : BANKS,
				    .keys = KEYS,
				    .values = VALUES,
				    .rows = ROWS,
				    .shared = shared,
				    .merge = merge};
}

/* All values the same number. */
static void put(unsigned int bank, unsigned int i, uint64_t state, uint64_t key, uint64_t value)
{
	uint64_t *row = banks[bank].rows[i];

	row[0] = state;
	row[1] = key;
	row[2] = key + 1;
	for (unsigned int v = 0; v < VALUES; v++)
		row[1 + KEYS + v] = value;
}

static struct ki_table_reading *reading(void)
{
	struct ki_table_reading *r;
	struct ki_err err = {0};

	if (ki_table_read(&map, &r, &err))
		fail_msg("%s", err.msg);
	return r;
}

static void rows_of_a_key_become_one(void **state)
{
	static const uint64_t want[] = {1, 0, UINT64_MAX, 2, 2, UINT64_MAX};
	struct ki_table_reading *r;

	(void)state;
	start(false);
	for (unsigned int bank = 0; bank < BANKS; bank++)
		for (unsigned int i = 0; i < ROWS; i++)
			put(bank, i, KI_ROW_READY, 100 - i, 0);
	put(0, 5, KI_ROW_READY, 95, UINT64_MAX);
	banks[0].rows[5][1 + KEYS + 1] = 0; /* the upper half of the sum */
	put(1, 5, KI_ROW_READY, 95, 2);
	banks[1].rows[5][1 + KEYS + 1] = UINT64_MAX;
	put(1, 6, KI_ROW_BUSY, 94, 9);
	put(0, 7, KI_ROW_DEAD, 93, 9);
	put(1, 7, KI_ROW_FREE, 93, 9);
	r = reading();
	assert_int_equal(r->n, ROWS - 1);
	for (unsigned int i = 0; i < r->n; i++) {
		assert_int_equal(ki_table_key(r, i)[0], 94 + i);
		assert_int_equal(ki_table_key(r, i)[1], 95 + i);
	}
	assert_memory_equal(ki_table_values(r, 1), want, sizeof(want));
	ki_table_reading_free(r);
}

/* The row is given to another key, and that is what is read. */
static void another_owner(void *arg)
{
	(void)arg;
	if (!steps++)
		put(0, 2, KI_ROW_READY | 8, 50, 4);
}

/* The row that has been copied goes, and its key gets another, after it. */
static void made_again(void *arg)
{
	(void)arg;
	if (steps++ != 1)
		return;
	put(0, 2, KI_ROW_DEAD | 8, 40, 0);
	put(0, 6, KI_ROW_READY | 8, 40, 7);
}

static void shared_rows_move(void **state)
{
	struct ki_table_reading *r;

	(void)state;
	start(true);
	put(0, 2, KI_ROW_READY | 4, 40, 3);
	map.between = another_owner;
	r = reading();
	assert_int_equal(r->n, 1);
	assert_int_equal(ki_table_key(r, 0)[0], 50);
	assert_int_equal(ki_table_values(r, 0)[0], 4);
	ki_table_reading_free(r);

	start(true);
	put(0, 2, KI_ROW_READY | 4, 40, 3);
	put(0, 3, KI_ROW_READY | 4, 30, 5);
	map.between = made_again;
	r = reading();
	assert_int_equal(r->n, 2);
	assert_int_equal(ki_table_key(r, 0)[0], 30);
	assert_int_equal(ki_table_key(r, 1)[0], 40);
	for (unsigned int v = 0; v < VALUES; v++)
		assert_int_equal(ki_table_values(r, 1)[v], 7);
	ki_table_reading_free(r);
}

/* A sum of two words that its CPU has just written half of. */
static void half_a_sum(void *arg)
{
	(void)arg;
	if (!steps++)
		banks[0].rows[2][1 + KEYS + 1] = 1;
}

static void sums_of_two_words_are_whole(void **state)
{
	struct ki_table_reading *r;

	(void)state;
	start(false);
	put(0, 2, KI_ROW_READY, 40, 0);
	map.between = half_a_sum;
	r = reading();
	assert_int_equal(r->n, 1);
	assert_int_equal(ki_table_values(r, 0)[1], 1);
	assert_int_equal(steps, 2);
	ki_table_reading_free(r);
}

static void an_empty_one(void **state)
{
	struct ki_table_reading *r;

	(void)state;
	start(true);
	banks[0].head.lost = 3;
	r = reading();
	assert_int_equal(r->n, 0);
	assert_int_equal(r->lost, 3);
	assert_null(ki_table_find(r, (const uint64_t[]){1, 2}));
	ki_table_reading_free(r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rows_of_a_key_become_one),
		cmocka_unit_test(shared_rows_move),
		cmocka_unit_test(sums_of_two_words_are_whole),
		cmocka_unit_test(an_empty_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
