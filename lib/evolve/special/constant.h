/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What registers and flags are known to hold at a place.
 */
#ifndef KI_EVOLVE_CONSTANT_H
#define KI_EVOLVE_CONSTANT_H

#include "code/decode/operation.h"

struct ki_constants {
	uint64_t v[16];
	uint16_t known;	     /* registers: a bit for each */
	uint16_t half;	     /* the same of those whose bits 0 to 31 are known: more than `known` */
	uint8_t flags;	     /* KI_FLAG_* */
	uint8_t flags_known; /* of them */
};

/* Memory that does not change any more: reads it, or false. */
struct ki_constant_memory {
	bool (*read)(void *arg, uint64_t addr, void *out, size_t size);
	void *arg;
};

/* After the instruction. A call is ki_constants_call's. */
void ki_constants_step(struct ki_constants *c, const struct ki_operation *op,
		       const struct ki_constant_memory *m);

/* After a call of a function: what it keeps is known as before. */
void ki_constants_call(struct ki_constants *c);

/* Where two ways join: what both know. True: *to knows less than before. */
bool ki_constants_join(struct ki_constants *to, const struct ki_constants *from);

/* Is the condition known: 1 true, 0 false; -1 no. */
int ki_constants_condition(const struct ki_constants *c, uint8_t condition);

/* The value of an operand: of a number all of it, else without what is above its size. False: it is
   not known. */
bool ki_constants_value(const struct ki_constants *c, const struct ki_operand *o,
			const struct ki_constant_memory *m, uint64_t *out);

#endif
