/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_CALLEES_INSIDE_H
#define KI_CALLEES_INSIDE_H

#include <stdbool.h>

#include "kerninst/code.h"

/* Is it a call or tail jump whose destination the code does not tell? */
bool ki_callees_is_unknown(const struct ki_function *fn, const struct ki_edge *e);

#endif
