// SPDX-License-Identifier: GPL-2.0-only
/*
 * Code as a kernel module (lib/module): the file is loaded here as the kernel does it, to addresses
 * of a kernel, and what its tables say then is what was asked for. Static branches and calls are in
 * the state that the kernel wants, whatever state they were copied in.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "module/sleepers.h"
#include "module_fixture.h"

#define BASE 0xffffffffc0400000ull /* of the sections: each a page after the other */
#define PAGE 4096u

static struct ki_err err;

/* ---- the kernel's part ---- */

static struct loaded {
	uint8_t *file;
	size_t size;
	Elf64_Shdr *sh;
	unsigned int n;
	uint8_t bytes[32][PAGE]; /* of section i, which is at address(i) */
} mod;

static uint64_t address(unsigned int i)
{
	return BASE + (uint64_t)i * PAGE;
}

static const char *section_name(unsigned int i)
{
	const Elf64_Ehdr *eh = (const void *)mod.file;

	return (const char *)mod.file + mod.sh[eh->e_shstrndx].sh_offset + mod.sh[i].sh_name;
}

/* 0: there is none. */
static unsigned int section(const char *name)
{
	for (unsigned int i = 1; i < mod.n; i++)
		if (!strcmp(section_name(i), name))
			return i;
	return 0;
}

static void relocate(const Elf64_Shdr *relas)
{
	static const uint8_t zeros[8];
	const Elf64_Rela *r = (const void *)(mod.file + relas->sh_offset);
	const Elf64_Sym *syms = (const void *)(mod.file + mod.sh[relas->sh_link].sh_offset);

	assert_int_equal(mod.sh[relas->sh_link].sh_type, SHT_SYMTAB);
	for (size_t i = 0; i < relas->sh_size / sizeof(*r); i++) {
		const Elf64_Sym *s = &syms[ELF64_R_SYM(r[i].r_info)];
		const uint32_t type = (uint32_t)ELF64_R_TYPE(r[i].r_info);
		const size_t n = type == R_X86_64_64 || type == R_X86_64_PC64 ? 8 : 4;
		uint8_t *at = mod.bytes[relas->sh_info] + r[i].r_offset;
		uint64_t value = (s->st_shndx ? address(s->st_shndx) : 0) + s->st_value +
				 (uint64_t)r[i].r_addend;

		assert_true(r[i].r_offset + n <= mod.sh[relas->sh_info].sh_size);
		assert_memory_equal(at, zeros, n);
		if (type == R_X86_64_PC32 || type == R_X86_64_PC64)
			value -= address(relas->sh_info) + r[i].r_offset;
		else
			assert_true(type == R_X86_64_64 || type == R_X86_64_32S);
		if (type == R_X86_64_32S)
			assert_true((int64_t)value == (int32_t)value);
		memcpy(at, &value, n);
	}
}

static void drop(void)
{
	free(mod.file);
	memset(&mod, 0, sizeof(mod));
}

static void load(const struct ki_module_kernel *k, const struct ki_module_code *c)
{
	const Elf64_Ehdr *eh;
	void *file;

	drop();
	ki_err_clear(&err);
	if (ki_module_build(k, c, &file, &mod.size, &err))
		fail_msg("%s", err.msg);
	mod.file = file;
	eh = file;
	assert_memory_equal(eh->e_ident, ELFMAG, SELFMAG);
	assert_int_equal(eh->e_type, ET_REL);
	assert_int_equal(eh->e_machine, EM_X86_64);
	assert_true(eh->e_shoff + eh->e_shnum * sizeof(Elf64_Shdr) == mod.size);
	mod.sh = (Elf64_Shdr *)(mod.file + eh->e_shoff);
	mod.n = eh->e_shnum;
	assert_in_range(mod.n, 1, 32);
	for (unsigned int i = 1; i < mod.n; i++) {
		assert_true(mod.sh[i].sh_offset + mod.sh[i].sh_size <= eh->e_shoff);
		assert_int_equal(mod.sh[i].sh_offset % mod.sh[i].sh_addralign, 0);
		if (mod.sh[i].sh_flags & SHF_ALLOC) {
			assert_in_range(mod.sh[i].sh_size, 1, PAGE);
			memcpy(mod.bytes[i], mod.file + mod.sh[i].sh_offset, mod.sh[i].sh_size);
		}
		/* The kernel lets no page be written and run. */
		assert_int_not_equal(mod.sh[i].sh_flags & (SHF_WRITE | SHF_EXECINSTR),
				     SHF_WRITE | SHF_EXECINSTR);
	}
	for (unsigned int i = 1; i < mod.n; i++)
		if (mod.sh[i].sh_type == SHT_RELA)
			relocate(&mod.sh[i]);
}

