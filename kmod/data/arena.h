/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory of each CPU at one distance from all CPUs' per-CPU bases. Under ki_lock.
 */
#ifndef KI_ARENA_H
#define KI_ARENA_H

#include <linux/types.h>

u32 ki_arena_possible(void); /* the bytes of a CPU that ki_arena_take() gets at most */
void ki_arena_take(void);    /* zeroed; if none is to be had, ki_arena_bytes() stays 0 */
void ki_arena_free(void);
u32 ki_arena_bytes(void);      /* of each possible CPU */
s64 ki_arena_disp(void);       /* from a CPU's base to its slice; its bytes are in reach, too */
void *ki_arena_slice(int cpu); /* whole pages of the direct map */

#endif
