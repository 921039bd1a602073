/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef KDTRACE_COST_H
#define KDTRACE_COST_H

#include <stdbool.h>
#include <stdio.h>

#include "kerninst/dlang.h"

/* What the program has cost, if it was measured: as lines of JSON, or a table. -EIO, -ENOMEM. */
int cost_print(const struct ki_dlang *d, FILE *out, bool json);

#endif
