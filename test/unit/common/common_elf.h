/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * ELF files of our own making, and files of any bytes.
 */
#ifndef COMMON_ELF_H
#define COMMON_ELF_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <elf.h>

#include "kerninst/target.h"

#define ELF_SECTIONS 24
#define ELF_SYMBOLS  64

/* A file that is put together: sections with their bytes (not copied), symbols, then made. */
struct elf_file {
	uint16_t type;
	Elf64_Shdr sh[ELF_SECTIONS];
	const void *bytes[ELF_SECTIONS];
	uint32_t nsh;
	Elf64_Sym sym[ELF_SYMBOLS];
	uint32_t nsym;
	char names[4096];
	uint32_t names_len;
};

void elf_start(struct elf_file *f, uint16_t type);

/* Number of the new section. bytes: NULL for SHT_NOBITS. */
uint32_t elf_section(struct elf_file *f, const char *name, uint32_t type, uint64_t flags,
		     uint64_t addr, const void *bytes, uint64_t size);

/* Number of the new symbol. */
uint32_t elf_symbol(struct elf_file *f, const char *name, int type, uint16_t section,
		    uint64_t value);

/* The section of relocations for section `to`. */
uint32_t elf_rela(struct elf_file *f, uint32_t to, const Elf64_Rela *rela, size_t n);

/* The file's bytes; the caller frees. */
uint8_t *elf_make(const struct elf_file *f, size_t *len);

/* A descriptor of a file in memory with these bytes, and a path to it. */
int file_of_bytes(const void *bytes, size_t len, char path[64]);

/* Open it as an image; with the text of a System.map unless that is NULL. */
int open_elf(const struct elf_file *f, const char *map, struct ki_target **t, struct ki_err *err);
int open_bytes(const void *bytes, size_t len, struct ki_target **t, struct ki_err *err);

#endif
