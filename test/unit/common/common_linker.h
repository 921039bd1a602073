/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's own linker (kmod/patch/patch.c, link.c, lay.c, copy.c), compiled into this process
 * over a kernel's own decoder: a group of windows becomes a patch, in memory of ours.
 */
#ifndef COMMON_LINKER_H
#define COMMON_LINKER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "uapi/kerninst.h"

struct linked {
	unsigned int reason; /* KI_R_OK, or why there is no patch */
	uint32_t len;
	uint32_t *at; /* of each window: where it begins in the patch; free() */
	uint32_t *to; /* of each window with KI_WINDOW_CALL: where its call leads; free() */
	uint32_t orcs, calls;
};

/* Where the first of those who use ftrace is noted. If alone, it is linker_ours. */
extern unsigned long *linker_users, linker_ours;
extern bool linker_alone;
/* The functions' starts, in which an ftrace site may stand first; 0 after the last. */
extern unsigned long linker_starts[128];

/* Of a static branch: its key's number, and whether it is taken while the key is off. */
extern void (*linker_branch)(unsigned long addr, unsigned long *key, bool *off);
#define LINKER_ASKS 7 /* bytes that ask a key */
/* Of a static call: its trampoline. */
extern unsigned long (*linker_trampoline)(unsigned long addr);

/* A group of n windows, all of them, of one request; its patch is written at `heap`. */
struct linked linker_link(uint8_t *heap, const struct ki_window *windows, uint32_t n,
			  const struct ki_copy *copies, const struct ki_chunk *const *chunks,
			  uint32_t nchunks);

#endif
