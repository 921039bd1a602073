/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Lifted functions, laid out in one patch: the library's plan, the driver's own linker
 * (common_linker.h), and springboards in the lifted text.
 */
#ifndef LIFT_LAY_H
#define LIFT_LAY_H

#include "common_linker.h"
#include "kerninst/evolve.h"
#include "lift.h"

/* Where breakpoints are told of. */
typedef void lay_trap(uint64_t addr, uint64_t via);

/* What stood there before. */
struct lay_text {
	uint64_t start;
	size_t len;
	uint8_t *bytes;
};

struct laid {
	struct ki_plan *plan;
	struct linked linked;
	const uint8_t *patch;
	struct lay_text *texts;
	size_t ntexts;
	bool asks; /* it has static branches that ask their keys */
};

/* Where the kernel's table of static branches is; before the first layout. */
void lay_branches(uint64_t start, uint64_t end);

/*
 * n functions, in order of address, at `patch`, which has `room` bytes. KI_R_OK, or why they are
 * not laid out. There are no springboards yet: lay_switch puts them in and takes them out. Of
 * several, calls of each other ask linker_users before they pass the text by.
 */
unsigned int lay_in(struct laid *out, struct ki_layout *l, size_t n, uint8_t *patch, size_t room);
void lay_switch(struct laid *v, bool on, lay_trap *trap);
void lay_free(struct laid *v); /* out, too */

/* Where the function begins in the patch, or after its ftrace site; 0: neither is in it. */
uint64_t lay_entry(const struct laid *v);

/* Whether an address in the patch stands for one of the text: the same instruction, or after the
   same one, as a return address is. */
bool lay_stands_for(const struct laid *v, uint64_t addr, uint64_t text);

#endif
