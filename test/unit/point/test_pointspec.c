// SPDX-License-Identifier: GPL-2.0-only
/*
 * What people write to name a point.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "../../../lib/point/spec.c"

static const struct {
	const char *text, *module, *function;
	enum ki_pointspec_suffix suffix;
	uint64_t number, picked;
} good[] = {
	{"vfs_read", "", "vfs_read", KI_POINTSPEC_NONE, 0, 0},
	{"kernel:vfs_read", "kernel", "vfs_read", KI_POINTSPEC_NONE, 0, 0},
	{"libstdc++.so.6:f*", "libstdc++.so.6", "f*", KI_POINTSPEC_NONE, 0, 0},
	{"libstdc++.so.6:f+0x10", "libstdc++.so.6", "f", KI_POINTSPEC_OFFSET, 0x10, 0},
	{"ext4:ext4_sync_file:exit", "ext4", "ext4_sync_file", KI_POINTSPEC_EXIT, 0, 0},
	{"ext4:f:exit:after", "ext4", "f", KI_POINTSPEC_EXIT_AFTER, 0, 0},
	{"f:exit:after/9", "", "f", KI_POINTSPEC_EXIT_AFTER, 0, 0},
	{"vfs_read:entry", "", "vfs_read", KI_POINTSPEC_ENTRY, 0, 0},
	{"vfs_read:block/0", "", "vfs_read", KI_POINTSPEC_BLOCK, 0, 0},
	{"ext4:f:block/17", "ext4", "f", KI_POINTSPEC_BLOCK, 17, 0},
	{"vfs_read+16", "", "vfs_read", KI_POINTSPEC_OFFSET, 16, 0},
	{"vfs_read+0x1C", "", "vfs_read", KI_POINTSPEC_OFFSET, 0x1c, 0},
	{"m:vfs_read+0x0", "m", "vfs_read", KI_POINTSPEC_OFFSET, 0, 0},
	{"0xffffffff81234567", "", "", KI_POINTSPEC_ADDRESS, 0xffffffff81234567, 0},
	{"do_thing@0xffffffff81000010", "", "do_thing", KI_POINTSPEC_NONE, 0, 0xffffffff81000010},
	{"m:f@0x10:block/2", "m", "f", KI_POINTSPEC_BLOCK, 2, 0x10},
	{"f@0x10+4", "", "f", KI_POINTSPEC_OFFSET, 4, 0x10},
	{"tcp_*", "", "tcp_*", KI_POINTSPEC_NONE, 0, 0},
	{"nf_*:[a-m]*:exit", "nf_*", "[a-m]*", KI_POINTSPEC_EXIT, 0, 0},
	{"foo.isra.0", "", "foo.isra.0", KI_POINTSPEC_NONE, 0, 0},
	{"foo.cold", "", "foo.cold", KI_POINTSPEC_NONE, 0, 0},
	{"exit", "", "exit", KI_POINTSPEC_NONE, 0, 0},
	{"entry:exit", "", "entry", KI_POINTSPEC_EXIT, 0, 0},
	{"a:entry", "", "a", KI_POINTSPEC_ENTRY, 0, 0},
	{"a:b", "a", "b", KI_POINTSPEC_NONE, 0, 0},
	{"f:block/3:pre", "", "f", KI_POINTSPEC_BLOCK, 3, 0},
	{"m:f:block/3:post", "m", "f", KI_POINTSPEC_BLOCK_END, 3, 0},
	{"f@0x10:edge/7", "", "f", KI_POINTSPEC_EDGE, 7, 0x10},
	{"f+0x1c:after", "", "f", KI_POINTSPEC_AFTER, 0x1c, 0},
	{"f+28:before", "", "f", KI_POINTSPEC_OFFSET, 28, 0},
	{"f:calls", "", "f", KI_POINTSPEC_CALLS, 0, 0},
	{"m:f:returns", "m", "f", KI_POINTSPEC_RETURNS, 0, 0},
	{"f:blocks", "", "f", KI_POINTSPEC_BLOCKS, 0, 0},
	{"tcp_*:edges", "", "tcp_*", KI_POINTSPEC_EDGES, 0, 0},
	{"f:blocks:post", "", "f", KI_POINTSPEC_BLOCK_ENDS, 0, 0},
	{"f:insns:after", "", "f", KI_POINTSPEC_AFTERS, 0, 0},
	{"f:insns", "", "f", KI_POINTSPEC_INSNS, 0, 0},
	{"f:edge/4-9", "", "f", KI_POINTSPEC_EDGE_BETWEEN, 4, 0},
	{"f:call/g.isra.0", "", "f", KI_POINTSPEC_CALL_TO, 0, 0},
	{"m:f:call/vfs_*", "m", "f", KI_POINTSPEC_CALL_TO, 0, 0},
	{"m:calls:calls", "m", "calls", KI_POINTSPEC_CALLS, 0, 0},
};

static void good_ones(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(good) / sizeof(*good); i++) {
		struct ki_pointspec p;
		const char *why;

		if (ki_pointspec_parse(good[i].text, &p, &why))
			fail_msg("%s: %s", good[i].text, why);
		assert_string_equal(p.module, good[i].module);
		assert_string_equal(p.function, good[i].function);
		assert_int_equal(p.suffix, good[i].suffix);
		assert_int_equal(p.number, good[i].number);
		assert_int_equal(p.picked, good[i].picked);
	}
}

static void whose(void **state)
{
	static const struct {
		const char *text;
		pid_t pid;
		const char *rest;
	} v[] = {
		{"1234/libc.so.6:malloc", 1234, "libc.so.6:malloc"},
		{"1/", 1, ""},
		{"2147483647/f", 2147483647, "f"},
		{"2147483648/f", 0, "2147483648/f"},
		{"99999999999999999999/f", 0, "99999999999999999999/f"},
		{"0/f", 0, "0/f"},
		{"-1/f", 0, "-1/f"},
		{"12f/g", 0, "12f/g"},
		{"12", 0, "12"},
		{"f:block/3", 0, "f:block/3"},
		{"", 0, ""},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		const char *rest;

		assert_int_equal(ki_pointspec_process(v[i].text, &rest), v[i].pid);
		assert_string_equal(rest, v[i].rest);
	}
}

static void order_and_more(void **state)
{
	static const struct {
		const char *text;
		enum ki_pointspec_suffix suffix;
		uint16_t order;
		uint64_t to;
		const char *callee;
	} v[] = {
		{"f:block/3:post/2", KI_POINTSPEC_BLOCK_END, 2, 0, ""},
		{"f:block/3/65535", KI_POINTSPEC_BLOCK, 65535, 0, ""},
		{"f:entry/1", KI_POINTSPEC_ENTRY, 1, 0, ""},
		{"f+4:after/9", KI_POINTSPEC_AFTER, 9, 0, ""},
		{"f:edges/3", KI_POINTSPEC_EDGES, 3, 0, ""},
		{"f:edge/4-9/5", KI_POINTSPEC_EDGE_BETWEEN, 5, 9, ""},
		{"f:edge/4/5", KI_POINTSPEC_EDGE, 5, 0, ""},
		{"f:call/g/7", KI_POINTSPEC_CALL_TO, 7, 0, "g"},
		{"f:call/g", KI_POINTSPEC_CALL_TO, 0, 0, "g"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(v) / sizeof(*v); i++) {
		struct ki_pointspec p;
		const char *why;

		if (ki_pointspec_parse(v[i].text, &p, &why))
			fail_msg("%s: %s", v[i].text, why);
		assert_int_equal(p.suffix, v[i].suffix);
		assert_int_equal(p.order, v[i].order);
		assert_int_equal(p.to, v[i].to);
		assert_string_equal(p.callee, v[i].callee);
	}
}

static const char *const bad[] = {
	"f/2",
	"f:block/3:middle",
	"f:block/3:post:pre",
	"f:block/3:post/65536",
	"f:block/3/2/1",
	"f:edge/1-",
	"f:edge/-1",
	"f:edge/1-2-3",
	"f:edge/1-4294967296",
	"f:edges/",
	"f:edges/x",
	"f:call/",
	"f:call/g/x",
	"f:call/a:b",
	"f:call/g+1",
	"f:insns:post",
	"f+1:post",
	"f+1:after:after",
	"",
	":",
	":f",
	"m:",
	"a:b:c",
	"a:b:c:exit",
	"f:exit:post",
	"f:exit:after:after",
	":exit",
	"f:block/",
	"f:block/x",
	"f:block/-1",
	"f:block/4294967296",
	"f:block/0x",
	"f:block/1 ",
	"f+",
	"f+x",
	"f+-1",
	"f+0x",
	"f+1+2x",
	"f+1:exit",
	"f+99999999999999999999",
	"0x",
	"0xzz",
	"0x1 ",
	"0x12345678123456789",
	"f@0x",
	"f@0xg",
	"f@0x0",
	"@0x10",
	"+5",
	"f:block/1+2",
};

static void bad_ones(void **state)
{
	static char longest[700];
	struct ki_pointspec p;
	const char *why = NULL;

	(void)state;
	for (size_t i = 0; i < sizeof(bad) / sizeof(*bad); i++) {
		why = NULL;
		if (!ki_pointspec_parse(bad[i], &p, &why))
			fail_msg("'%s' is accepted", bad[i]);
		assert_non_null(why);
	}
	memset(longest, 'a', sizeof(longest) - 1);
	assert_int_equal(ki_pointspec_parse(longest, &p, &why), -EINVAL);
	memcpy(longest + 100, ":f", 3);
	assert_int_equal(ki_pointspec_parse(longest, &p, &why), -EINVAL);
}

static bool matches(const char *text, const char *module, const char *function)
{
	struct ki_pointspec p;
	const char *why;

	assert_int_equal(ki_pointspec_parse(text, &p, &why), 0);
	return ki_pointspec_matches(&p, module, function, 0x1000);
}

static void matching(void **state)
{
	(void)state;
	assert_true(matches("vfs_read", "", "vfs_read"));
	assert_true(matches("vfs_read", "ext4", "vfs_read"));
	assert_true(matches("kernel:vfs_read", "", "vfs_read"));
	assert_false(matches("kernel:vfs_read", "ext4", "vfs_read"));
	assert_false(matches("ext4:vfs_read", "", "vfs_read"));
	assert_true(matches("vfs_*", "", "vfs_read"));
	assert_true(matches("*:vfs_*", "", "vfs_read"));
	assert_true(matches("ext?:*", "ext4", "f"));
	assert_false(matches("vfs_*", "", "do_vfs_read"));
	assert_true(matches("f@0x1000", "", "f"));
	assert_false(matches("f@0x1001", "", "f"));
	assert_true(ki_pointspec_is_glob("a*"));
	assert_true(ki_pointspec_is_glob("a?"));
	assert_true(ki_pointspec_is_glob("[ab]"));
	assert_false(ki_pointspec_is_glob("a.b_c"));
}

static void nearness(void **state)
{
	(void)state;
	assert_int_equal(ki_pointspec_distance("vfs_read", "vfs_read", 3), 0);
	assert_int_equal(ki_pointspec_distance("vfs_raed", "vfs_read", 3), 2);
	assert_int_equal(ki_pointspec_distance("vfs_rea", "vfs_read", 3), 1);
	assert_int_equal(ki_pointspec_distance("vfs_read", "fs_read", 3), 1);
	assert_int_equal(ki_pointspec_distance("", "abc", 3), 3);
	assert_int_equal(ki_pointspec_distance("", "abcd", 3), 4);
	assert_int_equal(ki_pointspec_distance("kitten", "sitting", 3), 3);
	assert_int_equal(ki_pointspec_distance("abcdef", "ghijkl", 3), 4);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(good_ones),	  cmocka_unit_test(whose),
		cmocka_unit_test(order_and_more), cmocka_unit_test(bad_ones),
		cmocka_unit_test(matching),	  cmocka_unit_test(nearness),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
