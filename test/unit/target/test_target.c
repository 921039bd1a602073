/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Targets: symbols, ranges, reserved text, the hash of the text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "target/memory.h"

#define TEXT 0xffffffff81000000ull

static uint8_t text[8192];

static const struct ki_symbol symbols[] = {
	{.addr = TEXT + 96, .name = "c"},
	{.addr = TEXT, .name = "_stext"},
	{.addr = TEXT, .name = "a"},
	{.addr = TEXT + 32, .name = "b", .module = "m"},
	{.addr = TEXT + 4096, .name = "b"},
	{.addr = TEXT - 1, .name = "before"},
	{.addr = TEXT + 8192, .name = "behind"},
	{.addr = TEXT, .name = "third"},
	{.addr = TEXT + 96, .name = "c", .module = "m"},
};

static struct ki_target *open_memory(const struct ki_reserved_row *rows, size_t nrows)
{
	struct ki_memory m = {.kind = KI_TARGET_LIVE,
			      .base = TEXT,
			      .bytes = text,
			      .len = sizeof(text),
			      .symbols = symbols,
			      .nsymbols = 9,
			      .rows = rows,
			      .nrows = nrows};
	struct ki_target *t;

	assert_int_equal(ki_target_open_memory(&m, &t, NULL), 0);
	return t;
}

static void symbols_are_in_order(void **state)
{
	static const char *const names[] = {"_stext", "a", "third", "b", "c", "c", "b"};
	static const uint64_t sizes[] = {32, 32, 32, 64, 4000, 4000, 4096};
	struct ki_target *t = open_memory(NULL, 0);
	const struct ki_symbol *s;
	size_t n;

	(void)state;
	s = ki_target_symbols(t, &n);
	assert_int_equal(n, 7);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(s[i].name, names[i]);
		assert_int_equal(s[i].size, sizes[i]);
		assert_int_equal(s[i].alias, i == 1 || i == 2 || i == 5);
	}
	assert_string_equal(s[3].module, "m");
	assert_string_equal(s[6].module, "");
	assert_int_equal(ki_target_kind(t), KI_TARGET_LIVE);
	assert_int_equal(ki_target_fd(t), -1);
	assert_null(ki_target_info(t));
	ki_target_free(t);
	ki_target_free(NULL);
}

static void symbols_are_found(void **state)
{
	struct ki_target *t = open_memory(NULL, 0);
	const struct ki_symbol *s;
	size_t n;

	(void)state;
	s = ki_target_symbols(t, &n);
	assert_null(ki_target_symbol_at(t, 0));
	assert_null(ki_target_symbol_at(t, TEXT - 1));
	assert_ptr_equal(ki_target_symbol_at(t, TEXT), s);
	assert_ptr_equal(ki_target_symbol_at(t, TEXT + 31), s);
	assert_ptr_equal(ki_target_symbol_at(t, TEXT + 32), s + 3);
	assert_ptr_equal(ki_target_symbol_at(t, TEXT + 97), s + 4);
	assert_ptr_equal(ki_target_symbol_at(t, TEXT + 8191), s + 6);
	assert_null(ki_target_symbol_at(t, TEXT + 8192));
	assert_null(ki_target_symbol_at(t, UINT64_MAX));

	assert_ptr_equal(ki_target_symbol_named(t, NULL, "b", NULL), s + 3);
	assert_ptr_equal(ki_target_symbol_named(t, NULL, "b", s + 3), s + 6);
	assert_null(ki_target_symbol_named(t, NULL, "b", s + 6));
	assert_ptr_equal(ki_target_symbol_named(t, "", "b", NULL), s + 6);
	assert_ptr_equal(ki_target_symbol_named(t, "m", "c", NULL), s + 5);
	assert_null(ki_target_symbol_named(t, "n", "c", NULL));
	assert_null(ki_target_symbol_named(t, NULL, "before", NULL));
	assert_null(ki_target_symbol_named(t, NULL, "behind", NULL));
	assert_null(ki_target_symbol_named(t, NULL, "", NULL));
	ki_target_free(t);
}

static void reading_stays_inside(void **state)
{
	struct ki_target *t = open_memory(NULL, 0);
	struct ki_err err = {0};
	uint8_t buf[16];

	(void)state;
	text[0] = 0x11;
	text[8191] = 0x22;
	assert_int_equal(ki_target_read(t, TEXT, buf, 16, KI_VIEW_ORIG, NULL), 0);
	assert_int_equal(buf[0], 0x11);
	assert_int_equal(ki_target_read(t, TEXT + 8191, buf, 1, KI_VIEW_LIVE, NULL), 0);
	assert_int_equal(buf[0], 0x22);
	assert_int_equal(ki_target_read(t, TEXT + 8191, buf, 2, KI_VIEW_LIVE, &err), -EFAULT);
	assert_int_equal(err.reason, KI_R_NOT_TEXT);
	assert_int_equal(err.addr, TEXT + 8191);
	assert_int_equal(ki_target_read(t, TEXT - 1, buf, 2, KI_VIEW_LIVE, NULL), -EFAULT);
	assert_int_equal(ki_target_read(t, TEXT + 1, buf, SIZE_MAX, KI_VIEW_LIVE, NULL), -EFAULT);
	assert_int_equal(ki_target_read(t, TEXT, buf, 0, KI_VIEW_LIVE, NULL), 0);
	assert_int_equal(ki_target_read(t, TEXT, buf, 1, (enum ki_view)7, NULL), -EINVAL);
	ki_target_free(t);
}

