/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_TARGET_KCORE_H
#define KI_TARGET_KCORE_H

#include <elf.h>
#include <stdbool.h>
#include <stddef.h>

#include "kerninst/err.h"

/* /proc/kcore, open. All zero: not opened yet. */
struct ki_kcore {
	int fd;
	Elf64_Phdr *ph;
	size_t nph;
	bool open;
};

/* Copy kernel memory; opens path when first used. 0, or a negative errno and *err says why. */
int ki_kcore_read(struct ki_kcore *k, const char *path, uint64_t addr, void *buf, size_t len,
		  struct ki_err *err);

/* The kernel's memory map is read again at the next use. */
void ki_kcore_close(struct ki_kcore *k);

#endif
