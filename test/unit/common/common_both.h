/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * One instruction where it stands and its relocated copy elsewhere, executed from the same
 * registers, flags, vectors and memory. Everything that they may change is compared: also where
 * control went, what is on the stack, and how they fault.
 */
#ifndef COMMON_BOTH_H
#define COMMON_BOTH_H

#include "common_case.h"
#include "uapi/kerninst.h"

enum { PAD_BEHIND = 1, PAD_TAKEN };

struct both {
	int signal;	  /* of the original: how it ended, 0: at a pad */
	uint32_t pad;	  /* which */
	const char *what; /* what differs, or NULL */
};

/* Memory, handlers; in each test, since cmocka has handlers of its own. */
void both_init(struct case_world *w);

/* Other data, vectors and unused stack for those to come. */
void both_refill(void);

/* The place of the next instruction. */
uint64_t both_next(void);

/* False: the copy cannot be placed, something is out of its reach. */
bool both_run(const struct insn_case *c, const struct ki_copy *copy, struct both *out);

/* Does the original do different things each time? After both_run. */
bool both_unstable(const struct insn_case *c);

#endif
