/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_EVOLVE_ORDER_H
#define KI_EVOLVE_ORDER_H

#include "kerninst/evolve.h"

/* What it is worth that control goes `count` times over `distance` bytes: 0 is to fall. */
double ki_lay_worth(uint64_t count, int64_t distance);

#endif
