/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Make a module of instruments (kerninst/instrument.h) from a C file, for the running kernel; load
 * it.
 */
#ifndef KERNINST_INSTRUMENTS_BUILD_H
#define KERNINST_INSTRUMENTS_BUILD_H

#include <linux/limits.h>

#include "kerninst/callable.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_instruments_build {
	const char *source;  /* FILE.c */
	const char *output;  /* a directory for FILE.ko; NULL: this one */
	const char *headers; /* of the kernel; NULL: /lib/modules/RELEASE/build */
	const char *cc;	     /* NULL: the compiler that the headers ask for */
};

/* Nothing is loaded. make and the compiler say themselves what is wrong with the source: -ECHILD
   then, and err is not set. Else 0, or -errno. */
int ki_instruments_build(const struct ki_instruments_build *o, struct ki_err *err);

/* Where kerninst/instrument.h is: beside the program, as it is installed or built. 0, or -ENOENT.
 */
int ki_instruments_include(char include[PATH_MAX], struct ki_err *err);

/* Has the file instruments, and are all of this version of the interface? 0, or -errno. */
int ki_instruments_check(const char *file, const struct ki_callables *list, struct ki_err *err);

/* Load a module, as insmod does. Its code is not checked. 0, or -errno. */
int ki_instruments_load(const char *file, struct ki_err *err);

#ifdef __cplusplus
}
#endif

#endif
