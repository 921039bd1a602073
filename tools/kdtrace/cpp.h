/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KDTRACE_CPP_H
#define KDTRACE_CPP_H

#include <stddef.h>

/*
 * A program after the C preprocessor, with these arguments (-DNAME ...); a first line that begins
 * with #! is left out. Free it. NULL: it failed, and that was said.
 */
char *cpp_run(const char *text, const char *const *args, size_t nargs);

#endif
