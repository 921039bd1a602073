/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ELF files that are large, or pretend to be: time and memory stay in proportion to the file.
 */
#include "common_elf.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "kerninst/code.h"

#define EXEC (SHF_ALLOC | SHF_EXECINSTR)
#define MANY 70000u

static double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &ts);
	return (double)ts.tv_sec + (double)ts.tv_nsec / 1e9;
}

/* Sections lie one after the other after the headers; the caller fills them. */
struct big {
	uint8_t *bytes;
	size_t len;
	Elf64_Ehdr *eh;
	Elf64_Shdr *sh;
	uint8_t *body;
};

static void start(struct big *b, uint16_t type, uint32_t nsh, size_t body)
{
	size_t headers = sizeof(*b->eh) + nsh * sizeof(*b->sh);

	b->len = headers + body;
	b->bytes = calloc(1, b->len);
	assert_non_null(b->bytes);
	b->eh = (void *)b->bytes;
	b->sh = (void *)(b->bytes + sizeof(*b->eh));
	b->body = b->bytes + headers;
	memcpy(b->eh->e_ident, ELFMAG "\2\1\1", SELFMAG + 3);
	b->eh->e_type = type;
	b->eh->e_machine = EM_X86_64;
	b->eh->e_shoff = sizeof(*b->eh);
	b->eh->e_shentsize = sizeof(*b->sh);
	b->sh[0].sh_size = nsh;
}

static void section(struct big *b, uint32_t i, uint32_t type, uint64_t flags, size_t at,
		    size_t size)
{
	b->sh[i] = (Elf64_Shdr){.sh_type = type,
				.sh_flags = flags,
				.sh_offset = (size_t)(b->body - b->bytes) + at,
				.sh_size = size};
}

/* A function in each of 70,000 sections, numbered beyond what a symbol can say itself. */
static void many_sections(void **state)
{
	size_t syms = MANY * 8, more = syms + MANY * sizeof(Elf64_Sym), names = more + MANY * 4;
	char hash[KI_TEXT_HASH_LEN];
	const struct ki_symbol *s;
	struct ki_target *t;
	struct big b;
	double begin;
	size_t n;

	(void)state;
	start(&b, ET_REL, MANY + 4, names + 2 * MANY + 1);
	section(&b, MANY + 1, SHT_SYMTAB, 0, syms, MANY * sizeof(Elf64_Sym));
	b.sh[MANY + 1].sh_entsize = sizeof(Elf64_Sym);
	b.sh[MANY + 1].sh_link = MANY + 3;
	section(&b, MANY + 2, SHT_SYMTAB_SHNDX, 0, more, MANY * 4);
	b.sh[MANY + 2].sh_link = MANY + 1;
	section(&b, MANY + 3, SHT_STRTAB, 0, names, 2 * MANY + 1);
	for (uint32_t i = 1; i < MANY; i++) {
		Elf64_Sym sym = {.st_name = 2 * i,
				 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				 .st_shndx = SHN_XINDEX};

		section(&b, i, SHT_PROGBITS, EXEC, 8 * i, 8);
		memset(b.body + 8 * i, 0xc3, 8);
		memcpy(b.body + syms + i * sizeof(sym), &sym, sizeof(sym));
		memcpy(b.body + more + i * 4, &i, 4);
		b.body[names + 2 * i] = 'f';
	}
	begin = now();
	assert_int_equal(open_bytes(b.bytes, b.len, &t, NULL), 0);
	s = ki_target_symbols(t, &n);
	assert_int_equal(n, MANY - 1);
	assert_int_equal(s[n - 1].addr, 8 * (MANY - 2));
	for (size_t i = 0; i < n; i += 100) {
		struct ki_function *fn;

		assert_int_equal(ki_function_analyze(t, &s[i], &fn, NULL), 0);
		ki_function_free(fn);
	}
	assert_int_equal(ki_target_text_hash(t, hash, NULL), 0);
	assert_true(now() - begin < 5);
	ki_target_free(t);
	free(b.bytes);
}

/* All of them are the same megabyte. */
static void sections_on_top_of_each_other(void **state)
{
	static const uint64_t flags[] = {EXEC, SHF_ALLOC};
	struct ki_err err;
	struct ki_target *t;
	struct big b;
	double begin;

	(void)state;
	for (int k = 0; k < 2; k++) {
		start(&b, ET_REL, MANY, 1 << 20);
		for (uint32_t i = 1; i < MANY; i++)
			section(&b, i, SHT_PROGBITS, flags[i > 1 ? k : 0], 0, 1 << 20);
		begin = now();
		ki_err_clear(&err);
		assert_int_equal(open_bytes(b.bytes, b.len, &t, &err), -EINVAL);
		assert_non_null(strstr(err.msg, "on top of each other"));
		assert_true(now() - begin < 2);
		free(b.bytes);
	}
}

