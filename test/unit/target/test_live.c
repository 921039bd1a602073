/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The live kernel after a driver of our own, and kallsyms.
 *
 * promise: K4: Symbols of the kernel, its modules and aliases are known, and modules that come
 *   or go are seen. [test_live_more.c, image_host.sh]
 */
#include "kerninst/steps.h"
#include "common_live.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "target/kallsyms.h"

static void kallsyms_is_read(void **state)
{
	static const char content[] = "0000000000001000 A percpu\n"
				      "ffffffff81000000 T _stext\n"
				      "ffffffff81000010 t a\n"
				      "ffffffff81000020 D data\n"
				      "garbage\n"
				      "\n"
				      "ffffffff81000030\n"
				      "ffffffff81000030 T\n"
				      "ffffffff81000030 T \n"
				      "0000000000000000 t zero\n"
				      "ffffffff81000040 W weak\n"
				      "ffffffffc0201000 t one\t[m1]\n"
				      "ffffffffc0301000 t two\t[m2]\n"
				      "ffffffffc0201080 T three\t[m1]\n"
				      "ffffffffc0200000 b bss\t[m1]\n"
				      "ffffffffc0900000 w weak\t[m1]\n"
				      "ffffffffc0401000 t bpf_prog_1\t[bpf]\n"
				      "ffffffffc0501000 t tramp\t[__builtin__ftrace]\n"
				      "ffffffffc0601000 t last\t[m10]";
	char *path = file_of(content, sizeof(content) - 1);
	struct ki_kallsyms k = {0};

	(void)state;
	assert_int_equal(ki_kallsyms_read(path, &k, NULL), 0);
	assert_true(k.addresses);
	assert_int_equal(k.list.raw.n, 8);
	assert_int_equal(k.modules.n, 3);
	assert_string_equal(k.list.strings.v + k.modules.v[0].name, "m1");
	assert_int_equal(k.modules.v[0].low, 0xffffffffc0201000);
	assert_int_equal(k.modules.v[0].high, 0xffffffffc0201080);
	assert_string_equal(k.list.strings.v + k.modules.v[2].name, "m10");
	assert_string_equal(k.list.strings.v + k.list.raw.v[7].name, "last");
	ki_kallsyms_free(&k);
	drop(path);
}

/* m1's init function, whose memory is m2's by now. */
static void symbols_outside_their_module(void **state)
{
	static const char places[] = "m1 8192 0 - Live 0xffffffffc0201000 (OE)\n"
				     "m2 4096 1 m1, Live 0xffffffffc0301000\n"
				     "nonsense\n"
				     "hidden 4096 0 - Live 0x0000000000000000\n";
	static const char content[] = "ffffffffc0201000 t one\t[m1]\n"
				      "ffffffffc0301000 T init\t[m1]\n"
				      "ffffffffc0301000 t two\t[m2]\n"
				      "ffffffffc0203000 t behind\t[m1]\n"
				      "ffffffffc0202fff t last\t[m1]\n";
	char *modules = file_of(places, sizeof(places) - 1);
	char *path = file_of(content, sizeof(content) - 1);
	struct ki_kallsyms k = {0};

	(void)state;
	assert_int_equal(ki_kallsyms_modules("/nonexistent/modules", &k), 0);
	assert_int_equal(k.modules.n, 0);
	assert_int_equal(ki_kallsyms_modules(modules, &k), 0);
	assert_int_equal(ki_kallsyms_read(path, &k, NULL), 0);
	assert_int_equal(k.modules.n, 2);
	assert_int_equal(k.list.raw.n, 3);
	assert_int_equal(k.modules.v[0].low, 0xffffffffc0201000);
	assert_int_equal(k.modules.v[0].high, 0xffffffffc0202fff);
	assert_string_equal(k.list.strings.v + k.list.raw.v[1].name, "two");
	ki_kallsyms_free(&k);
	drop(modules);
	drop(path);
}

static void kallsyms_in_bad_shape(void **state)
{
	size_t len = 3u << 20;
	char *big = malloc(len), *path;
	struct ki_kallsyms k = {0};
	struct ki_err err = {0};

	(void)state;
	assert_non_null(big);
	memset(big, 'f', len);
	path = file_of(big, len);
	assert_int_equal(ki_kallsyms_read(path, &k, &err), -EINVAL);
	assert_int_equal(err.code, -EINVAL);
	ki_kallsyms_free(&k);
	drop(path);
	for (size_t i = 0; i < len; i++)
		big[i] = "0123456789abcdef tTwW\t[]\n"[(i * 7919u + i / 3) % 25];
	path = file_of(big, len);
	assert_int_equal(ki_kallsyms_read(path, &k, NULL), 0);
	ki_kallsyms_free(&k);
	drop(path);
	path = file_of("", 0);
	assert_int_equal(ki_kallsyms_read(path, &k, NULL), 0);
	assert_false(k.addresses);
	ki_kallsyms_free(&k);
	drop(path);
	assert_int_equal(ki_kallsyms_read("/nonexistent", &k, NULL), -ENOENT);
	ki_kallsyms_free(&k);
	free(big);
}

