/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Relocatable files: where their sections stand, and what their relocations make of the bytes.
 * The linker, told to put everything at the same addresses, is the witness.
 */
#include "common_elf.h"

#include <errno.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kerninst/code.h"

#define EXEC (SHF_ALLOC | SHF_EXECINSTR)

static uint8_t text[64], data[64];

/* .text at 0 and .data at 0x1000; symbol `data` is there, `elsewhere` nowhere. */
static void object(struct elf_file *f)
{
	memset(text, 0x90, sizeof(text));
	memset(data, 0, sizeof(data));
	elf_start(f, ET_REL);
	assert_int_equal(elf_section(f, ".data", SHT_PROGBITS, SHF_ALLOC, 0, data, 64), 3);
	assert_int_equal(elf_section(f, ".text", SHT_PROGBITS, EXEC, 0, text, 64), 4);
	elf_section(f, ".bss", SHT_NOBITS, SHF_ALLOC, 0, NULL, 5000);
	elf_section(f, ".comment", SHT_PROGBITS, 0, 0, text, 8);
	assert_int_equal(elf_symbol(f, "f", STT_FUNC, 4, 0), 1);
	assert_int_equal(elf_symbol(f, "data", STT_OBJECT, 3, 0x10), 2);
	assert_int_equal(elf_symbol(f, "elsewhere", STT_NOTYPE, SHN_UNDEF, 0), 3);
	assert_int_equal(elf_symbol(f, "seven", STT_NOTYPE, SHN_ABS, 7), 4);
	assert_int_equal(elf_symbol(f, "comment", STT_OBJECT, 6, 0), 5);
}

#define EXTERNAL (0x3000ull + 3 * 16) /* .bss ends at 0x1040 + 5000; symbol number 3 */

static uint64_t field(struct ki_target *t, uint64_t addr, size_t size)
{
	uint64_t v = 0;

	assert_int_equal(ki_target_read_data(t, addr, &v, size, NULL), 0);
	return v;
}

static void each_type(void **state)
{
	static const struct {
		uint32_t type, symbol;
		int64_t addend;
		uint64_t want;
		size_t size;
	} cases[] = {
		{R_X86_64_64, 2, 1, 0x1011, 8},
		{R_X86_64_64, 4, -8, UINT64_MAX, 8},
		{R_X86_64_64, 0, 0x123456789abcdef, 0x123456789abcdef, 8},
		{R_X86_64_PC64, 2, 0, 0x1010 - 8, 8},
		{R_X86_64_PC32, 2, -4, 0x1010 - 8 - 4, 4},
		{R_X86_64_PC32, 1, 0, 0xfffffff8, 4},
		{R_X86_64_PLT32, 3, -4, EXTERNAL - 8 - 4, 4},
		{R_X86_64_32, 2, 0xffffe000, 0xfffff010, 4},
		{R_X86_64_32S, 2, -0x2000, 0xfffff010, 4},
		{R_X86_64_16, 2, 2, 0x1012, 2},
		{R_X86_64_PC16, 1, 0, 0xfff8, 2},
		{R_X86_64_8, 4, 1, 8, 1},
		{R_X86_64_PC8, 1, 16, 8, 1},
		{R_X86_64_GOTPCREL, 2, 0, 0x9090909090909090, 8},
		{R_X86_64_NONE, 2, 0, 0x9090909090909090, 8},
		{R_X86_64_64, 5, 0, 0x9090909090909090, 8},
		{77, 2, 0, 0x9090909090909090, 8},
	};

	(void)state;
	for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
		Elf64_Rela rela = {8, ELF64_R_INFO(cases[i].symbol, cases[i].type),
				   cases[i].addend};
		struct ki_target *t;
		struct ki_err err;
		struct elf_file f;

		object(&f);
		elf_rela(&f, 4, &rela, 1);
		if (open_elf(&f, NULL, &t, &err))
			fail_msg("case %zu: %s", i, err.msg);
		assert_int_equal(field(t, 8, cases[i].size), cases[i].want);
		assert_int_equal(field(t, 0, 8), 0x9090909090909090);
		assert_int_equal(field(t, 8 + cases[i].size, 8), 0x9090909090909090);
		ki_target_free(t);
	}
}

