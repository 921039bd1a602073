// SPDX-License-Identifier: GPL-2.0-only
/*
 * What D programs print: bars, the order of rows, options, values.
 */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dlang/print/bars.h"
#include "dlang/words/names.h"
#include "dlang/print/show.h"
#include "dlang/print/sort.h"

#define HEAD "\n           value  ------------- Distribution ------------- count    \n"
#define ALL  "@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@@"
#define NONE "                                        "
#define HALF "@@@@@@@@@@@@@@@@@@@@"

static char *bars(const struct ki_d_agg *a, const uint64_t *values)
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	ki_d_bars_print(a, values, f);
	fclose(f);
	return text;
}

static void print_bars(const struct ki_d_agg *a, const uint64_t *values, const char *want)
{
	char *text = bars(a, values);

	assert_string_equal(text, want);
	free(text);
}

static void test_quantize(void **state)
{
	struct ki_d_agg a = {.fn = &ki_d_agg_functions[KI_D_QUANTIZE], .normal = 1};
	uint64_t values[2 * KI_TABLE_LOG2_WORDS] = {0};

	(void)state;
	/* Nothing is there: the buckets around 0. */
	print_bars(&a, values,
		   HEAD "              -1 |" NONE " 0        \n"
			"               0 |" NONE " 0        \n"
			"               1 |" NONE " 0        \n");
	values[1] = 7;
	print_bars(&a, values,
		   HEAD "               0 |" NONE " 0        \n"
			"               1 |" ALL " 7        \n"
			"               2 |" NONE " 0        \n");
	a.normal = 7;
	print_bars(&a, values,
		   HEAD "               0 |" NONE " 0        \n"
			"               1 |" ALL " 1        \n"
			"               2 |" NONE " 0        \n");
}

/* Counts of both signs grow from the middle, negative ones alone from the right. */
static void test_signs(void **state)
{
	struct ki_d_agg a = {.fn = &ki_d_agg_functions[KI_D_QUANTIZE], .normal = 1};
	uint64_t values[2 * KI_TABLE_LOG2_WORDS] = {[1] = (uint64_t)-3};

	(void)state;
	print_bars(&a, values,
		   HEAD "               0 " NONE "| 0        \n"
			"               1 " ALL "| -3       \n"
			"               2 " NONE "| 0        \n");
	values[2] = 3;
	print_bars(&a, values,
		   HEAD "               0                     |                     0        \n"
			"               1           @@@@@@@@@@|                     -3       \n"
			"               2                     |@@@@@@@@@@           3        \n"
			"               4                     |                     0        \n");
}

static void test_lquantize(void **state)
{
	struct ki_d_agg a = {.fn = &ki_d_agg_functions[KI_D_LQUANTIZE],
			     .linear = {.low = 0, .high = 10, .step = 5},
			     .normal = 1};
	uint64_t values[4] = {1, 0, 0, 1};

	(void)state;
	print_bars(&a, values,
		   HEAD "             < 0 |" HALF "                     1        \n"
			"               0 |" NONE " 0        \n"
			"               5 |" NONE " 0        \n"
			"           >= 10 |" HALF "                     1        \n");
}

/* Within each power of 4, steps of equal width; nothing is counted in two buckets' words. */
static void test_llquantize(void **state)
{
	const struct ki_d_log two = {4, 0, 1, 2}, four = {4, 0, 1, 4}, eight = {4, 0, 1, 8};
	static const int64_t by_two[] = {-16, -8, -4, -2, -1, 0, 1, 2, 4, 8, 16},
			     by_four[] = {-16, -12, -8, -4, -3, -2, -1, 0, 1, 2, 3, 4, 8, 12, 16},
			     by_eight[] = {-16, -14, -12, -10, -8, -6, -4, -3, -2, -1, 0,
					   1,	2,   3,	  4,   6,  8,  10, 12, 14, 16};
	const struct {
		const struct ki_d_log *l;
		const int64_t *want;
		uint32_t n;
	} cases[] = {{&two, by_two, 11}, {&four, by_four, 15}, {&eight, by_eight, 21}};
	struct ki_d_agg a = {
		.fn = &ki_d_agg_functions[KI_D_LLQUANTIZE], .log = {10, 2, 5, 20}, .normal = 1};
	uint64_t values[KI_TABLE_VALUES] = {0};
	int64_t value;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		bool used[KI_TABLE_VALUES] = {false};

		assert_int_equal(ki_d_log_buckets(cases[i].l), cases[i].n);
		for (uint32_t k = 0; k < cases[i].n; k++) {
			uint32_t word = ki_d_log_bucket(cases[i].l, k, &value);

			assert_int_equal(value, cases[i].want[k]);
			assert_true(word < ki_d_log_words(cases[i].l) && !used[word]);
			used[word] = true;
		}
	}
	values[0] = 1;
	values[ki_d_log_bucket(&a.log, ki_d_log_buckets(&a.log) - 1, &value)] = 1;
	assert_int_equal(value, 1000000);
	values[ki_d_log_bucket(&a.log, ki_d_log_middle(&a.log) + 1, &value)] = 2;
	assert_int_equal(value, 100);
	assert_int_equal(ki_d_bars_weight(&a, values, &value), 1000200);
	assert_int_equal(value, 1);
}

