/* SPDX-License-Identifier: GPL-2.0-only */
#include "common_elf.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* Section 1 is the symbol table, 2 its names, which are the sections' too. */
enum { SYMTAB = 1, STRTAB = 2 };

static uint32_t add_name(struct elf_file *f, const char *name)
{
	uint32_t at = f->names_len;

	assert_true(at + strlen(name) < sizeof(f->names));
	strcpy(f->names + at, name);
	f->names_len += (uint32_t)strlen(name) + 1;
	return at;
}

void elf_start(struct elf_file *f, uint16_t type)
{
	memset(f, 0, sizeof(*f));
	f->type = type;
	f->nsh = 1;
	f->nsym = 1;
	f->names_len = 1;
	elf_section(f, ".symtab", SHT_SYMTAB, 0, 0, f->sym, 0);
	elf_section(f, ".strtab", SHT_STRTAB, 0, 0, f->names, 0);
	f->sh[SYMTAB].sh_link = STRTAB;
	f->sh[SYMTAB].sh_entsize = sizeof(Elf64_Sym);
}

uint32_t elf_section(struct elf_file *f, const char *name, uint32_t type, uint64_t flags,
		     uint64_t addr, const void *bytes, uint64_t size)
{
	Elf64_Shdr *sh = &f->sh[f->nsh];

	assert_true(f->nsh < ELF_SECTIONS);
	*sh = (Elf64_Shdr){.sh_name = add_name(f, name),
			   .sh_type = type,
			   .sh_flags = flags,
			   .sh_addr = addr,
			   .sh_size = size,
			   .sh_addralign = 16};
	f->bytes[f->nsh] = bytes;
	return f->nsh++;
}

uint32_t elf_symbol(struct elf_file *f, const char *name, int type, uint16_t section,
		    uint64_t value)
{
	assert_true(f->nsym < ELF_SYMBOLS);
	f->sym[f->nsym] = (Elf64_Sym){.st_name = add_name(f, name),
				      .st_info = (uint8_t)ELF64_ST_INFO(STB_GLOBAL, type),
				      .st_shndx = section,
				      .st_value = value};
	return f->nsym++;
}

uint32_t elf_rela(struct elf_file *f, uint32_t to, const Elf64_Rela *rela, size_t n)
{
	uint32_t i = elf_section(f, ".rela", SHT_RELA, SHF_INFO_LINK, 0, rela, n * sizeof(*rela));

	f->sh[i].sh_info = to;
	f->sh[i].sh_link = SYMTAB;
	f->sh[i].sh_entsize = sizeof(*rela);
	return i;
}

uint8_t *elf_make(const struct elf_file *f, size_t *len)
{
	Elf64_Ehdr eh = {.e_type = f->type,
			 .e_machine = EM_X86_64,
			 .e_version = EV_CURRENT,
			 .e_ehsize = sizeof(eh),
			 .e_shentsize = sizeof(Elf64_Shdr),
			 .e_shnum = (uint16_t)f->nsh,
			 .e_shstrndx = STRTAB};
	Elf64_Shdr sh[ELF_SECTIONS];
	uint8_t *out = malloc(1 << 20);
	size_t at = sizeof(eh);

	assert_non_null(out);
	memcpy(eh.e_ident, ELFMAG "\2\1\1", SELFMAG + 3);
	memcpy(sh, f->sh, sizeof(sh));
	sh[SYMTAB].sh_size = f->nsym * sizeof(Elf64_Sym);
	sh[STRTAB].sh_size = f->names_len;
	for (uint32_t i = 1; i < f->nsh; i++) {
		const void *from = i == SYMTAB	 ? (const void *)f->sym
				   : i == STRTAB ? f->names
						 : f->bytes[i];

		sh[i].sh_offset = at;
		if (!from)
			continue;
		assert_true(at + sh[i].sh_size + sizeof(sh) < 1 << 20);
		memcpy(out + at, from, sh[i].sh_size);
		at = (at + sh[i].sh_size + 7) & ~(size_t)7;
	}
	eh.e_shoff = at;
	memcpy(out, &eh, sizeof(eh));
	memcpy(out + at, sh, f->nsh * sizeof(*sh));
	*len = at + f->nsh * sizeof(*sh);
	return out;
}

int file_of_bytes(const void *bytes, size_t len, char path[64])
{
	int fd = memfd_create("ki-test", MFD_CLOEXEC);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, bytes, len), (ssize_t)len);
	snprintf(path, 64, "/proc/self/fd/%d", fd);
	return fd;
}

int open_bytes(const void *bytes, size_t len, struct ki_target **t, struct ki_err *err)
{
	char path[64];
	int fd = file_of_bytes(bytes, len, path);
	int ret = ki_target_new_image(path, t, err);

	close(fd);
	return ret;
}

int open_elf(const struct elf_file *f, const char *map, struct ki_target **t, struct ki_err *err)
{
	size_t len;
	uint8_t *bytes = elf_make(f, &len);
	char path[64], map_path[64];
	int ret, fd, map_fd;

	if (err)
		ki_err_clear(err);
	if (!map) {
		ret = open_bytes(bytes, len, t, err);
	} else {
		fd = file_of_bytes(bytes, len, path);
		map_fd = file_of_bytes(map, strlen(map), map_path);
		ret = ki_target_new_with_map(path, map_path, t, err);
		close(fd);
		close(map_fd);
	}
	free(bytes);
	return ret;
}
