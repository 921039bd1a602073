/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What the code of a plan's chunks costs, in instructions of one pass.
 */
#ifndef KI_METRIC_PRICE_H
#define KI_METRIC_PRICE_H

#include "kerninst/splice.h"

struct price {
	double least;	/* nothing is to be done */
	double counted; /* it is counted, and the action left out */
	double most;
};

/*
 * A chunk's code by itself. never: this counter and the next one (KI_NONE: none) mark ways which
 * are not usual, such as that of a fault; they are left out, and most is the longest of the others.
 */
struct price ki_price_of_code(const struct ki_plan *p, uint32_t id, uint32_t never);

/* With its part of the jumps of its window, which those share that are there
 * (ki_plan_count_active). */
struct price ki_price_of_chunk(const struct ki_plan *p, uint32_t id, struct price inner);

#endif