static uint64_t text(uint64_t off)
{
	return address(section(".text")) + off;
}

/* What a word of a table, at that offset, says where something is. */
static uint64_t meant(const char *table, size_t off, size_t size)
{
	const unsigned int i = section(table);
	int64_t by = 0;
	int32_t by32;

	assert_true(i && off + size <= mod.sh[i].sh_size);
	memcpy(&by32, mod.bytes[i] + off, 4);
	if (size == 8)
		memcpy(&by, mod.bytes[i] + off, 8);
	else
		by = by32;
	return address(i) + off + (uint64_t)by;
}

static void has(const char *table, size_t off, const void *bytes, size_t n)
{
	const unsigned int i = section(table);

	assert_true(i && off + n <= mod.sh[i].sh_size);
	assert_memory_equal(mod.bytes[i] + off, bytes, n);
}

static void has_rows(const char *table, size_t size, size_t n)
{
	const unsigned int i = section(table);

	assert_int_not_equal(i, 0);
	assert_int_equal(mod.sh[i].sh_size, size * n);
}

/* ---- all of it ---- */

static void test_fixes(void **state)
{
	uint64_t v[3];
	int32_t w[4];
	const uint8_t *p;

	(void)state;
	load(&kernel, &all);
	p = mod.bytes[section(".text")];
	memcpy(&w[0], p, 4);
	memcpy(&w[1], p + 4, 4);
	memcpy(&v[0], p + 12, 8);
	memcpy(&w[2], p + 46, 4);
	memcpy(&w[3], p + 50, 4);
	memcpy(&v[1], p + 54, 8);
	assert_true(text(4) + (uint64_t)(int64_t)w[0] == KERNEL);
	assert_true((uint64_t)(int64_t)w[1] == text(34));
	assert_true(v[0] == text(7));
	assert_true((uint64_t)(int64_t)w[2] == KERNEL + 8);
	assert_true(text(54) + (uint64_t)(int64_t)w[3] == text(7));
	assert_true(v[1] == KERNEL - 1);
	/* The one in a static call is passed over. */
	has(".text", 30, "\xe8\0\0\0\0\x90", 6);
}

static void test_tables(void **state)
{
	static const uint32_t datas[] = {0x12345, 3};
	static const uint16_t told[][2] = {{77, 0x901}, {1, 2}};

	(void)state;
	load(&kernel, &all);
	has_rows(".orc_unwind_ip", 4, 3);
	has_rows(".orc_unwind", 6, 3);
	assert_true(meant(".orc_unwind_ip", 0, 4) == text(0));
	assert_true(meant(".orc_unwind_ip", 4, 4) == text(30));
	assert_true(meant(".orc_unwind_ip", 8, 4) == text(LEN));
	has(".orc_unwind", 0, "\x08\0\1\2\3\4\x10\0\5\6\7\x08\0\0\0\0\0\0", 18);
	has_rows("__ex_table", 12, 2);
	assert_true(meant("__ex_table", 0, 4) == text(1));
	assert_true(meant("__ex_table", 4, 4) == text(50));
	assert_true(meant("__ex_table", 12, 4) == text(9));
	assert_true(meant("__ex_table", 16, 4) == KERNEL);
	has_rows("__bug_table", 12, 2);
	assert_true(meant("__bug_table", 0, 4) == text(34));
	assert_true(meant("__bug_table", 4, 4) == FILE_NAME_AT);
	assert_true(meant("__bug_table", 12, 4) == text(36));
	assert_true(meant("__bug_table", 16, 4) == 0);
	for (size_t i = 0; i < 2; i++) {
		has("__ex_table", 12 * i + 8, &datas[i], 4);
		has("__bug_table", 12 * i + 8, told[i], 4);
	}
	has_rows("__jump_table", 16, 2);
	assert_true(meant("__jump_table", 0, 4) == text(10));
	assert_true(meant("__jump_table", 4, 4) == text(60));
	assert_true(meant("__jump_table", 8, 8) == (KERNEL | 1));
	assert_true(meant("__jump_table", 16, 4) == text(20));
	assert_true(meant("__jump_table", 20, 4) == KERNEL + 1);
	assert_true(meant("__jump_table", 24, 8) == KERNEL + 0x40);
	has_rows(".static_call_sites", 8, 2);
	assert_true(meant(".static_call_sites", 0, 4) == text(30));
	assert_true(meant(".static_call_sites", 4, 4) == KERNEL + 0x80);
	assert_true(meant(".static_call_sites", 8, 4) == text(40));
	assert_true(meant(".static_call_sites", 12, 4) == ((KERNEL + 0x100) | 1));
}

