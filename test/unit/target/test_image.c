/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ELF images: this program, and small files of our own, whole, cut off and broken.
 */
#include "common_code.h"
#include "common_elf.h"

#include <errno.h>
#include <link.h>
#include <string.h>

/* A file with two sections of code, symbols, and nothing else. */
struct file {
	Elf64_Ehdr eh;
	Elf64_Shdr sh[6];
	Elf64_Sym sym[8];
	uint8_t text[64], more[32];
	char strings[64], names[64];
};

enum { NONE, DOT_TEXT, DOT_MORE, SYMTAB, STRTAB, SHSTRTAB };

static void set_section(struct file *f, int i, uint32_t type, uint64_t flags, uint64_t addr,
			const void *at_ptr, size_t size)
{
	f->sh[i].sh_type = type;
	f->sh[i].sh_flags = flags;
	f->sh[i].sh_addr = addr;
	f->sh[i].sh_offset = (uint64_t)((const char *)at_ptr - (const char *)f);
	f->sh[i].sh_size = size;
	f->sh[i].sh_addralign = 16;
}

static void set_symbol(struct file *f, int i, const char *name, int type, int section,
		       uint64_t value)
{
	static const char names[] = "\0f\0g\0data\0.L1\0h\0";
	const char *p = names + 1;

	memcpy(f->strings, names, sizeof(names));
	while (strcmp(p, name))
		p += strlen(p) + 1;
	f->sym[i].st_name = (uint32_t)(p - names);
	f->sym[i].st_info = (unsigned char)ELF64_ST_INFO(STB_GLOBAL, type);
	f->sym[i].st_shndx = (uint16_t)section;
	f->sym[i].st_value = value;
}

