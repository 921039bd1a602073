/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_TARGET_MEMORY_H
#define KI_TARGET_MEMORY_H

#include "kerninst/target.h"

/*
 * A target over the caller's own bytes: for tests, and for looking at the code of this process
 * (base: the address of the bytes). Both views are the bytes, as they are when they are read.
 */
struct ki_memory {
	enum ki_target_kind kind; /* whom it plays; without a descriptor in any case */
	uint64_t base;
	const void *bytes; /* not copied */
	size_t len;
	const struct ki_symbol *symbols; /* addr, name, module (NULL: ""); in any order */
	size_t nsymbols;
	const struct ki_reserved_row *rows; /* in any order */
	size_t nrows;
};

int ki_target_open_memory(const struct ki_memory *m, struct ki_target **out, struct ki_err *err);

#endif