/* The kernel writes these; it reads the others only. */
static void test_written(void **state)
{
	static const char *const written[] = {"__bug_table", "__jump_table", ".static_call_sites",
					      ".gnu.linkonce.this_module"};

	(void)state;
	load(&kernel, &all);
	for (size_t i = 0; i < sizeof(written) / sizeof(*written); i++)
		assert_int_equal(mod.sh[section(written[i])].sh_flags, SHF_ALLOC | SHF_WRITE);
	assert_int_equal(mod.sh[section(".text")].sh_flags, SHF_ALLOC | SHF_EXECINSTR);
	assert_int_equal(mod.sh[section("__ex_table")].sh_flags, SHF_ALLOC);
}

static bool says(const char *key, const char *value)
{
	const unsigned int i = section(".modinfo");
	const char *p = (const char *)mod.bytes[i];
	char whole[300];

	snprintf(whole, sizeof(whole), "%s=%s", key, value ? value : "");
	for (size_t at = 0; at < mod.sh[i].sh_size; at += strlen(p + at) + 1)
		if (value ? !strcmp(p + at, whole) : !strncmp(p + at, whole, strlen(whole)))
			return true;
	return false;
}

static void test_said(void **state)
{
	struct ki_module_kernel plain = kernel;
	uint64_t crc;

	(void)state;
	load(&kernel, &all);
	assert_true(says("name", "made"));
	assert_true(says("license", "GPL"));
	assert_true(says("vermagic", kernel.vermagic));
	assert_true(says("retpoline", "Y"));
	assert_false(says("intree", NULL));
	has_rows("__versions", 64, 1);
	memcpy(&crc, mod.bytes[section("__versions")], sizeof(crc));
	assert_true(crc == kernel.layout_crc);
	has("__versions", 8, "module_layout", sizeof("module_layout"));
	has_rows(".gnu.linkonce.this_module", kernel.module_size, 1);
	has(".gnu.linkonce.this_module", kernel.name_offset, "made", 5);
	plain.versions = false;
	load(&plain, &all);
	assert_int_equal(section("__versions"), 0);
}

static void test_names(void **state)
{
	const Elf64_Sym *s;
	const char *names;
	unsigned int i, found = 0;

	(void)state;
	load(&kernel, &all);
	i = section(".symtab");
	s = (const void *)(mod.file + mod.sh[i].sh_offset);
	names = (const char *)mod.file + mod.sh[mod.sh[i].sh_link].sh_offset;
	for (size_t k = 0; k < mod.sh[i].sh_size / sizeof(*s); k++)
		for (size_t f = 0; f < all.nfunctions; f++)
			if (!strcmp(names + s[k].st_name, functions[f].name)) {
				assert_int_equal(s[k].st_shndx, section(".text"));
				assert_int_equal(ELF64_ST_TYPE(s[k].st_info), STT_FUNC);
				assert_int_equal(s[k].st_value, functions[f].off);
				assert_int_equal(s[k].st_size, functions[f].size);
				found++;
			}
	assert_int_equal(found, all.nfunctions);
}

/* What is not asked for is not there. */
static void test_little(void **state)
{
	const struct ki_module_code c = {.name = "m", .code = nops, .len = 1};
	static const char *const none[] = {".orc_unwind_ip", ".orc_unwind",  "__ex_table",
					   "__bug_table",    "__jump_table", ".static_call_sites",
					   ".rela.text"};

	(void)state;
	load(&kernel, &c);
	for (size_t i = 0; i < sizeof(none) / sizeof(*none); i++)
		assert_int_equal(section(none[i]), 0);
	has(".text", 0, nops, 1);
}

static void test_readelf(void **state)
{
	char path[] = "/tmp/ki-module-XXXXXX", command[128], word[256] = "";
	int fd = mkstemp(path);
	FILE *f;

	(void)state;
	load(&kernel, &all);
	assert_true(fd >= 0 && write(fd, mod.file, mod.size) == (ssize_t)mod.size);
	close(fd);
	snprintf(command, sizeof(command), "LC_ALL=C readelf -aW %s 2>&1 > /dev/null", path);
	f = popen(command, "r");
	assert_non_null(f);
	if (fgets(word, sizeof(word), f))
		fail_msg("readelf: %s", word);
	assert_int_equal(pclose(f), 0);
	unlink(path);
}

/* ---- states ---- */

#define NOP2  "\x66\x90"
#define NOP5  "\x0f\x1f\x44\x00\x00"
#define XOR   "\x2e\x2e\x2e\x31\xc0"
#define RET   "\xc3\xcc\xcc\xcc\xcc"
#define FIRST 4 /* where the site is in the code, whose other bytes are int3 */

struct state {
	const char *was;
	size_t n;
	uint8_t first;
	bool inside;
	uint64_t at;
	const char *is; /* if it leads out of the code: the first byte */
};

