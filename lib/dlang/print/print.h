/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * print(): a value with its type, and what it has inside.
 */
#ifndef KI_DLANG_PRINT_H
#define KI_DLANG_PRINT_H

#include <stdio.h>

#include "dlang/program.h"

/* "struct task_struct", "unsigned long": a type without its pointers. */
void ki_d_type_base(struct ki_d_types *t, struct ki_d_type type, char *text, size_t size);

/* What stands at an address; of a value that is longer than n bytes, only these. */
void ki_d_print_at(struct ki_dlang *d, FILE *f, struct ki_d_type type, uint64_t addr,
		   const uint8_t *bytes, size_t n);

#endif
