/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_EVOLVE_INSIDE_H
#define KI_EVOLVE_INSIDE_H

#include "kerninst/evolve.h"
#include "util/vec.h"

struct ki_evolve {
	struct ki_target *t;
	struct ki_evolve_options o;
	struct ki_plan *plan;
	ki_vec(const struct ki_symbol *) syms; /* of each chunk of the plan */
};

#endif
