/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KDTRACE_LIST_H
#define KDTRACE_LIST_H

#include <stdio.h>

#include "kerninst/dlang.h"

/* What -l prints: the probes of a program that has been matched, and what has matched none. */
void list_probes(struct ki_dlang *d, FILE *out, bool with_arguments);
/* Three lines below a title. */
void list_stability(FILE *out, const char *of, const struct ki_dlang_stability *is);

#endif
