// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows whose keys have become the same, and stacks that stand in the table twice.
 */
#include "kerninst/record.h"
#include "table/map.h"
/* which names a variable as these name parameters */
#include "measure_fixture.h"

#define STRIDE 64
#define STACKS 8

static struct ki_stacks_map *stacks;

static int answer_stacks(unsigned long request, void *arg)
{
	struct ki_stacks *q = arg;

	if (request != KI_IOC_STACKS)
		return other_requests(request, arg);
	q->rows = STACKS;
	q->stride = STRIDE;
	q->bytes = 8192;
	q->number = 3;
	return 0;
}

/* Stack number n: frames (0: it is not there) from that address on. */
static void put_stack(uint32_t n, uint32_t tgid, uint32_t frames, uint64_t addr)
{
	struct ki_stack_row row = {.hash = 1, .frames = frames, .tgid = tgid};
	const off_t at = (off_t)KI_MAP_STACKS + 4096 + (off_t)(n - 1) * STRIDE;

	assert_int_equal(pwrite(FD, &row, sizeof(row), at), sizeof(row));
	for (uint32_t i = 0; i < frames; i++, addr++)
		assert_int_equal(pwrite(FD, &addr, 8, at + (off_t)sizeof(row) + 8 * i), 8);
}

static void stacks_that_are_the_same(void **state)
{
	static const uint32_t wanted[STACKS + 1] = {0, 0, 2, 3, 2, 5, 2, 7, 5};
	struct ki_err err = {0};
	uint32_t *same;
	size_t n;

	(void)state;
	load();
	drv.other = answer_stacks;
	assert_int_equal(ftruncate(FD, (off_t)KI_MAP_STACKS + 8192), 0);
	if (ki_stacks_map_new(target, NULL, &stacks, &err))
		fail_msg("%s", err.msg);
	put_stack(2, 0, 3, 100);
	put_stack(3, 7, 3, 100); /* of a process */
	put_stack(4, 0, 3, 100);
	put_stack(5, 0, 2, 100); /* a part of it */
	put_stack(6, 0, 3, 100);
	put_stack(7, 8, 3, 100); /* of another process */
	put_stack(8, 0, 2, 100);
	assert_int_equal(ki_stacks_same(stacks, &same, &n), 0);
	assert_int_equal(n, STACKS + 1);
	assert_memory_equal(same, wanted, sizeof(wanted));
	free(same);
	ki_stacks_map_free(stacks);
}

enum { ROWS = 5, KEYS = 2, VALUES = 5, WIDTH = KEYS + VALUES };

/* A key of two words; sum, sum of two words, least, greatest. */
static void rows_that_have_become_one(void **state)
{
	static uint8_t merge[VALUES] = {KI_MERGE_SUM, KI_MERGE_SUM, KI_MERGE_CARRY, KI_MERGE_MIN,
					KI_MERGE_MAX};
	static const uint64_t rows[ROWS][WIDTH] = {{1, 5, 1, UINT64_MAX, 0, 7, 7},
						   {1, 9, 2, 3, 1, (uint64_t)-4, 1},
						   {2, 5, 4, 1, 0, 1, 1},
						   {2, 9, 8, 1, 0, 2, 9},
						   {3, 1, 16, 1, 0, 1, 1}};
	static const uint64_t wanted[3][WIDTH] = {
		{1, 5, 3, 2, 2, (uint64_t)-4, 7}, {2, 5, 12, 2, 0, 1, 9}, {3, 1, 16, 1, 0, 1, 1}};
	const struct ki_table_map map = {.keys = KEYS, .values = VALUES, .merge = merge};
	struct ki_table_reading r = {
		.n = ROWS, .keys = KEYS, .values = VALUES, .words = malloc(sizeof(rows))};

	(void)state;
	memcpy(r.words, rows, sizeof(rows));
	for (size_t i = 0; i < r.n; i++)
		if (r.words[i * WIDTH + 1] == 9)
			r.words[i * WIDTH + 1] = 5;
	assert_int_equal(ki_table_regroup(&map, &r), 0);
	assert_int_equal(r.n, 3);
	assert_memory_equal(r.words, wanted, sizeof(wanted));
	r.n = 0;
	assert_int_equal(ki_table_regroup(&map, &r), 0);
	assert_int_equal(r.n, 0);
	free(r.words);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_that_are_the_same),
		cmocka_unit_test(rows_that_have_become_one),
	};

	return cmocka_run_group_tests(tests, NULL, unload);
}