/* 100,000 symbols, each with a name of which the next one's is the end. */
static void names_inside_names(void **state)
{
	const size_t count = 100000, names = count * sizeof(Elf64_Sym);
	const struct ki_symbol *s;
	struct ki_target *t;
	struct big b;
	double begin;
	size_t n;

	(void)state;
	start(&b, ET_DYN, 4, names + count + 4096);
	section(&b, 1, SHT_SYMTAB, 0, 0, names);
	b.sh[1].sh_entsize = sizeof(Elf64_Sym);
	b.sh[1].sh_link = 2;
	section(&b, 2, SHT_STRTAB, 0, names, count);
	memset(b.body + names, 'n', count);
	section(&b, 3, SHT_PROGBITS, EXEC, names + count, 4096);
	for (uint32_t i = 1; i < count; i++) {
		Elf64_Sym sym = {.st_name = i,
				 .st_info = ELF64_ST_INFO(STB_GLOBAL, STT_FUNC),
				 .st_shndx = 3,
				 .st_value = i % 4096};

		memcpy(b.body + i * sizeof(sym), &sym, sizeof(sym));
	}
	begin = now();
	assert_int_equal(open_bytes(b.bytes, b.len, &t, NULL), 0);
	s = ki_target_symbols(t, &n);
	assert_int_equal(n, 4095); /* longer names are none */
	for (size_t i = 0; i < n; i++)
		assert_in_range(strlen(s[i].name), 1, 4095);
	assert_true(now() - begin < 5);
	ki_target_free(t);
	free(b.bytes);
}

/* One table of relocations, named by each of 70,000 headers. */
static void relocations_again_and_again(void **state)
{
	const size_t count = 10000, len = count * sizeof(Elf64_Rela);
	struct ki_err err;
	struct ki_target *t;
	struct big b;
	double begin;

	(void)state;
	start(&b, ET_REL, MANY, len + 64);
	section(&b, 1, SHT_SYMTAB, 0, len, 24);
	b.sh[1].sh_entsize = sizeof(Elf64_Sym);
	b.sh[1].sh_link = 2;
	section(&b, 2, SHT_STRTAB, 0, len + 24, 1);
	section(&b, 3, SHT_PROGBITS, EXEC, len + 32, 32);
	for (uint32_t i = 4; i < MANY; i++) {
		section(&b, i, SHT_RELA, 0, 0, len);
		b.sh[i].sh_entsize = sizeof(Elf64_Rela);
		b.sh[i].sh_link = 1;
		b.sh[i].sh_info = 3;
	}
	for (size_t i = 0; i < count; i++) {
		Elf64_Rela rela = {0, ELF64_R_INFO(0, R_X86_64_64), 5};

		memcpy(b.body + i * sizeof(rela), &rela, sizeof(rela));
	}
	begin = now();
	ki_err_clear(&err);
	assert_int_equal(open_bytes(b.bytes, b.len, &t, &err), -EINVAL);
	assert_non_null(strstr(err.msg, "on top of each other"));
	assert_true(now() - begin < 2);
	free(b.bytes);
}

static void data_on_top_of_data(void **state)
{
	static const uint8_t a[64] = {[0 ... 63] = 'a'}, b[64] = {[0 ... 63] = 'b'};
	static const char want[] = "aaaabbbb";
	struct ki_target *t;
	struct elf_file f;
	char buf[64];

	(void)state;
	elf_start(&f, ET_DYN);
	elf_section(&f, ".text", SHT_PROGBITS, EXEC, 0x1000, a, 16);
	elf_section(&f, ".b", SHT_PROGBITS, SHF_ALLOC, 0x2004, b, 64);
	elf_section(&f, ".a", SHT_PROGBITS, SHF_ALLOC, 0x2000, a, 64);
	elf_section(&f, ".a2", SHT_PROGBITS, SHF_ALLOC, 0x2044, a, 4);
	elf_section(&f, ".tbss", SHT_NOBITS, SHF_ALLOC | SHF_TLS | SHF_WRITE, 0x2002, NULL, 64);
	elf_section(&f, ".bss", SHT_NOBITS, SHF_ALLOC, 0x2048, NULL, 8);
	assert_int_equal(open_elf(&f, NULL, &t, NULL), 0);
	assert_int_equal(ki_target_read_data(t, 0x2000, buf, 8, NULL), 0);
	assert_memory_equal(buf, want, 8);
	assert_int_equal(ki_target_read_data(t, 0x2043, buf, 6, NULL), 0);
	assert_memory_equal(buf, "baaaa\0", 6);
	assert_int_equal(ki_target_read_data(t, 0x2048, buf, 9, NULL), -EFAULT);
	assert_int_equal(ki_target_read_data(t, 0x1fff, buf, 2, NULL), -EFAULT);
	assert_int_equal(ki_target_read_data(t, 0x100f, buf, 1, NULL), 0);
	assert_int_equal(ki_target_read_data(t, 0, buf, 0, NULL), 0);
	ki_target_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(many_sections),
		cmocka_unit_test(sections_on_top_of_each_other),
		cmocka_unit_test(names_inside_names),
		cmocka_unit_test(relocations_again_and_again),
		cmocka_unit_test(data_on_top_of_data),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
