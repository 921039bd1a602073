/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What the place that snippets are run in and their helpers share.
 */
#ifndef COMMON_SNIPPET_INSIDE_H
#define COMMON_SNIPPET_INSIDE_H

#include "common_snippet.h"

#define TASK_SLOT 2048 /* in the per-CPU area, beyond all counters */
#define CPU_SLOT  2049
#define PID_OFF	  0x104 /* in the fake task */
#define TGID_OFF  0x210
#define COMM_OFF  0x308
#define FLT_OFF	  0x320 /* four numbers of faults and switches */
#define WORDS	  63	/* the routine for a thread's words, in a process */
#define CALLEES	  64	/* numbers from here on are functions of the kernel */
#define STUB_LEN  32
#define STACK_TOP 3072
#define REGS_KEPT 8 /* rcx rdx rsi rdi r8-r11 */

extern uint8_t snip_task[1024];
extern uint64_t snip_words[SNIP_THREAD];
extern struct snip_case *snip_running;
extern struct snip_world *snip_now; /* what helpers work on */

static inline uint64_t snip_mix(uint64_t x)
{
	x = (x ^ x >> 31) * 0x9e3779b97f4a7c15;
	return x ^ x >> 29;
}

static inline uint64_t snip_cut(uint64_t v, unsigned int size)
{
	return size < 8 ? v & ((1ull << 8 * size) - 1) : v;
}

/* Called by code with the number of a helper. */
void snip_entry(void);

/* The same helpers, for the interpreter. */
void snip_helpers(struct ki_machine *m);

#endif