static void live_kernel(void **state)
{
	const struct ki_text_range *r;
	const struct ki_symbol *s;
	struct ki_target *t;
	struct ki_err err;
	uint8_t buf[64];
	size_t n;

	(void)state;
	reset_driver();
	assert_int_equal(open_live(live_symbols, &t, &err), 0);
	assert_int_equal(ki_target_kind(t), KI_TARGET_LIVE);
	assert_true(ki_target_fd(t) >= 0);
	assert_int_equal(ki_target_info(t)->text_end, driver.text_end);
	r = ki_target_ranges(t, &n);
	assert_int_equal(n, 2);
	assert_int_equal(r[0].start, TEXT);
	assert_string_equal(r[0].module, "");
	assert_int_equal(r[1].start, MOD);
	assert_int_equal(r[1].end, MOD + 0x3000);
	assert_string_equal(r[1].module, "m1");
	s = ki_target_symbols(t, &n);
	assert_int_equal(n, 4);
	assert_string_equal(s[2].name, "two");
	assert_int_equal(s[2].size, 0x40);
	assert_int_equal(s[3].size, 0x3000 - 0x40);
	assert_string_equal(s[3].module, "m1");
	assert_int_equal(ki_target_read(t, MOD + 5, buf, 64, KI_VIEW_ORIG, NULL), 0);
	assert_int_equal(buf[1], (uint8_t)((MOD + 6) * 31 + KI_VIEW_ORIG));
	driver.module_end = MOD;
	assert_int_equal(ki_target_read(t, MOD + 5, buf, 64, KI_VIEW_ORIG, &err), -EFAULT);
	assert_int_equal(err.reason, KI_R_NOT_TEXT);
	ki_target_free(t);
}

static void end_of_a_module(void **state)
{
	static const uint64_t ends[] = {0x41, 0x50, 0x1000, 0x1001, 0x2000, 0x5000, 0x100000};
	const struct ki_text_range *r;
	struct ki_target *t;
	struct ki_err err;
	size_t n;

	(void)state;
	for (int i = 0; i < 7; i++) {
		reset_driver();
		driver.module_end = MOD + ends[i];
		assert_int_equal(open_live(live_symbols, &t, &err), 0);
		r = ki_target_ranges(t, &n);
		assert_int_equal(n, 2);
		assert_int_equal(r[1].end - MOD, ends[i]);
		ki_target_free(t);
	}
}

static void reserved_text_is_read_once(void **state)
{
	const struct ki_reserved_row *rows;
	struct ki_target *t;
	struct ki_err err;
	size_t n;

	(void)state;
	reset_driver();
	driver.rows = 100000;
	driver.rows_grow = 1;
	assert_int_equal(open_live(live_symbols, &t, &err), 0);
	assert_int_equal(driver.reserved_calls, 0);
	assert_int_equal(ki_target_reserved(t, TEXT + 70000, TEXT + 70003, &rows, &n, &err), 0);
	assert_int_equal(n, 3);
	assert_int_equal(rows[0].addr, TEXT + 70000);
	assert_int_equal(ki_target_reserved(t, 0, UINT64_MAX, &rows, &n, &err), 0);
	assert_int_equal(n, driver.rows);
	assert_int_equal(driver.reserved_calls, 2);
	ki_target_free(t);

	reset_driver();
	driver.rows = KI_RESERVED_MAX + 1;
	assert_int_equal(open_live(live_symbols, &t, &err), 0);
	assert_int_equal(ki_target_reserved(t, 0, 1, &rows, &n, &err), -ENOSPC);
	ki_target_free(t);
}

static void text_hash_of_the_live_kernel(void **state)
{
	char a[KI_TEXT_HASH_LEN], b[KI_TEXT_HASH_LEN];
	struct ki_target *t;
	struct ki_err err;

	(void)state;
	reset_driver();
	assert_int_equal(open_live(live_symbols, &t, &err), 0);
	assert_int_equal(ki_target_text_hash(t, a, &err), 0);
	driver.changed = MOD + 0x21;
	assert_int_equal(ki_target_text_hash(t, b, &err), 0);
	assert_string_not_equal(a, b);
	driver.changed = 0;
	assert_int_equal(ki_target_text_hash(t, b, &err), 0);
	assert_string_equal(a, b);
	driver.module_end = MOD; /* it has gone */
	assert_int_equal(ki_target_text_hash(t, b, &err), 0);
	assert_string_not_equal(a, b);
	driver.read_error = -EIO;
	assert_int_equal(ki_target_text_hash(t, b, &err), -EIO);
	assert_int_equal(err.code, -EIO);
	ki_target_free(t);
}

