// SPDX-License-Identifier: GPL-2.0-only
/*
 * The JSON writer and the tables: what comes out, for good and for bad input.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "out/json.h"
#include "out/table.h"

static char *text;
static size_t text_len;
static FILE *out;
static struct ki_json j;

static int begin(void **state)
{
	(void)state;
	out = open_memstream(&text, &text_len);
	ki_json_init(&j, out);
	return out ? 0 : -1;
}

static int end(void **state)
{
	(void)state;
	fclose(out);
	free(text);
	return 0;
}

static const char *written(void)
{
	fflush(out);
	return text;
}

static void structure(void **state)
{
	(void)state;
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "a", "x");
	ki_json_u64(&j, "b", 3);
	ki_json_open(&j, "c", '[');
	ki_json_u64(&j, NULL, 1);
	ki_json_open(&j, NULL, '{');
	ki_json_close(&j);
	ki_json_bool(&j, NULL, true);
	ki_json_close(&j);
	ki_json_open(&j, "d", '[');
	ki_json_close(&j);
	ki_json_str(&j, "e", NULL);
	ki_json_hex(&j, "f", UINT64_C(0xffffffff81000000));
	ki_json_bool(&j, "g", false);
	ki_json_close(&j);
	assert_int_equal(ki_json_end_line(&j), 0);
	assert_string_equal(written(), "{\"a\":\"x\",\"b\":3,\"c\":[1,{},true],\"d\":[],\"e\":null,"
				       "\"f\":\"0xffffffff81000000\",\"g\":false}\n");
}

static void lines(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 3; i++) {
		ki_json_open(&j, NULL, '{');
		ki_json_u64(&j, "i", i);
		ki_json_close(&j);
		assert_int_equal(ki_json_end_line(&j), 0);
	}
	assert_string_equal(written(), "{\"i\":0}\n{\"i\":1}\n{\"i\":2}\n");
}

/* One string, quoted. */
static const char *quoted(const char *s)
{
	end(NULL);
	begin(NULL);
	ki_json_str(&j, NULL, s);
	return written();
}

static void escapes(void **state)
{
	(void)state;
	assert_string_equal(quoted("\"\\/\b\f\n\r\t"), "\"\\\"\\\\/\\b\\f\\n\\r\\t\"");
	assert_string_equal(quoted("\x01\x1f\x7f"), "\"\\u0001\\u001f\\u007f\"");
	assert_string_equal(quoted("\xc2\x80\xc2\x9f\xc2\xa0"), "\"\\u0080\\u009f\xc2\xa0\"");
	assert_string_equal(quoted(""), "\"\"");
	assert_string_equal(quoted("caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa7"),
			    "\"caf\xc3\xa9 \xe2\x82\xac \xf0\x9f\x90\xa7\"");
}

#define BAD "\xef\xbf\xbd"

static void bytes_that_are_no_utf8(void **state)
{
	(void)state;
	assert_string_equal(quoted("a\xff z"), "\"a" BAD " z\"");
	assert_string_equal(quoted("\x80"), "\"" BAD "\"");
	assert_string_equal(quoted("\xc3"), "\"" BAD "\"");		    /* cut off */
	assert_string_equal(quoted("\xe2\x82"), "\"" BAD BAD "\"");	    /* cut off */
	assert_string_equal(quoted("\xc0\xaf"), "\"" BAD BAD "\"");	    /* overlong */
	assert_string_equal(quoted("\xe0\x80\xaf"), "\"" BAD BAD BAD "\""); /* overlong */
	assert_string_equal(quoted("\xed\xa0\x80"), "\"" BAD BAD BAD "\""); /* surrogate */
	assert_string_equal(quoted("\xf4\x90\x80\x80"), "\"" BAD BAD BAD BAD "\"");
	assert_string_equal(quoted("\xc3\""), "\"" BAD "\\\"\"");
}

static void numbers(void **state)
{
	(void)state;
	ki_json_open(&j, NULL, '[');
	ki_json_u64(&j, NULL, 0);
	ki_json_u64(&j, NULL, (UINT64_C(1) << 53) - 1);
	ki_json_u64(&j, NULL, UINT64_C(1) << 53);
	ki_json_u64(&j, NULL, UINT64_MAX);
	ki_json_i64(&j, NULL, -(INT64_C(1) << 53) + 1);
	ki_json_i64(&j, NULL, -(INT64_C(1) << 53));
	ki_json_i64(&j, NULL, INT64_C(1) << 53);
	ki_json_i64(&j, NULL, 7);
	ki_json_double(&j, NULL, 0.1);
	ki_json_double(&j, NULL, 1.0 / 3);
	ki_json_double(&j, NULL, -2);
	ki_json_double(&j, NULL, 1e300);
	ki_json_double(&j, NULL, 0.0 / (text_len * 0.0));
	ki_json_double(&j, NULL, 1e308 * 10);
	ki_json_close(&j);
	assert_int_equal(ki_json_end_line(&j), 0);
	assert_string_equal(written(),
			    "[0,9007199254740991,\"9007199254740992\","
			    "\"18446744073709551615\",-9007199254740991,\"-9007199254740992\","
			    "\"9007199254740992\",7,0.1,0.3333333333333333,-2,1e+300,"
			    "null,null]\n");
}

