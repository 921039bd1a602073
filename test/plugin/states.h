/* SPDX-License-Identifier: GPL-2.0-only */
/* States in which functions were called, as states.c writes them: one after the other. */
#ifndef KI_TEST_PLUGIN_STATES_H
#define KI_TEST_PLUGIN_STATES_H

#include <stdint.h>

#define STATE_REGS   15 /* rax rcx rdx rbx rbp rsi rdi r8 to r15 */
#define STATE_BLOCK  256
#define STATE_BLOCKS 24

/* Memory at an address that is a multiple of its size. */
struct state_block {
	uint64_t addr;
	uint64_t words[STATE_BLOCK / 8];
};

struct state {
	uint64_t entry, regs[STATE_REGS], flags;
	uint64_t nblocks;
	struct state_block blocks[STATE_BLOCKS]; /* nblocks of them are in a file */
};

/* What is no address of the kernel's image, but of its memory; with page tables of five levels,
   which begins lower. */
static inline int state_is_memory(uint64_t word)
{
	return word >= 0xff00000000000000ull && word < 0xffffffff80000000ull;
}

#endif