static void text_that_was_kept(void **state)
{
	char *path = file_of("", 0), *other = file_of("kerninst text 1\n", 16);
	struct ki_text_change c;
	size_t count;
	struct ki_target *t;
	struct ki_err err = {0};

	(void)state;
	reset_driver();
	ki_steps_start();
	assert_int_equal(open_live(live_symbols, &t, &err), 0);
	ki_target_symbols(t, &count);
	assert_int_equal(ki_steps_told(KI_STEP_SYMBOLS).count, count);
	assert_int_equal(ki_target_text_keep(t, path, KI_VIEW_LIVE, &err), 0);
	assert_int_equal(ki_target_text_compare(t, path, &c, &err), 0);
	assert_int_equal(c.differing, 0);
	assert_int_equal(c.gone, 0);
	assert_int_equal(c.compared, driver.text_end - TEXT + 0x3000);
	driver.changed = TEXT + 0x21;
	assert_int_equal(ki_target_text_compare(t, path, &c, &err), 0);
	assert_int_equal(c.differing, 1);
	assert_int_equal(c.addr, TEXT + 0x21);
	assert_int_equal(c.was[0] ^ c.is[0], 0xff);
	driver.changed = MOD + 0x21;
	assert_int_equal(ki_target_text_compare(t, path, &c, &err), 0);
	assert_int_equal(c.addr, MOD + 0x21);
	driver.module_end = MOD;
	assert_int_equal(ki_target_text_compare(t, path, &c, &err), 0);
	assert_int_equal(c.differing, 0);
	assert_int_equal(c.gone, 1);
	assert_int_equal(truncate(path, 100), 0);
	assert_int_equal(ki_target_text_compare(t, path, &c, &err), -EINVAL);
	assert_int_equal(ki_target_text_compare(t, other, &c, NULL), -EINVAL);
	assert_int_equal(ki_target_text_compare(t, "/nonexistent", &c, NULL), -ENOENT);
	assert_int_equal(ki_target_text_keep(t, "/nonexistent/file", KI_VIEW_LIVE, NULL), -ENOENT);
	ki_target_free(t);
	drop(path);
	drop(other);
}

static void check_refusal(const char *symbols_text, int code, unsigned int reason)
{
	struct ki_target *t = NULL;
	struct ki_err err;

	assert_int_equal(open_live(symbols_text, &t, &err), code);
	assert_int_equal(err.code, code);
	assert_int_equal(err.reason, reason);
	assert_true(strlen(err.msg) > 5);
	assert_null(t);
}

static void live_kernel_out_of_reach(void **state)
{
	const struct ki_live_env none = {"/dev/ki-none", "/proc/kallsyms", NULL, "/nonexistent",
					 NULL,		 driver_ioctl};
	const struct ki_live_env dir = {"/dev", "/proc/kallsyms", NULL, "/nonexistent",
					NULL,	driver_ioctl};
	struct ki_err err = {0};
	struct ki_target *t;

	(void)state;
	assert_int_equal(ki_live_open(&none, &t, &err), -ENODEV);
	assert_int_equal(err.reason, KI_R_NO_DEVICE);
	assert_int_equal(ki_live_open(&dir, &t, NULL), -EISDIR);
	reset_driver();
	driver.info_error = -EPROTO;
	check_refusal(live_symbols, -EPROTO, KI_R_ABI_MISMATCH);
	driver.info_error = -ENOTTY;
	check_refusal(live_symbols, -ENODEV, KI_R_NO_DEVICE);
	driver.info_error = -EPERM;
	check_refusal(live_symbols, -EPERM, KI_R_NO_PERMISSION);
	driver.info_error = -EIO;
	check_refusal(live_symbols, -EIO, KI_R_OK);
	driver.info_error = 0;
	driver.abi = KI_ABI_VERSION + 1;
	check_refusal(live_symbols, -EPROTO, KI_R_ABI_MISMATCH);
	reset_driver();
	check_refusal("0000000000000000 T a\n0000000000000000 t b\n", -EACCES, KI_R_NO_SYMBOLS);
	check_refusal("", -EACCES, KI_R_NO_SYMBOLS);
	check_refusal("0000000000001000 T elsewhere\n", -EACCES, KI_R_NO_SYMBOLS);
	driver.text_end = TEXT;
	check_refusal(live_symbols, -EPROTO, KI_R_OK);
}

static void this_machine(void **state)
{
	struct ki_target *t;
	struct ki_err err = {0};

	(void)state;
	if (access(KI_DEVICE, F_OK) == 0)
		skip();
	assert_int_equal(ki_target_new_live(&t, &err), -ENODEV);
	assert_int_equal(err.reason, KI_R_NO_DEVICE);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(kallsyms_is_read),
		cmocka_unit_test(kallsyms_in_bad_shape),
		cmocka_unit_test(symbols_outside_their_module),
		cmocka_unit_test(live_kernel),
		cmocka_unit_test(end_of_a_module),
		cmocka_unit_test(reserved_text_is_read_once),
		cmocka_unit_test(text_hash_of_the_live_kernel),
		cmocka_unit_test(text_that_was_kept),
		cmocka_unit_test(live_kernel_out_of_reach),
		cmocka_unit_test(this_machine),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
