/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The file that transfers.c writes: a header, then `ninsns` rows of instructions in order of
 * address, then `ntransfers` rows of transfers in order of (from, to). Addresses are the low
 * halves of kernel addresses at or above KI_TRACE_KERNEL; 0 stands for everything else.
 */
#ifndef KI_TRANSFERS_H
#define KI_TRANSFERS_H

#include <stdint.h>

#define KI_TRACE_MAGIC	0x314543415254494bull /* "KITRACE1" */
#define KI_TRACE_KERNEL 0xffffffff80000000ull
#define KI_TRACE_PHASES 6

struct ki_trace_header {
	uint64_t magic;
	uint32_t vcpus, phases; /* phases: how many there were, the boot included */
	uint64_t ninsns, ntransfers;
	uint64_t lost; /* TBs of which it is not known where they were left: 0 */
};

struct ki_trace_insn {
	uint32_t addr, zero;
	uint64_t count[KI_TRACE_PHASES];
};

struct ki_trace_transfer {
	uint32_t from, to;
	uint64_t count[KI_TRACE_PHASES];
};

#endif
