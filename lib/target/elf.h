/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_TARGET_ELF_H
#define KI_TARGET_ELF_H

#include <elf.h>
#include <stddef.h>

#include "kerninst/err.h"

/* An ELF file for x86-64 that is open for reading. */
struct ki_elf {
	const char *path; /* not owned */
	struct ki_err *err;
	int fd;
	uint64_t size;	 /* of the file */
	uint64_t budget; /* bytes that may still be read */
	Elf64_Ehdr eh;
	Elf64_Shdr *sh;
	uint32_t nsh;
	char *names;
	uint64_t names_len;
};

/* 0, or a negative errno and *err says why. ki_elf_close in any case. */
int ki_elf_open(struct ki_elf *e, const char *path, struct ki_err *err);
void ki_elf_close(struct ki_elf *e);

/* The name of a section, "" if it has none that can be read. */
const char *ki_elf_name(const struct ki_elf *e, uint32_t section);

/* The bytes of a section in the file, with a 0 after them; the caller frees. */
int ki_elf_read(struct ki_elf *e, uint32_t section, uint8_t **bytes);

/* Will ki_elf_read find that much in the file? 0, or its error; counts as read. */
int ki_elf_check(struct ki_elf *e, uint32_t section);

/* -EINVAL: what is wrong with the file. */
int ki_elf_bad(const struct ki_elf *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
int ki_elf_no_memory(const struct ki_elf *e);

/* All of len bytes at off: 0, -ENODATA (the file ends before), or another negative errno. */
int ki_pread(int fd, void *buf, size_t len, uint64_t off);

#endif