/* What distributions are sorted by: the sum of what they stand for. */
static void test_order(void **state)
{
	struct ki_d_agg a = {.fn = &ki_d_agg_functions[KI_D_QUANTIZE], .normal = 1},
			count = {.fn = &ki_d_agg_functions[KI_D_COUNT], .normal = 1};
	uint64_t few_large[2 * KI_TABLE_LOG2_WORDS] = {[20] = 1},
			       many_small[2 * KI_TABLE_LOG2_WORDS] = {[1] = 100},
			       below[2 * KI_TABLE_LOG2_WORDS] = {[KI_TABLE_LOG2_WORDS + 5] = 1};
	const uint64_t minus = (uint64_t)-1, one = 1;

	(void)state;
	assert_true(ki_d_value_compare(&a, few_large, many_small) > 0);
	assert_true(ki_d_value_compare(&a, below, many_small) < 0);
	assert_int_equal(ki_d_value_compare(&a, below, below), 0);
	assert_true(ki_d_value_compare(&count, &minus, &one) < 0);
}

/* Strings in order of their letters, however they are kept; numbers without sign. */
static void test_keys(void **state)
{
	char first[] = "zeta", second[] = "alpha", *names[] = {first, second};
	struct ki_dlang d = {.strings = {.v = names, .n = 2}};
	struct ki_d_agg numbered = {.nkeys = 1, .forms = {KI_D_FORM_NUMBERED}},
			comm = {.nkeys = 1, .forms = {KI_D_FORM_COMM}},
			words = {.nkeys = 2, .forms = {KI_D_FORM_WORD, KI_D_FORM_WORD}};
	uint64_t text[KI_D_COMM_WORDS] = {0}, zeta = 1, alpha = 2;
	const uint64_t x[] = {1, 9}, y[] = {2, 3}, minus[] = {(uint64_t)-1, 0};

	(void)state;
	memcpy(text, "alpha", 6);
	assert_true(ki_d_key_compare(&d, &numbered, &zeta, &numbered, &alpha, 0) > 0);
	assert_int_equal(ki_d_key_compare(&d, &numbered, &alpha, &comm, text, 0), 0);
	assert_true(ki_d_key_compare(&d, &words, x, &words, y, 0) < 0);
	assert_true(ki_d_key_compare(&d, &words, x, &words, y, 1) > 0);
	assert_true(ki_d_key_compare(&d, &words, minus, &words, y, 0) > 0);
}