static void refused(void **state)
{
	static const struct {
		Elf64_Rela rela;
		const char *why;
	} cases[] = {
		{{57, ELF64_R_INFO(2, R_X86_64_64), 0}, "outside its section"},
		{{UINT64_MAX, ELF64_R_INFO(2, R_X86_64_8), 0}, "outside its section"},
		{{64, ELF64_R_INFO(2, R_X86_64_8), 0}, "outside its section"},
		{{0, ELF64_R_INFO(99, R_X86_64_64), 0}, "a symbol that is not there"},
		{{0, ELF64_R_INFO(UINT32_MAX, R_X86_64_64), 0}, "a symbol that is not there"},
		{{0, ELF64_R_INFO(2, R_X86_64_32), -0x2000}, "too far"},
		{{0, ELF64_R_INFO(2, R_X86_64_32S), 0x7fffffff}, "too far"},
		{{0, ELF64_R_INFO(2, R_X86_64_PC32), INT64_MAX}, "too far"},
		{{0, ELF64_R_INFO(2, R_X86_64_8), 0}, "too far"},
	};
	struct ki_target *t;
	struct ki_err err;
	struct elf_file f;
	uint32_t i;

	(void)state;
	for (size_t k = 0; k < sizeof(cases) / sizeof(*cases); k++) {
		object(&f);
		elf_rela(&f, 4, &cases[k].rela, 1);
		assert_int_equal(open_elf(&f, NULL, &t, &err), -EINVAL);
		assert_non_null(strstr(err.msg, cases[k].why));
	}
	object(&f);
	i = elf_rela(&f, 4, &cases[0].rela, 1);
	f.sh[i].sh_entsize = 8;
	assert_int_equal(open_elf(&f, NULL, &t, &err), -EINVAL);
	/* For a section that is not loaded, or without bytes, they do not matter. */
	for (uint32_t to = 5; to < 9; to++) {
		object(&f);
		i = elf_rela(&f, to, &cases[0].rela, 1);
		f.sh[i].sh_info = to == 8 ? UINT32_MAX : to;
		assert_int_equal(open_elf(&f, NULL, &t, &err), 0);
		ki_target_free(t);
	}
}

static void externals_have_names(void **state)
{
	static const Elf64_Rela rela = {1, ELF64_R_INFO(3, R_X86_64_PLT32), -4};
	const struct ki_symbol *s;
	struct ki_function *fn;
	struct ki_target *t;
	struct elf_file f;
	char line[64];
	uint8_t byte;
	size_t n;

	(void)state;
	object(&f);
	elf_rela(&f, 4, &rela, 1);
	memcpy(text, "\xe8\0\0\0\0\xc3", 6);
	assert_int_equal(open_elf(&f, NULL, &t, NULL), 0);
	s = ki_target_symbols(t, &n);
	assert_int_equal(n, 1);
	assert_int_equal(ki_function_analyze(t, s, &fn, NULL), 0);
	assert_int_equal(fn->insns[0].target, EXTERNAL);
	ki_insn_format(fn, &fn->insns[0], line, sizeof(line));
	assert_string_equal(line, "call elsewhere");
	ki_function_free(fn);
	s = ki_target_symbol_at(t, EXTERNAL);
	assert_string_equal(s->name, "elsewhere");
	assert_string_equal(s->module, "");
	assert_null(ki_target_symbol_at(t, EXTERNAL + 1));
	assert_null(ki_target_symbol_at(t, EXTERNAL - 1));
	assert_null(ki_target_symbol_at(t, EXTERNAL + 16));
	assert_null(ki_target_symbol_named(t, NULL, "elsewhere", NULL));
	assert_null(ki_target_symbol_named(t, NULL, "elsewhere", s));
	assert_int_equal(ki_target_read(t, EXTERNAL, &byte, 1, KI_VIEW_ORIG, NULL), -EFAULT);
	assert_int_equal(ki_target_read_data(t, EXTERNAL, &byte, 1, NULL), -EFAULT);
	ki_target_free(t);
}

/* `jmp __x86_return_thunk` is a return in a module too, where the thunk is elsewhere. */
static void thunks_elsewhere(void **state)
{
	static const Elf64_Rela rela = {1, ELF64_R_INFO(6, R_X86_64_PLT32), -4};
	struct ki_function *fn;
	struct ki_target *t;
	struct elf_file f;
	size_t n;

	(void)state;
	object(&f);
	assert_int_equal(elf_symbol(&f, "__x86_return_thunk", STT_NOTYPE, SHN_UNDEF, 0), 6);
	elf_rela(&f, 4, &rela, 1);
	memcpy(text, "\xe9\0\0\0\0", 5);
	assert_int_equal(open_elf(&f, NULL, &t, NULL), 0);
	assert_int_equal(ki_function_analyze(t, ki_target_symbols(t, &n), &fn, NULL), 0);
	assert_int_equal(fn->insns[0].kind, KI_INSN_RET);
	ki_function_free(fn);
	ki_target_free(t);
}

/* A file as the test sees it. */
struct view {
	uint8_t *bytes;
	size_t len;
	const Elf64_Ehdr *eh;
	const Elf64_Shdr *sh;
	const char *names;
	uint64_t addr[4096];
	uint64_t end;
};

