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

/* An argument of a function, by the kernel's types. */
struct ki_argument {
	unsigned int bytes; /* of its register; 0: not known */
	bool number;	    /* or an enum; else a pointer */
};

/*
 * The first n; all of what is not known (no types, no such function, arguments that are passed
 * otherwise) has no bytes. module: "" the kernel.
 */
void ki_kernel_arguments(const char *module, const char *function, struct ki_argument *v, size_t n);

#endif
