/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Options that name files of the reference's which nothing is read from here.
 */
#ifndef KDTRACE_PATHS_H
#define KDTRACE_PATHS_H

#include "options.h"

/* The value of an option of the command line, the last one; NULL: it is not set. */
const char *paths_value(const struct options *o, const char *name);

/* For who debugs: ctfpath names no archive of types. */
void paths_debug(const struct options *o);

/* The linker that ldpath names, if it cannot be run, and errno; NULL: it can, or is looked for. */
const char *paths_lacks_linker(const struct options *o);

#endif
