// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code as a kernel module (lib/module): what cannot be is refused, and said why.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "module_fixture.h"

static struct ki_err err;

static void taken(const struct ki_module_kernel *k, const struct ki_module_code *c)
{
	size_t size;
	void *file;

	ki_err_clear(&err);
	if (ki_module_build(k, c, &file, &size, &err))
		fail_msg("%s", err.msg);
	free(file);
}

static void refused(const struct ki_module_kernel *k, const struct ki_module_code *c, int code,
		    const char *text_of_it)
{
	size_t size;
	void *file;
	int ret;

	ki_err_clear(&err);
	ret = ki_module_build(k, c, &file, &size, &err);
	if (!ret)
		fail_msg("built, though: %s", text_of_it);
	if (ret != code || !strstr(err.msg, text_of_it))
		fail_msg("%d '%s', not %d '%s'", ret, err.msg, code, text_of_it);
	assert_int_equal(err.code, code);
}

static void test_names_refused(void **state)
{
	static const char *const names[] = {
		"", "a-b", "a b", "a.ko",
		"12345678901234567890123456789012345678901234567890123456"};
	struct ki_module_code c = {.name = NULL, .code = nops, .len = 1};

	(void)state;
	refused(&kernel, &c, -EINVAL, "no name for a module");
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		c.name = names[i];
		refused(&kernel, &c, -EINVAL, "no name for a module");
	}
	c.name = names[4] + 1; /* 55 */
	taken(&kernel, &c);
}

static void test_kernels_refused(void **state)
{
	struct ki_module_kernel k = kernel;
	struct ki_module_code c = all;

	(void)state;
	k.bug_size = 16;
	refused(&k, &c, -ENOTSUP, "rows of BUGs have 16 bytes");
	c.nbugs = 0;
	taken(&k, &c);
	k.name_offset = k.module_size;
	refused(&k, &c, -EINVAL, "the kernel is not known");
	memset(&k, 0, sizeof(k));
	refused(&k, &c, -EINVAL, "the kernel is not known");
}

/* Each is the fixture's code with one thing changed. */
#define REFUSED(code_, what, field_, count, ...)                                                   \
	do {                                                                                       \
		const __typeof__(*all.field_) rows_[] = {__VA_ARGS__};                             \
		struct ki_module_code c_ = all;                                                    \
		c_.field_ = rows_;                                                                 \
		c_.count = sizeof(rows_) / sizeof(*rows_);                                         \
		refused(&kernel, &c_, code_, what);                                                \
	} while (0)

static void test_rows_refused(void **state)
{
	(void)state;
	REFUSED(-EINVAL, "fix 1 ", fixes, nfixes, {8, 0, false, 1, 0}, {4, 0, false, 1, 0});
	REFUSED(-EINVAL, "fix 1 ", fixes, nfixes, {8, 0, false, 1, 0}, {11, 0, false, 1, 0});
	REFUSED(-EINVAL, "fix 1 ", fixes, nfixes, {0, KI_MODULE_ABS64, false, 1, 0},
		{4, 0, false, 1, 0});
	REFUSED(-EINVAL, "fix 0 ", fixes, nfixes, {LEN - 3, 0, false, 1, 0});
	REFUSED(-EINVAL, "fix 0 ", fixes, nfixes, {LEN - 7, KI_MODULE_ABS64, false, 1, 0});
	REFUSED(-EINVAL, "fix 0 ", fixes, nfixes, {0, 0, true, LEN + 1, 0});
	REFUSED(-EINVAL, "fix 0 ", fixes, nfixes, {0, 3, true, 0, 0});
	REFUSED(-ERANGE, "+0 is too far", fixes, nfixes,
		{0, KI_MODULE_ABS32S, false, 1ull << 40, 0});
	REFUSED(-EINVAL, "function 0 ", functions, nfunctions, {"x", 0, LEN + 1});
	REFUSED(-EINVAL, "function 0 ", functions, nfunctions, {"", 0, 1});
	REFUSED(-EINVAL, "function 1 ", functions, nfunctions, {"x", 5, 1}, {"y", 4, 1});
	REFUSED(-EINVAL, "row 0 ", rows, nrows, {LEN + 1, {0}});
	REFUSED(-EINVAL, "row 1 ", rows, nrows, {9, {0}}, {8, {0}});
	REFUSED(-EINVAL, "jump 0 ", jumps, njumps, {10, KI_MODULE_NOP, {true, LEN}, KERNEL});
	REFUSED(-EINVAL, "jump 0 ", jumps, njumps, {10, KI_MODULE_NOP, {true, 0}, 3});
	REFUSED(-EINVAL, "first state", jumps, njumps, {10, 0, {true, 0}, KERNEL});
	REFUSED(-EINVAL, "first state", jumps, njumps, {10, 3, {true, 0}, KERNEL});
	REFUSED(-EINVAL, "no static branch at +9", jumps, njumps,
		{9, KI_MODULE_NOP, {true, 0}, KERNEL});
	REFUSED(-ERANGE, "+10 is too far", jumps, njumps,
		{10, KI_MODULE_NOP, {false, KERNEL}, KERNEL});
	REFUSED(-EINVAL, "call 0 ", calls, ncalls, {30, 1});
	REFUSED(-EINVAL, "call 0 ", calls, ncalls, {LEN - 4, KERNEL});
	REFUSED(-EINVAL, "fault 0 ", faults, nfaults, {0, {true, LEN}, 0});
	REFUSED(-EINVAL, "fault 0 ", faults, nfaults, {LEN, {true, 0}, 0});
	REFUSED(-EINVAL, "fault 1 ", faults, nfaults, {4, {true, 0}, 0}, {4, {true, 0}, 0});
	REFUSED(-EINVAL, "bug 0 ", bugs, nbugs, {LEN - 1, 0, 0, 0});
}

static void test_code_refused(void **state)
{
	struct ki_module_code c = all;

	(void)state;
	c.row_size = 0;
	refused(&kernel, &c, -EINVAL, "0 bytes for a row");
	c.row_size = 9;
	refused(&kernel, &c, -EINVAL, "9 bytes for a row");
	c = all;
	c.len = 0;
	refused(&kernel, &c, -EINVAL, "0 bytes of code");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_names_refused),
		cmocka_unit_test(test_kernels_refused),
		cmocka_unit_test(test_rows_refused),
		cmocka_unit_test(test_code_refused),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
