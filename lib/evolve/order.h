/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#ifndef KI_EVOLVE_ORDER_H
#define KI_EVOLVE_ORDER_H

#include "kerninst/evolve.h"

/* A function among others: bytes of its hot blocks, and how many of them are executed in all. */
struct ki_lay_function {
	uint64_t size, heat;
};

struct ki_lay_call {
	uint32_t from, to; /* numbers of functions */
	uint64_t count;
};

/* order[]: the numbers of n functions, each once. Calls are brought into another order. -ENOMEM. */
int ki_lay_chain(const struct ki_lay_function *f, uint32_t n, struct ki_lay_call *calls,
		 size_t ncalls, uint32_t *order);

/* What it is worth that control goes `count` times over `distance` bytes: 0 is to fall. */
double ki_lay_worth(uint64_t count, int64_t distance);

#endif
