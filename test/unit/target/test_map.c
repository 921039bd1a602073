/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * System.maps of images, and the reserved text that an image's tables tell.
 *
 * promise: K4: A System.map takes the place of the kernel's own symbols.
 */
#include "common_elf.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TEXT 0xffffffff81000000ull
#define INIT 0xffffffff83000000ull
#define DATA 0xffffffff82000000ull
#define EXEC (SHF_ALLOC | SHF_EXECINSTR)

static uint8_t text[256], init[32], data[256];

/* A stripped kernel: code, init code, read-only data, zeros. */
static void kernel(struct elf_file *f)
{
	memset(text, 0x90, sizeof(text));
	memset(data, 0, sizeof(data));
	elf_start(f, ET_EXEC);
	elf_section(f, ".text", SHT_PROGBITS, EXEC, TEXT, text, sizeof(text));
	elf_section(f, ".init.text", SHT_PROGBITS, EXEC, INIT, init, sizeof(init));
	elf_section(f, ".rodata", SHT_PROGBITS, SHF_ALLOC, DATA, data, sizeof(data));
	elf_section(f, ".bss", SHT_NOBITS, SHF_ALLOC, DATA + 0x1000, NULL, 1ull << 28);
}

static const char good[] = "0000000000000000 A __per_cpu_start\n"
			   "ffffffff81000000 T _stext\n"
			   "ffffffff81000000 T startup\n"
			   "ffffffff81000010 t a\n"
			   "ffffffff81000020 W weak\n"
			   "ffffffff81000030 w weak2\n"
			   "ffffffff81000040 D data_in_text\n"
			   "ffffffff81000050 ? strange\n"
			   "ffffffff81000060 T __noinstr_text_start\n"
			   "ffffffff81000080 T __noinstr_text_end\n"
			   "ffffffff81000100 T _etext\n"
			   "ffffffff82000000 T text_type_in_data\n"
			   "ffffffff83000000 T start_kernel\n"
			   "ffffffff83000020 T behind\n";

static void map_is_read(void **state)
{
	static const char *const names[] = {"_stext",
					    "startup",
					    "a",
					    "weak",
					    "weak2",
					    "__noinstr_text_start",
					    "__noinstr_text_end",
					    "start_kernel"};
	const struct ki_symbol *s;
	struct ki_target *t;
	struct ki_err err;
	struct elf_file f;
	uint8_t buf[4096];
	size_t n;

	(void)state;
	kernel(&f);
	if (open_elf(&f, good, &t, &err))
		fail_msg("%s", err.msg);
	s = ki_target_symbols(t, &n);
	assert_int_equal(n, 8);
	for (size_t i = 0; i < n; i++) {
		assert_string_equal(s[i].name, names[i]);
		assert_string_equal(s[i].module, "");
	}
	assert_int_equal(s[0].size, 0x10);
	assert_int_equal(s[6].size, 0x80);
	assert_int_equal(s[7].addr, INIT);
	assert_int_equal(ki_target_read_data(t, DATA + 0x1000 + (1ull << 27), buf, 4096, NULL), 0);
	assert_int_equal(buf[0] | buf[4095], 0);
	assert_int_equal(ki_target_read_data(t, DATA + 0xff, buf, 2, NULL), -EFAULT);
	assert_int_equal(ki_target_read_data(t, UINT64_MAX, buf, 2, NULL), -EFAULT);
	assert_int_equal(ki_target_read_data(t, TEXT + 2, buf, 1, NULL), 0);
	assert_int_equal(buf[0], 0x90);
	ki_target_free(t);
}

static void refuse(const char *map, int code, const char *why)
{
	struct ki_target *t = NULL;
	struct ki_err err;
	struct elf_file f;

	kernel(&f);
	assert_int_equal(open_elf(&f, map, &t, &err), code);
	assert_int_equal(err.code, code);
	if (!strstr(err.msg, why))
		fail_msg("'%s' is not in: %s", why, err.msg);
	assert_null(strchr(err.msg, '\n'));
	assert_null(t);
}

