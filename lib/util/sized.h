/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Structures of options begin with their size, as the caller was compiled with it: a program that
 * was built with another version is told so.
 */
#ifndef KI_UTIL_SIZED_H
#define KI_UTIL_SIZED_H

#include <errno.h>

#include "kerninst/err.h"

/* 0; -EINVAL: it is another's. */
static inline int ki_sized(size_t given, size_t wanted, const char *what, struct ki_err *err)
{
	return given == wanted
		       ? 0
		       : ki_err_set(err, -EINVAL, 0,
				    "%s: options of %zu bytes, this library's have %zu: set "
				    "size to sizeof, and compile again",
				    what, given, wanted);
}

#endif
