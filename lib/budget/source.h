/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A measurement's parts as something that costs: of a struct ki_measure.
 */
#ifndef KI_BUDGET_SOURCE_H
#define KI_BUDGET_SOURCE_H

#include "kerninst/cost.h"

extern const struct ki_cost_source ki_measure_source;

#endif