static void make_file(struct file *f, uint16_t type)
{
	uint64_t base = type == ET_REL ? 0 : 0x1000, more = type == ET_REL ? 0 : 0x2000;

	memset(f, 0, sizeof(*f));
	memcpy(f->eh.e_ident, ELFMAG, SELFMAG);
	f->eh.e_ident[EI_CLASS] = ELFCLASS64;
	f->eh.e_ident[EI_DATA] = ELFDATA2LSB;
	f->eh.e_ident[EI_VERSION] = EV_CURRENT;
	f->eh.e_type = type;
	f->eh.e_machine = EM_X86_64;
	f->eh.e_version = EV_CURRENT;
	f->eh.e_shoff = offsetof(struct file, sh);
	f->eh.e_ehsize = sizeof(f->eh);
	f->eh.e_shentsize = sizeof(f->sh[0]);
	f->eh.e_shnum = 6;
	f->eh.e_shstrndx = SHSTRTAB;
	set_section(f, DOT_TEXT, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, base, f->text, 50);
	set_section(f, DOT_MORE, SHT_PROGBITS, SHF_ALLOC | SHF_EXECINSTR, more, f->more, 32);
	set_section(f, SYMTAB, SHT_SYMTAB, 0, 0, f->sym, sizeof(f->sym));
	set_section(f, STRTAB, SHT_STRTAB, 0, 0, f->strings, sizeof(f->strings));
	set_section(f, SHSTRTAB, SHT_STRTAB, 0, 0, f->names, sizeof(f->names));
	f->sh[SYMTAB].sh_link = STRTAB;
	f->sh[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
	memset(f->text, 0x90, sizeof(f->text));
	memset(f->more, 0x97, sizeof(f->more));
	f->text[49] = f->more[31] = 0xc3;
	set_symbol(f, 1, "f", STT_FUNC, DOT_TEXT, base);
	set_symbol(f, 2, "g", STT_NOTYPE, DOT_TEXT, base + 16);
	set_symbol(f, 3, "h", STT_FUNC, DOT_MORE, more + 8);
	set_symbol(f, 4, "data", STT_OBJECT, DOT_TEXT, base + 20);
	set_symbol(f, 5, ".L1", STT_NOTYPE, DOT_TEXT, base + 24);
	set_symbol(f, 6, "g", STT_FUNC, SHN_ABS, base + 28);
	set_symbol(f, 7, "h", STT_FUNC, DOT_TEXT, base + 50);
}

static void check_refused(const void *bytes, size_t len)
{
	struct ki_err err = {0};
	struct ki_target *t = NULL;
	int ret = open_bytes(bytes, len, &t, &err);

	assert_true(ret < 0);
	assert_int_equal(err.code, ret);
	assert_true(strlen(err.msg) > 10);
	assert_null(t);
}

static void program_of_two_sections(void **state)
{
	const struct ki_text_range *r;
	const struct ki_symbol *s;
	struct ki_target *t;
	struct file f;
	uint8_t buf[64];
	size_t n;

	(void)state;
	make_file(&f, ET_DYN);
	assert_int_equal(open_bytes(&f, sizeof(f), &t, NULL), 0);
	assert_int_equal(ki_target_kind(t), KI_TARGET_IMAGE);
	assert_int_equal(ki_target_fd(t), -1);
	assert_null(ki_target_info(t));
	r = ki_target_ranges(t, &n);
	assert_int_equal(n, 2);
	assert_true(r[0].start == 0x1000 && r[0].end == 0x1032 && r[1].start == 0x2000);
	s = ki_target_symbols(t, &n);
	assert_int_equal(n, 3);
	assert_string_equal(s[1].name, "g");
	assert_int_equal(s[1].size, 34);
	assert_int_equal(s[2].addr, 0x2008);
	assert_int_equal(s[2].size, 24);
	assert_int_equal(ki_target_read(t, 0x2000, buf, 32, KI_VIEW_LIVE, NULL), 0);
	assert_memory_equal(buf, f.more, 32);
	assert_int_equal(ki_target_read(t, 0x2000, buf, 33, KI_VIEW_LIVE, NULL), -EFAULT);
	assert_int_equal(ki_target_read(t, 0x1fff, buf, 2, KI_VIEW_LIVE, NULL), -EFAULT);
	ki_target_free(t);
}

static void relocatable_file(void **state)
{
	const struct ki_text_range *r;
	const struct ki_symbol *s;
	struct ki_target *t;
	struct file f;
	uint8_t byte;
	size_t n;

	(void)state;
	make_file(&f, ET_REL);
	assert_int_equal(open_bytes(&f, sizeof(f), &t, NULL), 0);
	r = ki_target_ranges(t, &n);
	assert_int_equal(n, 2);
	assert_true(r[0].start == 0 && r[0].end == 50 && r[1].start == 64 && r[1].end == 96);
	s = ki_target_symbols(t, &n);
	assert_int_equal(n, 3);
	assert_int_equal(s[2].addr, 72);
	assert_ptr_equal(ki_target_symbol_at(t, 0), s);
	assert_int_equal(ki_target_read(t, 72, &byte, 1, KI_VIEW_ORIG, NULL), 0);
	assert_int_equal(byte, 0x97);
	ki_target_free(t);
}

static void files_of_other_kinds(void **state)
{
	struct file f;

	(void)state;
	check_refused("", 0);
	check_refused("#!/bin/sh\n", 10);
	make_file(&f, ET_CORE);
	check_refused(&f, sizeof(f));
	make_file(&f, ET_DYN);
	f.eh.e_machine = EM_AARCH64;
	check_refused(&f, sizeof(f));
	make_file(&f, ET_DYN);
	f.eh.e_ident[EI_DATA] = ELFDATA2MSB;
	check_refused(&f, sizeof(f));
	make_file(&f, ET_DYN);
	f.sh[DOT_TEXT].sh_flags = f.sh[DOT_MORE].sh_flags = SHF_ALLOC;
	check_refused(&f, sizeof(f));
	make_file(&f, ET_DYN);
	f.sh[DOT_MORE].sh_addr = 0x1010;
	check_refused(&f, sizeof(f));
	make_file(&f, ET_DYN);
	f.sh[DOT_MORE].sh_addr = UINT64_MAX - 8;
	check_refused(&f, sizeof(f));
	make_file(&f, ET_DYN);
	f.sh[DOT_MORE].sh_size = 1ull << 40;
	check_refused(&f, sizeof(f));
	make_file(&f, ET_DYN);
	f.sh[DOT_MORE].sh_offset = UINT64_MAX - 4;
	check_refused(&f, sizeof(f));
	make_file(&f, ET_REL);
	f.sh[DOT_MORE].sh_addralign = 3;
	check_refused(&f, sizeof(f));
}

static void files_that_are_not_there(void **state)
{
	struct ki_err err = {0};
	struct ki_target *t;

	(void)state;
	assert_int_equal(ki_target_new_image("/nonexistent", &t, &err), -ENOENT);
	assert_non_null(strstr(err.msg, "/nonexistent"));
	assert_int_equal(ki_target_new_image("/", &t, NULL), -EINVAL);
	assert_int_equal(ki_target_new_image("/dev/null", &t, NULL), -EINVAL);
	assert_int_equal(ki_target_new_image("/proc/self/maps", &t, NULL), -EINVAL);
}

/* Whatever opens must be fit for use. */
static void try_file(const void *bytes, size_t len)
{
	char hash[KI_TEXT_HASH_LEN];
	const struct ki_symbol *s;
	struct ki_err err = {0};
	struct ki_target *t;
	size_t n;

	if (open_bytes(bytes, len, &t, &err)) {
		assert_true(err.code < 0 && *err.msg);
		return;
	}
	s = ki_target_symbols(t, &n);
	for (size_t i = 0; i < n; i++) {
		struct ki_function *fn;

		assert_int_equal(ki_function_analyze(t, &s[i], &fn, &err), 0);
		check_function(fn);
		ki_function_free(fn);
	}
	assert_int_equal(ki_target_text_hash(t, hash, &err), 0);
	ki_target_free(t);
}

static void files_cut_off(void **state)
{
	struct file f;

	(void)state;
	for (int type = ET_REL; type <= ET_DYN; type++) {
		make_file(&f, (uint16_t)type);
		for (size_t len = 0; len <= sizeof(f); len++)
			try_file(&f, len);
	}
}

static void files_broken(void **state)
{
	static const uint64_t values[] = {0,	    1,		7,	    0xff,	0xffff,
					  1u << 20, 0x7fffffff, 0xffffffff, 1ull << 63, UINT64_MAX};
	uint32_t seed = 99;
	struct file f;

	(void)state;
	for (size_t off = 0; off < sizeof(f.eh) + sizeof(f.sh) + sizeof(f.sym); off += 4) {
		for (size_t v = 0; v < 10; v++) {
			make_file(&f, ET_REL + v % 3);
			memcpy((char *)&f + off, &values[v], off % 8 ? 4 : 8);
			try_file(&f, sizeof(f));
		}
	}
	for (int i = 0; i < 3000; i++) {
		make_file(&f, (uint16_t)(ET_REL + i % 3));
		for (int k = 0; k < 1 + i % 6; k++) {
			seed = seed * 1103515245 + 12345;
			((uint8_t *)&f)[20 + (seed >> 8) % (sizeof(f) - 20)] =
				(uint8_t)(seed >> 24);
		}
		try_file(&f, sizeof(f));
	}
}

int well_known(int x);

__attribute__((noinline, used)) int well_known(int x)
{
	return x * 77 + 3;
}

static int first_object(struct dl_phdr_info *info, size_t size, void *bias)
{
	(void)size;
	*(uint64_t *)bias = info->dlpi_addr;
	return 1;
}

static void this_program(void **state)
{
	const struct ki_symbol *s;
	struct ki_err err = {0};
	struct ki_target *t;
	uint64_t bias = 0;
	uint8_t buf[16];

	(void)state;
	dl_iterate_phdr(first_object, &bias);
	if (ki_target_new_image("/proc/self/exe", &t, &err))
		fail_msg("%s", err.msg);
	s = ki_target_symbol_named(t, "", "well_known", NULL);
	assert_non_null(s);
	assert_int_equal(s->addr + bias, (uintptr_t)well_known);
	assert_int_equal(ki_target_read(t, s->addr, buf, 4, KI_VIEW_ORIG, NULL), 0);
	assert_memory_equal(buf, (const void *)(uintptr_t)well_known, 4);
	assert_non_null(ki_target_symbol_named(t, NULL, "main", NULL));
	assert_non_null(ki_target_symbol_named(t, NULL, "files_broken", NULL));
	ki_target_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(program_of_two_sections),
		cmocka_unit_test(relocatable_file),
		cmocka_unit_test(files_of_other_kinds),
		cmocka_unit_test(files_that_are_not_there),
		cmocka_unit_test(files_cut_off),
		cmocka_unit_test(files_broken),
		cmocka_unit_test(this_program),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
