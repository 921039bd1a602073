/* SPDX-License-Identifier: GPL-2.0-only */
#ifndef COMMON_CFG_H
#define COMMON_CFG_H

#include "kerninst/code.h"

/* The function's graph, its loops, and edge counts from block counts. */
void check_cfg(const struct ki_function *fn);

#endif