static void test_branches(void **state)
{
	static const struct state cases[] = {
		{NOP2, 2, KI_MODULE_NOP, true, 20, NOP2},
		{"\xeb\x11", 2, KI_MODULE_NOP, true, 20, NOP2},
		{NOP2, 2, KI_MODULE_JUMP, true, 20, "\xeb\x0e"},
		{NOP2, 2, KI_MODULE_JUMP, true, 0, "\xeb\xfa"},
		{"\xeb\x11", 2, KI_MODULE_JUMP, true, 20, "\xeb\x0e"},
		{NOP5, 5, KI_MODULE_NOP, true, 20, NOP5},
		{"\xe9\1\2\3\4", 5, KI_MODULE_NOP, true, 20, NOP5},
		{NOP5, 5, KI_MODULE_JUMP, true, 20, "\xe9\x0b\0\0\0"},
		{"\xe9\1\2\3\4", 5, KI_MODULE_JUMP, true, 0, "\xe9\xf7\xff\xff\xff"},
		{NOP5, 5, KI_MODULE_NOP, false, KERNEL, NOP5},
		{"\xe9\1\2\3\4", 5, KI_MODULE_JUMP, false, KERNEL, "\xe9"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct state *x = &cases[i];
		const struct ki_module_jump j = {FIRST, x->first, {x->inside, x->at}, KERNEL};
		const struct ki_module_fix fix = {FIRST + 1, KI_MODULE_PC32, false, 9, 9};
		uint8_t code[200];
		struct ki_module_code c = {.name = "m",
					   .code = code,
					   .len = sizeof(code),
					   .jumps = &j,
					   .njumps = 1,
					   .fixes = &fix,
					   .nfixes = 1};
		int32_t by;

		memset(code, 0xcc, sizeof(code));
		memcpy(code + FIRST, x->was, x->n);
		load(&kernel, &c);
		has(".text", 0, "\xcc\xcc\xcc\xcc", FIRST);
		has(".text", FIRST + x->n, "\xcc\xcc\xcc\xcc", 4);
		if (x->inside || x->first == KI_MODULE_NOP) {
			has(".text", FIRST, x->is, x->n);
			continue;
		}
		has(".text", FIRST, x->is, 1);
		memcpy(&by, mod.bytes[section(".text")] + FIRST + 1, 4);
		assert_true(text(FIRST + 5) + (uint64_t)(int64_t)by == KERNEL);
	}
}

static void test_calls(void **state)
{
	static const struct {
		const char *was;
		size_t n;
		uint64_t tail;
		const char *is;
	} cases[] = {
		{"\xe8\1\2\3\4\x90", 6, 0, "\xe8\0\0\0\0\x90"},
		{NOP5 "\x90", 6, 0, "\xe8\0\0\0\0\x90"},
		{XOR "\x90", 6, 0, "\xe8\0\0\0\0\x90"},
		{"\xe9\1\2\3\4\x90", 6, 1, "\xe9\0\0\0\0\x90"},
		{RET "\x90", 6, 1, "\xe9\0\0\0\0\x90"},
		{"\x0f\x84\1\2\3\4\x90", 7, 1, "\x0f\x84\0\0\0\0\x90"},
		{"\x0f\x8f\1\2\3\4\x90", 7, 1, "\x0f\x8f\0\0\0\0\x90"},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		const struct ki_module_call x = {0, KERNEL | cases[i].tail};
		const struct ki_module_code c = {.name = "m",
						 .code = (const uint8_t *)cases[i].was,
						 .len = cases[i].n,
						 .calls = &x,
						 .ncalls = 1};

		load(&kernel, &c);
		has(".text", 0, cases[i].is, cases[i].n);
	}
}

static void test_stacks(void **state)
{
	static const struct {
		const char *stack;
		bool on;
	} cases[] = {
		{"[<0>] msleep+0x2b/0x40\n[<0>] made_1+0x4/0x10 [made]\n", true},
		{"[<0>] x+0x2/0x40 [made2]\n[<0>] y+0x4/0x10 [made]\n", true},
		{"[<0>] x+0x2/0x40 [made2]\n[<0>] made+0x4/0x10 [not_made]\n", false},
		{"made", false},
		{"[made", false},
		{"", false},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++)
		assert_int_equal(ki_module_on_stack(cases[i].stack, "made"), cases[i].on);
}

static int teardown(void **state)
{
	(void)state;
	drop();
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_fixes),	cmocka_unit_test(test_tables),
		cmocka_unit_test(test_written), cmocka_unit_test(test_said),
		cmocka_unit_test(test_names),	cmocka_unit_test(test_little),
		cmocka_unit_test(test_readelf), cmocka_unit_test(test_branches),
		cmocka_unit_test(test_calls),	cmocka_unit_test(test_stacks),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