static void test_options(void **state)
{
	struct ki_d_settings s;

	(void)state;
	ki_d_settings_default(&s);
	assert_int_equal(s.strsize, 256);
	assert_int_equal(ki_d_option(&s, "quiet", NULL, KI_D_AT_START), 0);
	assert_int_equal(s.quiet, 1);
	assert_int_equal(ki_d_option(&s, "quiet", "0", KI_D_RUNNING), 0);
	assert_int_equal(s.quiet, 0);
	assert_int_equal(ki_d_option(&s, "bufsize", "4m", KI_D_AT_START), 0);
	assert_int_equal(s.bufsize, 4 << 20);
	assert_int_equal(ki_d_option(&s, "bufsize", "4m", KI_D_RUNNING), -EBUSY);
	assert_int_equal(ki_d_option(&s, "bufsize", "-1", KI_D_AT_START), -EINVAL);
	assert_int_equal(ki_d_option(&s, "bufsize", "99999999999999t", KI_D_AT_START), -EINVAL);
	assert_int_equal(ki_d_option(&s, "switchrate", "10hz", KI_D_RUNNING), 0);
	assert_int_equal(s.switchrate, 100000000);
	assert_int_equal(ki_d_option(&s, "switchrate", "5ms", KI_D_RUNNING), 0);
	assert_int_equal(s.switchrate, 5000000);
	assert_int_equal(ki_d_option(&s, "switchrate", "0.5hz", KI_D_RUNNING), -EINVAL);
	assert_int_equal(ki_d_option(&s, "quiet", "um, no", KI_D_RUNNING), -EINVAL);
	assert_int_equal(ki_d_option(&s, "stackframes", "200", KI_D_AT_START), -EINVAL);
	assert_int_equal(ki_d_option(&s, "strsize", NULL, KI_D_AT_START), -EINVAL);
	assert_int_equal(ki_d_option(&s, "oformat", "json", KI_D_AT_START), 0);
	assert_int_equal(s.json, 1);
	assert_int_equal(ki_d_option(&s, "Nixon", "1", KI_D_RUNNING), -ENOENT);
}

static char *shown(void (*show)(FILE *f))
{
	char *text = NULL;
	size_t len;
	FILE *f = open_memstream(&text, &len);

	assert_non_null(f);
	show(f);
	fclose(f);
	return text;
}

static void numbers(FILE *f)
{
	ki_d_show_number(f, ki_d_int(KI_I32), 7, false);
	ki_d_show_number(f, ki_d_int(KI_I64), (uint64_t)-7, false);
	ki_d_show_number(f, ki_d_int(KI_U64), UINT64_MAX, false);
	ki_d_show_number(f, ki_d_int(KI_I8), (uint64_t)-7, false);
	ki_d_show_number(f, ki_d_int(KI_I8), (uint64_t)-7, true);
}

static void keys(FILE *f)
{
	ki_d_show_key(f, 1, (uint64_t)-2);
	ki_d_show_key(f, 2, (uint64_t)-2);
	ki_d_show_key(f, 4, (uint64_t)-2);
	ki_d_show_key(f, 8, (uint64_t)-2);
}

static void memory(FILE *f)
{
	ki_d_show_bytes(f, (const uint8_t *)"dtrace4\x12!C", 10);
	ki_d_show_text_or_bytes(f, (const uint8_t *)"abc\0\0", 5, 5);
	ki_d_show_text_or_bytes(f, (const uint8_t *)"abc\0\0", 5, 0);
}

/* What trace() of an array shows as characters: all bytes up to the zeros at its end. */
static void test_text(void **state)
{
	(void)state;
	assert_true(ki_d_show_is_text((const uint8_t *)"ab \n", 4));
	assert_true(ki_d_show_is_text((const uint8_t *)"ab\0\0", 4));
	assert_false(ki_d_show_is_text((const uint8_t *)"ab\0c", 4));
	assert_false(ki_d_show_is_text((const uint8_t *)"a\5b\0", 4));
	assert_false(ki_d_show_is_text((const uint8_t *)"\0\0\0\0", 4));
}

static void test_values(void **state)
{
	char *text;

	(void)state;
	text = shown(numbers);
	assert_string_equal(text, "          7                  -7 18446744073709551615  -7-7");
	free(text);
	text = shown(keys);
	assert_string_equal(text, " 254 65534       -2               -2");
	free(text);
	text = shown(memory);
	assert_string_equal(
		text,
		"\n             0  1  2  3  4  5  6  7  8  9  a  b  c  d  e  f  0123456789abcdef\n"
		"         0: 64 74 72 61 63 65 34 12 21 43                    dtrace4.!C\n"
		"  abc  abc");
	free(text);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_quantize),  cmocka_unit_test(test_signs),
		cmocka_unit_test(test_lquantize), cmocka_unit_test(test_llquantize),
		cmocka_unit_test(test_order),	  cmocka_unit_test(test_keys),
		cmocka_unit_test(test_options),	  cmocka_unit_test(test_values),
		cmocka_unit_test(test_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