static bool slurp(const char *path, struct view *v)
{
	FILE *file = fopen(path, "r");
	long len;

	memset(v, 0, sizeof(*v));
	if (!file)
		return false;
	fseek(file, 0, SEEK_END);
	len = ftell(file);
	rewind(file);
	v->bytes = malloc((size_t)len);
	assert_non_null(v->bytes);
	v->len = fread(v->bytes, 1, (size_t)len, file);
	fclose(file);
	v->eh = (const void *)v->bytes;
	v->sh = (const void *)(v->bytes + v->eh->e_shoff);
	v->names = (const char *)v->bytes + v->sh[v->eh->e_shstrndx].sh_offset;
	return true;
}

static bool loaded(const Elf64_Shdr *sh, bool exec)
{
	return (sh->sh_flags & SHF_ALLOC) &&
	       exec == (sh->sh_type == SHT_PROGBITS && (sh->sh_flags & SHF_EXECINSTR));
}

/* The layout that target.h promises. */
static void lay_out(struct view *v)
{
	for (int exec = 1; exec >= 0; exec--) {
		for (int i = 1; i < v->eh->e_shnum; i++) {
			uint64_t align = v->sh[i].sh_addralign ? v->sh[i].sh_addralign : 1;

			if (!loaded(&v->sh[i], exec))
				continue;
			v->addr[i] = (v->end + align - 1) / align * align;
			v->end = v->addr[i] + v->sh[i].sh_size;
		}
		v->end = (v->end + 4095) / 4096 * 4096;
	}
}

/* One output section for each that is loaded: [N] is told by its number, not by its name. */
static void write_script(const struct view *v, const char *path)
{
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	for (int i = 1; i < v->eh->e_shnum; i++) {
		const Elf64_Sym *sym = (const void *)(v->bytes + v->sh[i].sh_offset);
		const char *names = (const char *)v->bytes + v->sh[v->sh[i].sh_link].sh_offset;

		if (v->sh[i].sh_type != SHT_SYMTAB)
			continue;
		for (uint64_t k = 1; k < v->sh[i].sh_size / sizeof(*sym); k++)
			if (sym[k].st_shndx == SHN_UNDEF)
				fprintf(out, "\"%s\" = 0x%llx;\n", names + sym[k].st_name,
					(unsigned long long)(v->end + k * 16));
	}
	fprintf(out, "SECTIONS {\n");
	for (int i = 1; i < v->eh->e_shnum; i++)
		if (loaded(&v->sh[i], true) || loaded(&v->sh[i], false))
			fprintf(out, "  %s 0x%llx : { KEEP(*(%s)) }\n", v->names + v->sh[i].sh_name,
				(unsigned long long)v->addr[i], v->names + v->sh[i].sh_name);
	fprintf(out, "}\n");
	fclose(out);
}

/* Sections of the linked file against the target's bytes; how many bytes were compared. */
static size_t compare(struct ki_target *t, const struct view *linked)
{
	size_t total = 0;

	for (int i = 1; i < linked->eh->e_shnum; i++) {
		const Elf64_Shdr *sh = &linked->sh[i];
		uint8_t *ours;

		if (!(sh->sh_flags & SHF_ALLOC) || sh->sh_type == SHT_NOBITS || !sh->sh_size)
			continue;
		ours = malloc(sh->sh_size);
		assert_non_null(ours);
		assert_int_equal(ki_target_read_data(t, sh->sh_addr, ours, sh->sh_size, NULL), 0);
		if (memcmp(ours, linked->bytes + sh->sh_offset, sh->sh_size))
			fail_msg("%s differs", linked->names + sh->sh_name);
		total += sh->sh_size;
		free(ours);
	}
	return total;
}

/* A copy for the linker, which shall not merge equal strings. */
static void write_copy(struct view *v, const char *path)
{
	Elf64_Shdr *sh = (void *)(v->bytes + v->eh->e_shoff);
	FILE *out = fopen(path, "w");

	assert_non_null(out);
	for (int i = 1; i < v->eh->e_shnum; i++)
		sh[i].sh_flags &= ~(uint64_t)(SHF_MERGE | SHF_STRINGS);
	assert_int_equal(fwrite(v->bytes, 1, v->len, out), v->len);
	fclose(out);
}

