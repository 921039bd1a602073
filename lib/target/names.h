/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where the running kernel's own symbols are, variables and marks of the linker too, which are no
 * text and so in no target's table.
 */
#ifndef KI_TARGET_NAMES_H
#define KI_TARGET_NAMES_H

#include <stddef.h>
#include <stdint.h>

#include "kerninst/err.h"

/* addr[i]: of names[i]; 0: the kernel has none of that name, or does not tell. Modules' are not
   meant. -errno: /proc/kallsyms cannot be read. */
int ki_kernel_names(const char *const *names, uint64_t *addr, size_t n, struct ki_err *err);

#endif