static void misuse_is_an_error(void **state)
{
	(void)state;
	ki_json_open(&j, NULL, '{');
	ki_json_u64(&j, NULL, 1); /* no key */
	assert_true(j.err < 0);
	ki_json_init(&j, out);
	ki_json_close(&j);
	assert_true(j.err < 0);
	ki_json_init(&j, out);
	for (unsigned int i = 0; i <= KI_JSON_DEPTH; i++)
		ki_json_open(&j, NULL, '[');
	assert_true(j.err < 0);
	ki_json_init(&j, out);
	ki_json_open(&j, NULL, '[');
	assert_true(ki_json_end_line(&j) < 0); /* not closed */
	ki_json_init(&j, out);
	ki_json_u64(&j, NULL, 1);
	ki_json_u64(&j, NULL, 1); /* two values on a line */
	assert_true(j.err < 0);
}

static void a_full_disk_is_an_error(void **state)
{
	FILE *full = fopen("/dev/full", "w");

	(void)state;
	if (!full)
		skip();
	setbuf(full, NULL);
	ki_json_init(&j, full);
	ki_json_str(&j, NULL, "x");
	assert_true(ki_json_end_line(&j) < 0);
	fclose(full);
}

static const struct ki_column columns[] = {
	{"N", KI_ALIGN_RIGHT, 0}, {"NAME", KI_ALIGN_LEFT, 6}, {"LAST", KI_ALIGN_LEFT, 0}};

static void table_aligns(void **state)
{
	struct ki_table *t;

	(void)state;
	assert_int_equal(ki_table_new(&t, columns, 3), 0);
	ki_table_cell(t, "%d", 1234);
	ki_table_cell(t, "%s", "ab");
	ki_table_cell(t, "%s", "x");
	ki_table_cell(t, "5");
	ki_table_cell(t, "longer one");
	ki_table_cell(t, "y");
	ki_table_cell(t, "6");
	ki_table_cell(t, "%s", "a\033[31m");
	ki_table_cell(t, "%s", "b\n7\x7f");
	ki_table_cell(t, "7"); /* not a whole row */
	assert_int_equal(ki_table_print(t, out, false), 0);
	assert_string_equal(written(), "   N  NAME        LAST\n"
				       "1234  ab          x\n"
				       "   5  longer one  y\n"
				       "   6  a?[31m      b?7?\n");
	ki_table_free(t);
}

static void table_goes_on(void **state)
{
	struct ki_table *t;

	(void)state;
	assert_int_equal(ki_table_new(&t, columns, 3), 0);
	for (int i = 0; i < 2; i++) {
		ki_table_cell(t, "%d", i);
		ki_table_cell(t, "a");
		ki_table_cell(t, "b");
		assert_int_equal(ki_table_print(t, out, true), 0);
	}
	assert_string_equal(written(), "\033[1mN  NAME    LAST\033[0m\n"
				       "0  a       b\n"
				       "1  a       b\n");
	ki_table_free(t);
	ki_table_free(NULL);
}

/* Titles once, and quotes where something could be taken for something else. */
static void table_as_values(void **state)
{
	static const char *const values[][3] = {
		{"1", "plain", "two words"},
		{"2", "a,b", "say \"x\""},
		{"3", "", "line\nbreak"},
		{"4", "a;b", "\""},
	};
	struct ki_table *t;

	(void)state;
	assert_int_equal(ki_table_new(&t, columns, 3), 0);
	for (int i = 0; i < 4; i++) {
		for (int k = 0; k < 3; k++)
			ki_table_cell(t, "%s", values[i][k]);
		if (i != 1)
			assert_int_equal(ki_table_print_csv(t, out, ','), 0);
	}
	assert_string_equal(written(), "N,NAME,LAST\n"
				       "1,plain,two words\n"
				       "2,\"a,b\",\"say \"\"x\"\"\"\n"
				       "3,,\"line\nbreak\"\n"
				       "4,a;b,\"\"\"\"\n");
	ki_table_free(t);
}

#define TEST(f) cmocka_unit_test_setup_teardown(f, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(structure),
		TEST(lines),
		TEST(escapes),
		TEST(bytes_that_are_no_utf8),
		TEST(numbers),
		TEST(misuse_is_an_error),
		TEST(a_full_disk_is_an_error),
		TEST(table_aligns),
		TEST(table_goes_on),
		TEST(table_as_values),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