static void bad_maps(void **state)
{
	char *big = malloc(5000);

	(void)state;
	assert_non_null(big);
	refuse("", -EINVAL, ":1: the file is empty");
	refuse("ffffffff81000000 T a", -EINVAL, ":1: the file ends within a line");
	refuse("ffffffffffffffff B The real System.map is in another package\n", -EINVAL,
	       ":1: not");
	refuse("ffffffff81000000 T a\n\n", -EINVAL, ":2: not an address");
	refuse("ffffffff81000000 T a\n81000000T b\n", -EINVAL, ":2: not an address");
	refuse("ffffffff81000000 T a\nffffffff81000000 T \n", -EINVAL, ":2: not an address");
	refuse("ffffffff81000000 T a\nffffffff81000000 7 b\n", -EINVAL, ":2: not an address");
	refuse("fffffffff81000000 T a\n", -EINVAL, ":1: not an address");
	refuse("                 U undefined\n", -EINVAL, ":1: not an address");
	refuse("ffffffffc0001000 t one\t[m1]\n", -EINVAL, ":1: not an address");
	refuse("ffffffff81000000 T \x7f\x45\x4c\n", -EINVAL, ":1: not an address");
	refuse("\x7f\x45LF\n", -EINVAL, ":1: not an address");
	refuse("ffffffff81000010 T a\nffffffff8100000f T b\n", -EINVAL, ":2: an address below");
	refuse("0000000000001000 T a\n", -EINVAL, "no symbol of it lies in the code");
	refuse("ffffffff81000000 D a\n", -EINVAL, "no symbol of it lies in the code");
	refuse("ffffffff81000000 T _stext\nffffffff810000ff T _etext\n", -EINVAL, "ends elsewhere");
	refuse("ffffffff81000000 T _stext\nffffffff81001100 T _etext\n", -EINVAL, "ends elsewhere");
	refuse("ffffffff80000000 T _stext\nffffffff81000100 T _etext\n", -EINVAL, "ends elsewhere");
	memset(big, 'x', 5000);
	memcpy(big, "ffffffff81000000 T ", 19);
	strcpy(big + 4990, "\n");
	refuse(big, -EINVAL, ":1: a name that no kernel has");
	free(big);
}

static void maps_that_are_no_files(void **state)
{
	struct ki_err err = {0};
	struct ki_target *t;
	struct elf_file f;
	char path[64];
	int fd = file_of_bytes("", 0, path);

	(void)state;
	assert_int_equal(ki_target_new_with_map("/proc/self/exe", "/nonexistent", &t, &err),
			 -ENOENT);
	assert_int_equal(ki_target_new_with_map("/proc/self/exe", "/dev/null", &t, NULL), -EINVAL);
	assert_int_equal(ki_target_new_with_map("/proc/self/exe", "/", &t, NULL), -EINVAL);
	assert_int_equal(ftruncate(fd, (64 << 20) + 1), 0);
	ki_err_clear(&err);
	assert_int_equal(ki_target_new_with_map("/proc/self/exe", path, &t, &err), -EFBIG);
	assert_int_equal(ftruncate(fd, 1 << 20), 0);
	ki_err_clear(&err);
	assert_int_equal(ki_target_new_with_map("/proc/self/exe", path, &t, &err), -EINVAL);
	close(fd);
	kernel(&f);
	f.type = ET_REL;
	assert_int_equal(open_elf(&f, good, &t, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "relocatable"));
}

/* What lies at `at` of data leads to addr. */
static void lead(size_t at, uint64_t addr)
{
	int32_t off = (int32_t)(addr - (DATA + at));

	memcpy(data + at, &off, 4);
}

static void add_lines(char *map, const char *name, unsigned int from, unsigned int to)
{
	char line[160];

	snprintf(line, sizeof(line),
		 "ffffffff8200%04x D __start_%s\nffffffff8200%04x D __stop_%s\n", from, name, to,
		 name);
	strcat(map, line);
}