/* What a search that looks at every row finds. */
static void check_rows(struct ki_target *t, const struct ki_reserved_row *rows, size_t n,
		       uint64_t start, uint64_t end)
{
	const struct ki_reserved_row *got;
	size_t count, want = 0, touching = 0;

	assert_int_equal(ki_target_reserved(t, start, end, &got, &count, NULL), 0);
	for (size_t i = 0; i < n; i++)
		want += rows[i].addr < end && rows[i].addr + rows[i].len > start;
	for (size_t i = 0; i < count; i++) {
		touching += got[i].addr < end && got[i].addr + got[i].len > start;
		assert_true(!i || got[i - 1].addr <= got[i].addr);
	}
	assert_int_equal(touching, want);
}

static void long_rows_are_found(void **state)
{
	struct ki_reserved_row rows[200];
	struct ki_target *t;
	uint32_t seed = 7;

	(void)state;
	for (size_t i = 0; i < 200; i++) {
		seed = seed * 1103515245 + 12345;
		rows[i] = (struct ki_reserved_row){TEXT + (seed >> 8) % 8000,
						   i % 20 ? seed >> 4 & 7 : seed >> 4 & 4095,
						   KI_R_NOINSTR, 0};
	}
	t = open_memory(rows, 200);
	for (uint64_t a = TEXT - 10; a < TEXT + 8300; a += 13)
		check_rows(t, rows, 200, a, a + 1 + a % 50);
	check_rows(t, rows, 200, 0, UINT64_MAX);
	check_rows(t, rows, 200, TEXT + 5000, TEXT + 5000);
	ki_target_free(t);
	t = open_memory(NULL, 0);
	check_rows(t, NULL, 0, 0, UINT64_MAX);
	ki_target_free(t);
}

static void hash_of(struct ki_target *t, char hash[KI_TEXT_HASH_LEN])
{
	assert_int_equal(ki_target_text_hash(t, hash, NULL), 0);
	assert_int_equal(strlen(hash), 32);
	assert_int_equal(strspn(hash, "0123456789abcdef"), 32);
}

static void hash_sees_what_matters(void **state)
{
	static const struct ki_reserved_row rows[] = {
		{TEXT + 200, 5, KI_R_JUMP_LABEL, TEXT}, {TEXT + 210, 1, KI_R_LOCK_PREFIX, 0},
		{TEXT + 220, 5, KI_R_STATIC_CALL, 0},	{TEXT + 230, 5, KI_R_FTRACE_SITE, 0},
		{TEXT + 240, 5, KI_R_BUG_SITE, 0},	{TEXT + 8190, 9, KI_R_JUMP_LABEL, 0},
	};
	static const uint8_t nop[] = {0x0f, 0x1f, 0x44, 0, 0}, endbr[] = {0xf3, 0x0f, 0x1e, 0xfa};
	static const uint8_t count[] = {0x65, 0x48, 0xc1, 0x3d, 1, 2, 3, 4, 5};
	/* Bytes whose change is not to be seen, and to be seen. */
	static const int hidden[] = {0, 4, 100, 104, 200, 204, 210, 220, 230, 8190, 8191};
	static const int seen[] = {5, 96, 105, 199, 205, 211, 240, 4096, 8189};
	struct ki_target *t = open_memory(rows, 6);
	char base[KI_TEXT_HASH_LEN], now[KI_TEXT_HASH_LEN];

	(void)state;
	memset(text, 0x90, sizeof(text));
	memcpy(text, nop, 5);
	memcpy(text + 96, endbr, 4);
	memcpy(text + 100, nop, 5);
	hash_of(t, base);
	text[0] = text[100] = 0xe8;
	for (size_t i = 0; i < sizeof(hidden) / sizeof(*hidden); i++) {
		text[hidden[i]] ^= hidden[i] % 100 ? 0x55 : 0;
		hash_of(t, now);
		assert_string_equal(base, now);
	}
	for (size_t i = 0; i < sizeof(seen) / sizeof(*seen); i++) {
		text[seen[i]] ^= 0x55;
		hash_of(t, now);
		assert_string_not_equal(base, now);
		text[seen[i]] ^= 0x55;
	}
	for (size_t i = 0; i < 2; i++) { /* what counts calls, before a function and elsewhere */
		size_t place = i ? 80 : 96 - sizeof(count);

		memcpy(text + place, count, sizeof(count));
		hash_of(t, now);
		assert_int_equal(strcmp(base, now) != 0, i);
		memset(text + place, 0x90, sizeof(count));
	}
	ki_target_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(symbols_are_in_order),	  cmocka_unit_test(symbols_are_found),
		cmocka_unit_test(reading_stays_inside),	  cmocka_unit_test(long_rows_are_found),
		cmocka_unit_test(hash_sees_what_matters),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
