/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's linker in small: a window's patch from copies and chunks, placed in this process.
 */
#ifndef COMMON_LINK_H
#define COMMON_LINK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/kerninst.h"

/*
 * Write the patch of a window at `at`: for each displaced instruction the chunks before it, or a
 * jump to its replacement, its copy, the chunks after it; a jump back after the window (never
 * reached if nothing falls through); then the chunks of taken sides, each with a jump to where the
 * branch goes. Chunks of one place in the order of their `order`, equal ones as they are listed.
 * Counter n is at displacement 8 * n. Returns its length; 0 if a fixup does not reach, or a chunk
 * stands at a side that its instruction does not have.
 */
size_t link_patch(uint8_t *at, const struct ki_window *w, const struct ki_copy *copies,
		  const struct ki_chunk *const *chunks, size_t nchunks);

/* A jump from one address to another. */
void link_jump(uint8_t *at, uint64_t to);

#endif
