// SPDX-License-Identifier: GPL-2.0-only
/*
 * The tables of a kernel, read from an image: what they say is what a module of ours would be told
 * (lib/module/tables.c). Rows stand in another order than their addresses.
 */
#include <string.h>

#include "common_elf.h"
#include "module/tables.h"

#define TEXT 0xffffffff81000000ull
#define DATA 0xffffffff82000000ull

static uint8_t text[256], data[256];

/* The word of 4 bytes at data + at says where `to` is. */
static void lead(size_t at, uint64_t to)
{
	const int32_t far = (int32_t)(to - (DATA + at));

	memcpy(data + at, &far, sizeof(far));
}

static void put(size_t at, uint64_t value, size_t size)
{
	memcpy(data + at, &value, size);
}

static void mark(struct elf_file *f, const char *name, uint64_t at)
{
	elf_symbol(f, name, STT_NOTYPE, SHN_ABS, DATA + at);
}

static void make(struct elf_file *f)
{
	memset(text, 0x90, sizeof(text));
	memset(data, 0, sizeof(data));
	lead(0, TEXT + 40); /* static branches: key, and in its low bits what it does */
	lead(4, TEXT + 90);
	put(8, DATA + 0x1000 - (DATA + 8) + 1, 8);
	lead(16, TEXT + 4);
	lead(20, TEXT + 80);
	put(24, DATA + 0x2000 - (DATA + 24) + 2, 8);
	lead(32, TEXT + 60); /* static calls */
	lead(36, DATA + 0x3001);
	lead(40, TEXT + 20);
	lead(44, DATA + 0x4000);
	lead(48, TEXT + 10); /* what may fault */
	lead(52, TEXT + 99);
	put(56, 0x12345, 4);
	lead(60, TEXT + 7); /* a BUG */
	lead(64, DATA + 200);
	put(68, 321, 2);
	put(70, 0x901, 2);
	elf_start(f, ET_EXEC);
	elf_section(f, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, text, sizeof(text));
	elf_section(f, ".rodata", SHT_PROGBITS, SHF_ALLOC, DATA, data, sizeof(data));
	elf_symbol(f, "f", STT_FUNC, 1, TEXT);
	mark(f, "__start___jump_table", 0);
	mark(f, "__stop___jump_table", 32);
	mark(f, "__start_static_call_sites", 32);
	mark(f, "__stop_static_call_sites", 48);
	mark(f, "__start___ex_table", 48);
	mark(f, "__stop___ex_table", 60);
	mark(f, "__start___bug_table", 60);
	mark(f, "__stop___bug_table", 72);
}

static void what_they_say(void **state)
{
	struct ki_module_tables x;
	struct ki_target *t;
	struct ki_err err = {0};
	struct elf_file f;

	(void)state;
	make(&f);
	if (open_elf(&f, NULL, &t, &err))
		fail_msg("%s", err.msg);
	if (ki_module_tables_read(t, "", &x, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(x.jumps.n, 2);
	assert_int_equal(x.calls.n, 2);
	assert_true(ki_module_jump_at(&x, TEXT + 40)->key == (DATA + 0x1000) + 1);
	assert_true(ki_module_jump_at(&x, TEXT + 4)->key == (DATA + 0x2000) + 2);
	assert_null(ki_module_jump_at(&x, TEXT + 5));
	assert_true(ki_module_call_at(&x, TEXT + 60)->key == DATA + 0x3001);
	assert_true(ki_module_call_at(&x, TEXT + 20)->key == DATA + 0x4000);
	assert_null(ki_module_call_at(&x, TEXT + 40));
	assert_true(ki_module_fault_at(&x, TEXT + 10)->fixup == TEXT + 99);
	assert_int_equal(ki_module_fault_at(&x, TEXT + 10)->data, 0x12345);
	assert_true(ki_module_bug_at(&x, TEXT + 7)->file == DATA + 200);
	assert_int_equal(ki_module_bug_at(&x, TEXT + 7)->line, 321);
	assert_int_equal(ki_module_bug_at(&x, TEXT + 7)->flags, 0x901);
	ki_module_tables_free(&x);
	ki_target_free(t);
}

/* Tables that are not in the file, or that there are none of. */
static void none_and_lies(void **state)
{
	struct ki_module_tables x;
	struct ki_target *t;
	struct ki_err err = {0};
	struct elf_file f;

	(void)state;
	elf_start(&f, ET_EXEC);
	elf_section(&f, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, text, sizeof(text));
	elf_symbol(&f, "f", STT_FUNC, 1, TEXT);
	assert_int_equal(open_elf(&f, NULL, &t, &err), 0);
	assert_int_equal(ki_module_tables_read(t, "", &x, &err), 0);
	assert_int_equal(x.jumps.n + x.calls.n + x.faults.n + x.bugs.n, 0);
	assert_null(ki_module_bug_at(&x, TEXT));
	ki_module_tables_free(&x);
	ki_target_free(t);
	make(&f);
	elf_start(&f, ET_EXEC);
	elf_section(&f, ".text", SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, TEXT, text, sizeof(text));
	elf_symbol(&f, "f", STT_FUNC, 1, TEXT);
	mark(&f, "__start___jump_table", 0);
	mark(&f, "__stop___jump_table", 32);
	assert_int_equal(open_elf(&f, NULL, &t, &err), 0);
	assert_int_equal(ki_module_tables_read(t, "", &x, &err), -EFAULT);
	assert_int_equal(err.code, -EFAULT);
	ki_module_tables_free(&x);
	ki_target_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(what_they_say),
		cmocka_unit_test(none_and_lies),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
