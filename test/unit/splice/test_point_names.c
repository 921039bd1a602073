// SPDX-License-Identifier: GPL-2.0-only
/*
 * Names of points: what is read is written again, and what is none is refused.
 *
 * promise: Points have names that are read and written, and chunks at one place an order across
 *   sessions. [points.sh]
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "kerninst/splice.h"

#define BASE UINT64_C(0xffffffff81000000)

static const struct {
	const char *name, *written; /* NULL: the same */
	struct ki_point pt;
	uint16_t order;
} names[] = {
	{":entry", NULL, {.kind = KI_POINT_ENTRY}, 0},
	{":exit", NULL, {.kind = KI_POINT_EXIT}, 0},
	{":exit:after", NULL, {.kind = KI_POINT_EXIT_AFTER}, 0},
	{":exit:after/7", NULL, {.kind = KI_POINT_EXIT_AFTER}, 7},
	{":exit/7", NULL, {.kind = KI_POINT_EXIT}, 7},
	{":calls", NULL, {.kind = KI_POINT_CALLS}, 0},
	{":returns", NULL, {.kind = KI_POINT_RETURNS}, 0},
	{":block/3", NULL, {.kind = KI_POINT_BLOCK, .block = 3}, 0},
	{":block/3:pre", ":block/3", {.kind = KI_POINT_BLOCK, .block = 3}, 0},
	{":block/3/2", NULL, {.kind = KI_POINT_BLOCK, .block = 3}, 2},
	{":block/3:post/2", NULL, {.kind = KI_POINT_BLOCK_END, .block = 3}, 2},
	{":block/4294967295", NULL, {.kind = KI_POINT_BLOCK, .block = UINT32_MAX}, 0},
	{":edge/12", NULL, {.kind = KI_POINT_EDGE, .edge = 12}, 0},
	{":edge/12/65535", NULL, {.kind = KI_POINT_EDGE, .edge = 12}, 65535},
	{"+0x1c", NULL, {.kind = KI_POINT_INSN, .addr = BASE + 0x1c}, 0},
	{"+28", "+0x1c", {.kind = KI_POINT_INSN, .addr = BASE + 0x1c}, 0},
	{"+0x1C:before/1", "+0x1c/1", {.kind = KI_POINT_INSN, .addr = BASE + 0x1c}, 1},
	{"+0x0:after", NULL, {.kind = KI_POINT_AFTER, .addr = BASE}, 0},
};

static void names_are_read_and_written(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		const char *want = names[i].written ? names[i].written : names[i].name;
		char name[KI_POINT_NAME_LEN];
		struct ki_point pt;
		uint16_t order;

		if (ki_point_parse(names[i].name, BASE, &pt, &order))
			fail_msg("%s: not read", names[i].name);
		assert_memory_equal(&pt, &names[i].pt, sizeof(pt));
		assert_int_equal(order, names[i].order);
		assert_int_equal(ki_point_format(&pt, BASE, order, name), 0);
		assert_string_equal(name, want);
	}
}

static void what_is_no_name(void **state)
{
	static const char *const bad[] = {
		"",
		"entry",
		":entry/",
		":entry:after",
		":exit:after/",
		":exit:before",
		":entry/-1",
		":entry/65536",
		":entry ",
		":block",
		":block/",
		":block/0x3",
		":block/4294967296",
		":block/3:",
		":block/3:pos",
		":block/3/",
		":block/3:post/",
		":block/3/2/1",
		":edge/",
		":edge/1:post",
		":edge/1-2",
		"+",
		"+0x",
		"+-1",
		"+1:post",
		"+1:after/x",
		"+0x1c ",
		"+0x11112222333344445",
		":entry:post",
		":start",
		"1c",
		":block/ 3",
		":block/+3",
	};
	struct ki_point pt = {.kind = KI_POINT_START};
	char name[KI_POINT_NAME_LEN];
	uint16_t order;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++)
		if (!ki_point_parse(bad[i], BASE, &pt, &order))
			fail_msg("'%s' is read", bad[i]);
	assert_int_equal(ki_point_format(&(struct ki_point){.kind = KI_POINT_START}, 0, 0, name),
			 -EINVAL);
}

static void every_name_is_another(void **state)
{
	uint64_t x = 88172645463325252;

	(void)state;
	for (int i = 0; i < 100000; i++) {
		struct ki_point pt = {0}, back;
		char name[KI_POINT_NAME_LEN];
		uint16_t order, got;

		x ^= x << 13;
		x ^= x >> 7;
		x ^= x << 17;
		pt.kind = (enum ki_point_kind)(x % KI_POINT_START);
		order = (uint16_t)(x >> 16) >> (x >> 32 & 15);
		if (pt.kind == KI_POINT_BLOCK || pt.kind == KI_POINT_BLOCK_END)
			pt.block = (uint32_t)(x >> 8) >> (x >> 40 & 31);
		if (pt.kind == KI_POINT_EDGE)
			pt.edge = (uint32_t)(x >> 8) >> (x >> 40 & 31);
		if (pt.kind == KI_POINT_INSN || pt.kind == KI_POINT_AFTER)
			pt.addr = BASE + (x >> (x >> 40 & 63));
		assert_int_equal(ki_point_format(&pt, BASE, order, name), 0);
		if (ki_point_parse(name, BASE, &back, &got))
			fail_msg("%s: not read", name);
		assert_memory_equal(&pt, &back, sizeof(pt));
		assert_int_equal(order, got);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names_are_read_and_written),
		cmocka_unit_test(what_is_no_name),
		cmocka_unit_test(every_name_is_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
