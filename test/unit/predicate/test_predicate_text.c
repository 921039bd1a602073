// SPDX-License-Identifier: GPL-2.0-only
/*
 * Predicates as text: how they are written, what is refused, and where.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "common_predicate.h"

static struct ki_machine machine;

static void parentheses_where_they_are_needed(void **state)
{
	static const char *const pairs[][2] = {
		{"(pid==1)&&((arg2>4096))", "pid == 1 && arg2 > 4096"},
		{"(pid == 1 || tid == 2) && cpu", "(pid == 1 || tid == 2) && cpu"},
		{"1 - (2 - 3)", "1 - (2 - 3)"},
		{"(1 - 2) - 3", "1 - 2 - 3"},
		{"cpu ? (1 ? 2 : 3) : (4 ? 5 : 6)", "cpu ? 1 ? 2 : 3 : 4 ? 5 : 6"},
		{"(cpu ? 1 : 2) ? 3 : 4", "(cpu ? 1 : 2) ? 3 : 4"},
		{"-(-(3))", "- -3"},
		{"!( ~ (cpu))", "!~cpu"},
		{"(unsigned   long int)(arg0) + 1", "(u64)arg0 + 1"},
		{"(u64)(arg0 + 1)", "(u64)(arg0 + 1)"},
		{"*(int*)(arg0+0x10)", "*(i32 *)(arg0 + 0x10)"},
		{"ntohs( *(u16*)(arg1) )==80", "ntohs(*(u16 *)arg1) == 80"},
		{"pid in(1,(2),3+4)", "pid in (1, 2, 3 + 4)"},
		{"(pid in (1)) in (0,1)", "pid in (1) in (0, 1)"},
		{"pid in ((pid in (1)), 2)", "pid in (pid in (1), 2)"},
		{"execname==\"a\\\"b\\\\\\t\"", "execname == \"a\\\"b\\\\\\011\""},
		{"'a' + 017 + 0xFFu + 18446744073709551615 + 00",
		 "97 + 017 + 0xffu + 18446744073709551615 + 00"},
		{"+ +cpu", "cpu"},
		{"str(arg1)==\"foo\"", "str(arg1) == \"foo\""},
		{"( \"a\" != ustr( (arg0)+8 , 0x20 ) )", "\"a\" != ustr(arg0 + 8, 32)"},
		{"starts ( str(*(u64*)arg1),\"/proc/\" )&&1",
		 "starts(str(*(u64 *)arg1), \"/proc/\") && 1"},
		{"str(1 ? 2 : 3) in (\"a\",\"b\")", "str(1 ? 2 : 3) in (\"a\", \"b\")"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(pairs) / sizeof(*pairs); i++) {
		struct ki_predicate *p = pred_parse(pairs[i][0]);
		char *text = pred_format(p);

		assert_string_equal(text, pairs[i][1]);
		free(text);
		ki_predicate_free(p);
	}
}

/* ---- errors ---- */

