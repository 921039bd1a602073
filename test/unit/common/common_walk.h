/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * For tests that go through much real code at random: every function of the C library, or of
 * another image.
 */
#ifndef COMMON_WALK_H
#define COMMON_WALK_H

#include "kerninst/code.h"

typedef int walk_fn(void *ctx, size_t i, const struct ki_function *fn);

/*
 * fn for each function. KI_TEST_IMAGE: of this file instead, a vmlinux; KI_TEST_MAP: its
 * System.map. What cannot be read fails the test.
 */
void walk_functions(walk_fn *fn, void *ctx);

/* A number below n; *state: where the sequence is. */
uint32_t walk_draw(uint64_t *state, uint32_t n);

/* Whoever begins the block may not come to its end. */
bool walk_may_stop(const struct ki_function *fn, const struct ki_block *b);

#endif
