// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which functions a text names, and what a replacement's text says, in a target of this file's.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include <errno.h>

#include "kerninst/near_reason.h"
#include "kerninst/replacement_text.h"
#include "kerninst/select.h"
#include "target/memory.h"
#include "util/vec.h"

#define BASE UINT64_C(0xffffffff81000000)

static struct ki_target *target;

static int open_target(void **state)
{
	static const struct ki_symbol symbols[] = {
		{.addr = BASE, .name = "f_one"},      {.addr = BASE + 16, .name = "f_two"},
		{.addr = BASE + 32, .name = "twice"}, {.addr = BASE + 48, .name = "twice"},
		{.addr = BASE + 64, .name = "g"},
	};
	static uint8_t bytes[80];
	const struct ki_memory m = {.kind = KI_TARGET_LIVE,
				    .base = BASE,
				    .bytes = bytes,
				    .len = sizeof(bytes),
				    .symbols = symbols,
				    .nsymbols = 5};

	(void)state;
	memset(bytes, 0x90, sizeof(bytes));
	return ki_target_open_memory(&m, &target, NULL);
}

static int close_target(void **state)
{
	(void)state;
	ki_target_free(target);
	return 0;
}

/* What is selected, as offsets. */
static const struct {
	const char *text;
	bool offsets;
	int ret;
	unsigned int n;
	uint64_t from[5];
} rows[] = {
	{"f_one", false, 0, 1, {0}},
	{"f_*", false, 0, 2, {0, 16}},
	{"twice", false, 0, 2, {32, 48}},
	{"twice@0xffffffff81000030", false, 0, 1, {48}},
	{"0xffffffff81000013", false, 0, 1, {19}},
	{"f_two+0x4", true, 0, 1, {20}},
	{"f_two+0x4", false, -EISDIR, 0, {0}},
	{"f_two+0x10", true, -EINVAL, 0, {0}},
	{"f_two:entry", true, -EISDIR, 0, {0}},
	{"none", false, -ENOENT, 0, {0}},
	{"f_one:", false, -EILSEQ, 0, {0}},
};

static void texts_name_functions(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ki_selection s = {0};
		struct ki_pointspec spec;
		struct ki_err err = {0};

		assert_int_equal(ki_select(target, rows[i].text, rows[i].offsets, &s, &spec, &err),
				 rows[i].ret);
		assert_int_equal(s.n, rows[i].n);
		for (size_t k = 0; k < s.n; k++)
			assert_int_equal(s.v[k].from - BASE, rows[i].from[k]);
		ki_vec_free(&s);
	}
	{
		struct ki_selection s = {0};
		struct ki_pointspec spec;
		struct ki_err err = {0};

		assert_true(ki_select(target, "0x1000", false, &s, &spec, &err) < 0);
		assert_int_equal(err.reason, KI_R_NOT_TEXT);
	}
}

static void selections_are_sorted_once_each(void **state)
{
	struct ki_selection s = {0};
	struct ki_pointspec spec;

	(void)state;
	assert_int_equal(ki_select(target, "g", false, &s, &spec, NULL), 0);
	assert_int_equal(ki_select(target, "f_*", false, &s, &spec, NULL), 0);
	assert_int_equal(ki_select(target, "f_two", false, &s, &spec, NULL), 0);
	assert_int_equal(ki_select(target, "f_two+4", true, &s, &spec, NULL), 0);
	ki_selection_sort(&s);
	assert_int_equal(s.n, 4);
	assert_int_equal(s.v[0].from, BASE);
	assert_int_equal(s.v[1].from, BASE + 16);
	assert_int_equal(s.v[2].from, BASE + 20);
	assert_int_equal(s.v[3].from, BASE + 64);
	ki_vec_free(&s);
	assert_int_equal(ki_selection_all(&s, target), 0);
	assert_int_equal(s.n, 5);
	ki_vec_free(&s);
}

static void the_first_and_the_others(void **state)
{
	const struct ki_symbol *sym;
	struct ki_pointspec spec;
	struct ki_err err = {0};
	const char *why;
	size_t others;

	(void)state;
	assert_int_equal(ki_pointspec_parse("twice", &spec, &why), 0);
	assert_int_equal(ki_match_first(target, &spec, "twice", &sym, &others, &err), 0);
	assert_int_equal(sym->addr, BASE + 32);
	assert_int_equal(others, 1);
	assert_int_equal(ki_pointspec_parse("none", &spec, &why), 0);
	assert_int_equal(ki_match_first(target, &spec, "none", &sym, &others, &err), -ENOENT);
	assert_int_equal(ki_pointspec_parse("0x10", &spec, &why), 0);
	assert_int_equal(ki_match_first(target, &spec, "0x10", &sym, &others, &err), -EFAULT);
}

static const struct {
	const char *text;
	int ret;
	uint64_t in, callee, offset, to; /* 0 but for in: none */
} replacements[] = {
	{"f_one=g", 0, 0, 0, 0, 64},
	{"f_one->f_two=g", 0, 0, 16, 0, 64},
	{"f_two+0x4=g", 0, 16, 0, 4, 64},
	{"twice@0xffffffff81000030=g", 0, 48, 0, 0, 64},
	{"g=g", -ELOOP, 0, 0, 0, 0},
	{"f_one", -EINVAL, 0, 0, 0, 0},
	{"f_*=g", -EINVAL, 0, 0, 0, 0},
	{"f_one:exit=g", -EINVAL, 0, 0, 0, 0},
	{"f_one+4->f_two=g", -EINVAL, 0, 0, 0, 0},
	{"f_one->f_two+4=g", -EINVAL, 0, 0, 0, 0},
	{"f_one=g+4", -EINVAL, 0, 0, 0, 0},
	{"twice=g", -ENOTUNIQ, 0, 0, 0, 0},
	{"f_on=g", -ENOENT, 0, 0, 0, 0},
};

static void replacements_are_read(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof(replacements) / sizeof(*replacements); i++) {
		struct ki_replacement w = {0};
		char why[KI_MATCH_WHY] = "";
		struct ki_err err = {0};

		assert_int_equal(ki_replacement_parse(target, replacements[i].text, &w, why, &err),
				 replacements[i].ret);
		assert_int_equal(*why != 0, replacements[i].ret == -ENOENT);
		assert_int_equal(err.code != 0, replacements[i].ret != 0);
		if (replacements[i].ret)
			continue;
		assert_int_equal(w.in->addr - BASE, replacements[i].in);
		assert_int_equal(w.callee ? w.callee->addr - BASE : 0, replacements[i].callee);
		assert_int_equal(w.offset, replacements[i].offset);
		assert_int_equal(w.to->addr - BASE, replacements[i].to);
	}
}

static void near_tags(void **state)
{
	char list[256];

	(void)state;
	ki_reasons_near("ftrace-sit", list, sizeof(list));
	assert_non_null(strstr(list, "; near: "));
	assert_non_null(strstr(list, "FTRACE_SITE"));
	ki_reasons_near("entirely something else", list, sizeof(list));
	assert_string_equal(list, "");
	/* no more than there is room for */
	ki_reasons_near("_", list, 8);
	assert_true(strlen(list) < 8);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(texts_name_functions),
		cmocka_unit_test(selections_are_sorted_once_each),
		cmocka_unit_test(the_first_and_the_others),
		cmocka_unit_test(replacements_are_read),
		cmocka_unit_test(near_tags),
	};

	return cmocka_run_group_tests(tests, open_target, close_target);
}