static const struct {
	const char *text, *want;
} wrong[] = {
	{"str(arg1)",
	 "column 1: a string is no number: str(arg1) == \"text\", starts(str(arg1), \"text\")"},
	{"str(arg1) + 1",
	 "column 1: a string is no number: str(arg1) == \"text\", starts(str(arg1), \"text\")"},
	{"ustr(arg1, 0) == \"a\"", "column 12: a string has 1 to 128 bytes"},
	{"ustr(arg1, 129) == \"a\"", "column 12: a string has 1 to 128 bytes"},
	{"str(arg1, 8) == \"1234567\"", "column 17: at most 6 bytes of a string of that size"},
	{"arg0 && \"1234567\" != ustr(arg1, 5)", "column 9: at most 6 bytes of a string of that"},
	{"str(arg1, 16) in (\"a\", \"123456789012345\")", "column 24: at most 14 bytes"},
	{"starts(str(arg1, 8), \"12345678\")", "column 22: at most 7 bytes of a string of that"},
	{"1 + ntohs()", "column 5: ntohs takes one number: ntohs(arg1)"},
	{"ntohl(arg1, 2)", "column 1: ntohl takes one number: ntohl(arg1)"},
	{"ntohl(str(arg1))", "column 7: a string is no number"},
	{"starts(arg1, \"a\")", "column 8: str() or ustr() is expected"},
	{"starts(str(arg1), arg2)", "column 19: a string is expected, not 'arg2'"},
	{"", "column 1: a number, a name or ( is expected, but here is the end"},
	{"   ", "column 4: a number, a name or ( is expected, but here is the end"},
	{"pid ==", "column 7: a number, a name or ( is expected, but here is the end"},
	{"pid = 5", "column 5: an operator or the end is expected, not =; equal is =="},
	{"pid == 5 5", "column 10: an operator or the end is expected, not '5'"},
	{"pid == && 5", "column 8: a number, a name or ( is expected, not '&&'"},
	{"pid == 1 \"a\"", "column 10: an operator or the end is expected, not a string"},
	{"(pid == 1", "column 10: ')' is expected, but here is the end"},
	{"pid == 1)", "column 9: an operator or the end is expected, not ')'"},
	{"pid == 1 $rax", "column 10: an operator or the end is expected, not '$rax'"},
	{"pidd == 1", "column 1: no name 'pidd': pid, tid, comm"},
	{"arg32 == 1", "column 1: no name 'arg32'"},
	{"arg01 == 1", "column 1: no name 'arg01'"},
	{"arg == 1", "column 1: no name 'arg'"},
	{"1 + $eax", "column 5: no register $eax: those of 64 bits"},
	{"1 + $", "column 5: $ without a register's name"},
	{"1 @ 2", "column 3: '@' means nothing here"},
	{"pid == \xe2\x80\x9c", "column 8: the byte 0xe2 means nothing here"},
	{"12ab", "column 1: '12ab' is no number"},
	{"1.5", "column 1: '1.5' is no number"},
	{"089", "column 1: '089' is no number"},
	{"0x", "column 1: '0x' is no number"},
	{"0xfffffffffffffffff", "column 1: 0xfffffffffffffffff has more than 64 bits"},
	{"123456789012345678901234567890", "column 1: 123456789012345678901234... has more"},
	{"comm == \"abc", "column 9: a \" without an end"},
	{"1 + 'a", "column 5: a ' without an end"},
	{"'ab'", "column 1: between two ' is one character"},
	{"''", "column 1: between two ' is one character"},
	{"comm == \"a\\q\"", "column 11: no such escape: \\q"},
	{"comm == \"a\\0\"", "column 11: a 0 in a string"},
	{"comm == \"a\\777\"", "column 11: no such escape: \\7"},
	{"comm == \"sixteen-letters!\"", "column 9: a thread's name has at most 15 bytes"},
	{"comm", "column 1: comm can only be compared with a string"},
	{"comm == 5", "column 1: comm can only be compared with a string"},
	{"comm < \"a\"", "column 1: comm can only be compared with a string"},
	{"comm in (\"a\", 5)", "column 1: comm can only be compared with a string"},
	{"1 + comm == 3", "column 5: comm can only be compared with a string"},
	{"pid == \"a\"",
	 "column 8: only comm, execname, uid, cgroup, str() and ustr() can be compared"},
	{"pid in (1, \"a\")",
	 "column 12: only comm, execname, uid, cgroup, str() and ustr() can be compared"},
	{"\"a\" == \"a\"",
	 "column 1: only comm, execname, uid, cgroup, str() and ustr() can be compared"},
	{"uid < \"root\"", "column 7: a string can only stand beside ==, != or in"},
	{"uid == (\"root\" ? 1 : 2)", "column 9: a string can only stand beside ==, != or in"},
	{"uid == \"no such user\"", "column 8: there is no such user"},
	{"cgroup == \"no/path\"", "column 11: no directory of that name below /sys/fs/cgroup"},
	{"cgroup == \"/no/such/group\"", "column 11: no directory of that name"},
	{"pid in 5", "column 8: '(' is expected, not '5'"},
	{"pid in ()", "column 9: a number, a name or ( is expected, not ')'"},
	{"pid in (1, 2", "column 13: ')' is expected, but here is the end"},
	{"!pid in (1, 2)", "column 1: ! is of what stands next to it"},
	{"pid in (1) + 2", "column 12: an operator or the end is expected, not '+'"},
	{"1 == pid in (1) * 2", "column 17: an operator or the end is expected, not '*'"},
	{"1 ? 2", "column 6: ':' is expected, but here is the end"},
	{"1 ? 2 : ", "column 9: a number, a name or ( is expected, but here is the end"},
	{"*arg0", "column 2: behind * a type, as in *(u32 *)(arg0 + 16), is expected, not 'arg0'"},
	{"*(arg0 + 1)", "column 3: behind * a type, as in *(u32 *)(arg0 + 16), is expected"},
	{"*(u32)arg0", "column 6: '*' is expected, not ')'"},
	{"*(u32 *", "column 8: ')' is expected, but here is the end"},
	{"(u32 *)arg0", "column 6: a pointer is read through: *(u32 *)(...)"},
	{"(u32 u32)arg0", "column 6: ')' is expected, not 'u32'"},
	{"(long char)arg0", "column 7: ')' is expected, not 'char'"},
	{"(u128)arg0", "column 7: an operator or the end is expected, not 'arg0'"},
	{"(u32)", "column 6: a number, a name or ( is expected, but here is the end"},
	{"insid(f)",
	 "column 1: no function 'insid': there are inside(FUNCTION), str, ustr, starts, ntohs"},
	{"inside()", "column 8: a function's name is expected"},
	{"inside(f g)", "column 8: a function's name is expected"},
	{"inside(\"f\")", "column 8: a function's name is expected"},
	{"inside($rax)", "column 8: a function's name is expected"},
	{"inside(f", "column 9: ')' is expected, but here is the end"},
	{"inside", "column 1: no name 'inside'"},
	{"pid == 1 &&\n  tidd == 2", "line 2, column 3: no name 'tidd'"},
};