static void check_row(const struct ki_reserved_row *row, uint64_t addr, uint32_t len,
		      uint32_t reason, uint64_t target)
{
	assert_int_equal(row->addr, addr);
	assert_int_equal(row->reason, reason);
	assert_int_equal(row->len, len);
	assert_int_equal(row->target, target);
}

static void tables_of_a_kernel(void **state)
{
	const uint64_t weak = TEXT + 0x20;
	const struct ki_reserved_row *row;
	struct ki_target *t;
	struct ki_err err;
	struct elf_file f;
	char map[4096] = "";
	size_t n;

	(void)state;
	kernel(&f);
	lead(0, TEXT + 1); /* exception table: one entry, */
	lead(4, TEXT + 0x90);
	lead(12, DATA);	    /* one that is not in the code, */
	lead(24, TEXT + 2); /* and one with a fixup that is not */
	lead(28, DATA);
	lead(36, TEXT + 4); /* static branches: 2 bytes, 5 bytes */
	lead(40, TEXT + 0x91);
	lead(52, TEXT + 0xfe);
	lead(56, TEXT + 0x92);
	memcpy(text + 4, "\x66\x90", 2);
	lead(68, TEXT + 0x18); /* a static call */
	memcpy(data + 80, &weak, 8);
	strcat(map, "ffffffff81000000 T _stext\n"
		    "ffffffff81000020 T weak\n"
		    "ffffffff81000028 T notify_die\n"
		    "ffffffff81000030 T next\n"
		    "ffffffff81000060 T __noinstr_text_start\n"
		    "ffffffff81000080 T __noinstr_text_end\n"
		    "ffffffff810000c0 T __entry_text_start\n"
		    "ffffffff810000c0 T __entry_text_end\n"
		    "ffffffff81000100 T _etext\n");
	add_lines(map, "__ex_table", 0, 36);
	add_lines(map, "__jump_table", 36, 68);
	add_lines(map, "static_call_sites", 68, 76);
	add_lines(map, "kprobe_blacklist", 80, 88);
	if (open_elf(&f, map, &t, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(ki_target_reserved(t, 0, UINT64_MAX, &row, &n, &err), 0);
	assert_int_equal(n, 9);
	check_row(&row[0], TEXT + 1, 1, KI_R_EXTABLE, TEXT + 0x90);
	check_row(&row[1], TEXT + 2, 1, KI_R_EXTABLE, 0);
	check_row(&row[2], TEXT + 4, 2, KI_R_JUMP_LABEL, TEXT + 0x91);
	check_row(&row[3], TEXT + 0x18, 5, KI_R_STATIC_CALL, 0);
	check_row(&row[4], TEXT + 0x20, 8, KI_R_KPROBES_BLACKLIST, 0);
	check_row(&row[5], TEXT + 0x28, 8, KI_R_TRAP_PATH, 0);
	check_row(&row[6], TEXT + 0x60, 0x20, KI_R_NOINSTR, 0);
	check_row(&row[7], TEXT + 0xfe, 2, KI_R_JUMP_LABEL, TEXT + 0x92);
	check_row(&row[8], INIT, 32, KI_R_INIT_TEXT, 0);
	ki_target_free(t);
}

/* Three sites, in entries of each size that kernels have. */
static void bug_entries_of_any_size(void **state)
{
	static const size_t sizes[] = {8, 12, 16};
	const struct ki_reserved_row *row;
	struct ki_target *t;
	struct elf_file f;
	size_t n;

	(void)state;
	for (int k = 0; k < 3; k++) {
		kernel(&f);
		for (size_t i = 0; i < 3; i++) {
			memcpy(text + 16 * i, "\x0f\x0b", 2);
			lead(i * sizes[k], TEXT + 16 * i);
			data[i * sizes[k] + 5] = 77;
		}
		elf_section(&f, "__bug_table", SHT_PROGBITS, SHF_ALLOC, DATA, data, 3 * sizes[k]);
		elf_symbol(&f, "f", STT_FUNC, 3, TEXT);
		f.sh[5].sh_flags = 0; /* .rodata makes room */
		assert_int_equal(open_elf(&f, NULL, &t, NULL), 0);
		assert_int_equal(ki_target_reserved(t, 0, TEXT + 256, &row, &n, NULL), 0);
		assert_int_equal(n, 3);
		for (size_t i = 0; i < 3; i++)
			check_row(&row[i], TEXT + 16 * i, 2, KI_R_BUG_SITE, 0);
		ki_target_free(t);
	}
}

/* Tables that are not where their symbols say. */
static void tables_that_lie(void **state)
{
	static const char *const lies[][2] = {
		{"ffffffff82000060", "ffffffff82000000"}, {"ffffffff82000000", "ffffffff82000101"},
		{"ffffffff82001000", "ffffffff82002000"}, {"0000000000000000", "ffffffffffffffff"},
		{"ffffffff82000000", "ffffffff82000000"}, {"ffffffff820000ff", "ffffffff820000ff"},
	};
	static const char *const tables[] = {"__ex_table", "__bug_table", "__jump_table",
					     "static_call_sites", "kprobe_blacklist"};
	const struct ki_reserved_row *row;
	struct ki_target *t;
	struct ki_err err;
	struct elf_file f;
	size_t n;

	(void)state;
	for (size_t i = 0; i < 6 * 5; i++) {
		kernel(&f);
		for (size_t k = 0; k < 2; k++) {
			char name[64];
			uint64_t addr = strtoull(lies[i % 6][k], NULL, 16);

			snprintf(name, sizeof(name), "__%s_%s", k ? "stop" : "start",
				 tables[i / 6]);
			elf_symbol(&f, name, STT_NOTYPE, SHN_ABS, addr);
		}
		elf_symbol(&f, "f", STT_FUNC, 3, TEXT);
		if (open_elf(&f, NULL, &t, &err))
			fail_msg("%s", err.msg);
		assert_int_equal(ki_target_reserved(t, 0, TEXT + 256, &row, &n, NULL), 0);
		assert_int_equal(n, 0);
		ki_target_free(t);
	}
}

/* The object that the fuzzer starts from has one entry in each table: test/fuzz/seed.S. */
static void tables_of_an_object(void **state)
{
	static const struct {
		uint32_t reason, len;
		bool target;
	} want[] = {
		{KI_R_EXTABLE, 1, true},
		{KI_R_JUMP_LABEL, 5, true},
		{KI_R_STATIC_CALL, 5, false},
		{KI_R_BUG_SITE, 2, false},
		{KI_R_KPROBES_BLACKLIST, 26, false},
		{KI_R_INIT_TEXT, 10, false},
		{KI_R_NOINSTR, 1, false},
	};
	const struct ki_reserved_row *row;
	struct ki_target *t;
	size_t n;

	(void)state;
	assert_int_equal(ki_target_new_image("test/fuzz/corpus/image/object", &t, NULL), 0);
	assert_int_equal(ki_target_reserved(t, 0, UINT64_MAX, &row, &n, NULL), 0);
	assert_int_equal(n, 7);
	for (size_t i = 0; i < n; i++) {
		assert_int_equal(row[i].reason, want[i].reason);
		assert_int_equal(row[i].len, want[i].len);
		assert_int_equal(row[i].target != 0, want[i].target);
	}
	ki_target_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(map_is_read),
		cmocka_unit_test(bad_maps),
		cmocka_unit_test(maps_that_are_no_files),
		cmocka_unit_test(tables_of_a_kernel),
		cmocka_unit_test(bug_entries_of_any_size),
		cmocka_unit_test(tables_that_lie),
		cmocka_unit_test(tables_of_an_object),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
