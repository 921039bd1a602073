/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/* A relocatable ELF file while it is made: bytes and references of each section, and symbols. */
#ifndef KI_MODULE_FILE_H
#define KI_MODULE_FILE_H

#include <elf.h>

#include "module/module.h"
#include "util/vec.h"

/* The first two are in every file: symbols are in these only. An empty one of the others is not. */
enum ki_module_section {
	KI_MODULE_TEXT,
	KI_MODULE_THIS,
	KI_MODULE_INFO,
	KI_MODULE_VERSIONS,
	KI_MODULE_ORC_IP,
	KI_MODULE_ORC,
	KI_MODULE_FAULTS,
	KI_MODULE_BUGS,
	KI_MODULE_JUMPS,
	KI_MODULE_CALLS,
	KI_MODULE_SECTIONS
};

struct ki_module_part {
	ki_vec(uint8_t) bytes;
	ki_vec(Elf64_Rela) relas;
};

struct ki_module_file {
	struct ki_module_part parts[KI_MODULE_SECTIONS];
	ki_vec(Elf64_Sym) symbols;
	ki_vec(char) strings;
};

/* What all functions return: 0, or -ENOMEM. */
int ki_module_file_init(struct ki_module_file *f);
void ki_module_file_free(struct ki_module_file *f);

/* Append n bytes; NULL: zeros. */
int ki_module_put(struct ki_module_file *f, enum ki_module_section s, const void *bytes, size_t n);

/* At offset off of the section is place + addend, as R_X86_64_... says. The bytes there are 0. */
int ki_module_refer(struct ki_module_file *f, enum ki_module_section s, uint32_t type, uint64_t off,
		    const struct ki_module_place *place, int64_t addend);

/* section: KI_MODULE_TEXT or KI_MODULE_THIS; type: STT_FUNC or STT_OBJECT. */
int ki_module_name(struct ki_module_file *f, enum ki_module_section s, unsigned int type,
		   const char *name, uint64_t off, uint64_t size);

/* *out: the caller frees. */
int ki_module_write(const struct ki_module_file *f, void **out, size_t *size);

/* Is all of it possible? 0, or -EINVAL and more, with err. */
int ki_module_check(const struct ki_module_kernel *k, const struct ki_module_code *c,
		    struct ki_err *err);

/* The section of the code, as it is to be when it is loaded. */
int ki_module_put_code(struct ki_module_file *f, const struct ki_module_code *c,
		       struct ki_err *err);

#endif
