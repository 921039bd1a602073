/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KDTRACE_LIBRARY_H
#define KDTRACE_LIBRARY_H

#include "options.h"

/* All programs (NAME.d) in a directory, each behind those that it depends on: declarations. One
 * that wants a module that is not there is left out. False: it cannot be, which has been said. */
bool library_add(struct options *o, const char *directory);

/* The text of a file, "-": of the standard input; NULL: it cannot be, which has been said. */
char *library_read(const char *name);

#endif
