/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Where the running kernel's structures have their members: its BTF tells.
 */
#ifndef KI_MODULE_TYPES_H
#define KI_MODULE_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "kerninst/err.h"

struct ki_member {
	const char *in, *name; /* a member of struct `in` ... */
	const char *of;	       /* ... which is itself one of struct `of`; NULL */
	uint32_t off; /* bytes from the outer one's beginning; KI_NO_MEMBER: there is none */
};

#define KI_NO_MEMBER UINT32_MAX

struct ki_structure {
	const char *name;
	uint32_t size; /* 0: there is none */
};

/* Fills off and size. -ENOTSUP: the kernel tells no types, or this was built without libbpf. */
int ki_kernel_types(struct ki_member *members, size_t nmembers, struct ki_structure *structures,
		    size_t nstructures, struct ki_err *err);

/*
 * How many bytes of its register an argument of a function has: of a number, an enum, a pointer.
 * 0: not known (no types, no such function, arguments that are passed otherwise). module: "" the
 * kernel.
 */
unsigned int ki_kernel_argument(const char *module, const char *function, unsigned int n);

/* Is it a number, or an enum? The same may not be known. */
bool ki_kernel_is_number(const char *module, const char *function, unsigned int n);

#endif