static void check_against_ld(const char *path, size_t least)
{
	char dir[] = "/tmp/ki-link-XXXXXX", in[64], script[64], out[64], command[1024];
	static struct view file, linked;
	struct ki_target *t;
	struct ki_err err = {0};

	assert_true(slurp(path, &file));
	assert_true(file.eh->e_shnum < 4096);
	lay_out(&file);
	assert_non_null(mkdtemp(dir));
	snprintf(in, sizeof(in), "%s/in", dir);
	snprintf(script, sizeof(script), "%s/script", dir);
	snprintf(out, sizeof(out), "%s/out", dir);
	write_script(&file, script);
	write_copy(&file, in);
	snprintf(command, sizeof(command),
		 "ld --no-relax -z norelro -e 0 -T %s -o %s %s 2>/dev/null", script, out, in);
	assert_int_equal(system(command), 0);
	assert_true(slurp(out, &linked));
	if (ki_target_new_image(path, &t, &err))
		fail_msg("%s", err.msg);
	assert_true(compare(t, &linked) >= least);
	ki_target_free(t);
	free(file.bytes);
	free(linked.bytes);
	unlink(in);
	unlink(script);
	unlink(out);
	rmdir(dir);
}

static void linker_agrees_on_the_seed(void **state)
{
	(void)state;
	check_against_ld("test/fuzz/corpus/image/object", 150);
}

/* If a kernel of the virtual machine's is there. */
static void linker_agrees_on_modules(void **state)
{
	static const char *const names[] = {"fs/ext4/ext4", "drivers/net/dummy", "net/sctp/sctp"};
	const char *cache = getenv("KI_CACHE"), *home = getenv("HOME");
	size_t done = 0;

	(void)state;
	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		char pattern[512];
		glob_t g;

		snprintf(pattern, sizeof(pattern), "%s%s/kernel-6.1/lib/modules/*/kernel/%s.ko",
			 cache ? cache : home, cache ? "" : "/.cache/kerninst", names[i]);
		if (!glob(pattern, 0, NULL, &g) && g.gl_pathc) {
			check_against_ld(g.gl_pathv[0], 5000);
			done++;
		}
		globfree(&g);
	}
	if (!done)
		skip();
}

/* The loader has done the same to this program, but for the address that it was loaded at. */
static void loader_agrees(void **state)
{
	static void (*volatile const pointers[])(void **) = {each_type, refused,
							     externals_have_names};
	extern const char __ehdr_start[];
	uint64_t base = (uintptr_t)__ehdr_start;
	struct ki_target *t;
	struct ki_err err;

	(void)state;
	if (ki_target_new_image("/proc/self/exe", &t, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < sizeof(pointers) / sizeof(*pointers); i++)
		assert_int_equal(field(t, (uintptr_t)&pointers[i] - base, 8),
				 (uintptr_t)pointers[i] - base);
	ki_target_free(t);
}

static void pointers_of_a_program(void **state)
{
	static const Elf64_Rela rela[] = {
		{0x2008, ELF64_R_INFO(0, R_X86_64_RELATIVE), 0x1234},
		{0x2010, ELF64_R_INFO(0, R_X86_64_64), 0x5678},
		{0x203c, ELF64_R_INFO(0, R_X86_64_RELATIVE), -1}, /* after the end */
		{0x1000, ELF64_R_INFO(0, R_X86_64_RELATIVE), -1}, /* in code */
		{UINT64_MAX - 3, ELF64_R_INFO(0, R_X86_64_RELATIVE), -1},
		{0x2000, ELF64_R_INFO(0, R_X86_64_RELATIVE), -2},
	};
	struct ki_target *t;
	struct ki_err err;
	struct elf_file f;
	uint32_t i;

	(void)state;
	memset(text, 0x90, sizeof(text));
	memset(data, 0, sizeof(data));
	elf_start(&f, ET_DYN);
	elf_section(&f, ".text", SHT_PROGBITS, EXEC, 0x1000, text, 64);
	elf_section(&f, ".data", SHT_PROGBITS, SHF_ALLOC, 0x2000, data, 64);
	elf_symbol(&f, "f", STT_FUNC, 3, 0x1000);
	i = elf_rela(&f, 0, rela, sizeof(rela) / sizeof(*rela));
	f.sh[i].sh_flags = SHF_ALLOC;
	if (open_elf(&f, NULL, &t, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(field(t, 0x2008, 8), 0x1234);
	assert_int_equal(field(t, 0x2010, 8), 0);
	assert_int_equal(field(t, 0x2038, 8), 0);
	assert_int_equal(field(t, 0x1000, 8), 0x9090909090909090);
	assert_int_equal(field(t, 0x2000, 8), UINT64_MAX - 1);
	ki_target_free(t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(each_type),
		cmocka_unit_test(refused),
		cmocka_unit_test(externals_have_names),
		cmocka_unit_test(thunks_elsewhere),
		cmocka_unit_test(loader_agrees),
		cmocka_unit_test(pointers_of_a_program),
		cmocka_unit_test(linker_agrees_on_the_seed),
		cmocka_unit_test(linker_agrees_on_modules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
