/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_EVOLVE_INSIDE_H
#define KI_EVOLVE_INSIDE_H

#include "kerninst/evolve.h"
#include "util/vec.h"

/* A function that is laid out. */
struct ki_evolved {
	struct ki_function *fn;
	struct ki_spans spans;
	uint32_t *order;
	struct ki_layout l;  /* of these, and where its chunk is */
	unsigned int reason; /* why it cannot be in the plan */
};

struct ki_evolve {
	struct ki_target *t;
	struct ki_evolve_options o;
	struct ki_plan *apart; /* each function in a patch of its own */
	struct ki_plan *plan;  /* what is put in: that, or all together; NULL: not chosen yet */
	ki_vec(struct ki_evolved) v;
};

/* Whether what a call of it takes can be measured, found by doing so for a moment. */
bool ki_evolve_can_judge(struct ki_target *t, const struct ki_symbol *sym);

#endif