static void errors_say_where(void **state)
{
	char want[300];

	(void)state;
	for (size_t i = 0; i < sizeof(wrong) / sizeof(*wrong); i++) {
		struct ki_predicate *p = (void *)1;
		struct ki_err err = {0};

		assert_int_equal(ki_predicate_new(wrong[i].text, &p, &err), -EINVAL);
		assert_null(p);
		assert_int_equal(err.code, -EINVAL);
		snprintf(want, sizeof(want), "predicate: %s", wrong[i].want);
		if (strncmp(err.msg, want, strlen(want)) != 0)
			fail_msg("%s: '%s', not '%s'", wrong[i].text, err.msg, want);
		assert_int_equal(ki_predicate_new(wrong[i].text, &p, NULL), -EINVAL);
	}
}

static void repeated(const char *open, const char *middle, const char *close, int n, bool good)
{
	size_t len = (strlen(open) + strlen(close)) * (size_t)n + strlen(middle) + 1;
	char *text = calloc(1, len), *p = text;
	struct ki_predicate *out;
	struct ki_err err = {0};

	for (int i = 0; i < n; i++)
		p = stpcpy(p, open);
	p = stpcpy(p, middle);
	for (int i = 0; i < n; i++)
		p = stpcpy(p, close);
	assert_int_equal(ki_predicate_new(text, &out, &err), good ? 0 : -EINVAL);
	if (good)
		pred_value(out, &machine);
	else
		assert_non_null(strstr(err.msg, "nested too deep: at most 100 levels"));
	ki_predicate_free(out);
	free(text);
}

static void depth_is_bounded(void **state)
{
	static const struct {
		const char *open, *middle, *close;
		int good;
	} nests[] = {
		{"(", "1", ")", 48},	      {"~", "$rax", "", 98},	  {"(u8)", "$rax", "", 98},
		{"*(u64 *)", "arg0", "", 97}, {"1 ? ", "2", " : 3", 49},  {"1 ? 2 : ", "3", "", 49},
		{"", "$rax", " + $rbx", 99},  {"cpu in (", "1", ")", 49}, {"- ", "1", "", 98},
		{"! +", "1", "", 48},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(nests) / sizeof(*nests); i++) {
		repeated(nests[i].open, nests[i].middle, nests[i].close, nests[i].good, true);
		repeated(nests[i].open, nests[i].middle, nests[i].close, 101, false);
		repeated(nests[i].open, nests[i].middle, nests[i].close, 20000, false);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parentheses_where_they_are_needed),
		cmocka_unit_test(errors_say_where),
		cmocka_unit_test(depth_is_bounded),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
