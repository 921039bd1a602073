/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A table of stacks inside: what is mapped, and what is known of the processes in it, for all files
 * that have stacks of it.
 */
#ifndef KI_RECORD_STACKS_H
#define KI_RECORD_STACKS_H

#include "kerninst/record.h"
#include "record/users.h"

#define STACKS_PAGE 4096

/* Which processes have been looked at: those of rows whose bit is set. */
struct ki_stacks_looked {
	struct ki_users *users;
	uint64_t rows; /* that were there the last time */
	uint8_t *bits;
};

struct ki_stacks_map {
	const uint8_t *base; /* a page with the head, and the rows */
	uint64_t bytes;
	uint32_t rows, stride, frames, number;
	struct ki_stacks_looked *looked;
};

/* -ENOMEM. What is mapped has been filled in. */
int ki_stacks_begin(struct ki_stacks_map *m);
void ki_stacks_end(struct ki_stacks_map *m);

/* Look at the processes whose stacks are new in the table. */
void ki_stacks_look(const struct ki_stacks_map *m);

#endif
