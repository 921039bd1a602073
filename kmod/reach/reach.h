/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory within reach of the kernel's text: addresses, which the driver has from its start to its
 * end, and pages after them, which are taken when they are needed and given back.
 */
#ifndef KI_REACH_H
#define KI_REACH_H

#include <linux/types.h>

#include "uapi/kerninst.h"

/* At most. */
#define KI_HEAP_SIZE 0x4000000
#define KI_GLOBALS   (1u << 20) /* a word for each basic block of the kernel, and more */

/* So many first bytes of the heap are in small pages; then each 2 MiB may be one page. */
#define KI_LARGE_FROM 0x100000

enum ki_reach {
	KI_REACH_HEAP, /* to be executed, full of int3 at first; all else is to be written, and 0 */
	KI_REACH_ORC_IPS, /* rows of the unwinder: their addresses */
	KI_REACH_ORCS,	  /* and what they say */
	KI_REACH_EXS,	  /* rows of exceptions */
	KI_REACH_BUGS,	  /* rows of bugs */
	KI_REACH_BUGS_OF, /* what the driver knows of each of these */
	KI_REACH_ORIGINS,
	KI_REACH_GLOBALS,
	KI_REACHES
};

int ki_reach_init(void);
void ki_reach_exit(void); /* no CPU looks at any of it */
void *ki_reach_start(enum ki_reach what);
/*
 * Pages for the bytes [from, to), which are whole pages and have none; charged to the caller's
 * control group. -ENOMEM: nothing was taken; there are too few, or others would have too few left.
 */
int __must_check ki_reach_take(enum ki_reach what, size_t from, size_t to);
/* No CPU looks there any more. What has no page is passed over. */
void ki_reach_give(enum ki_reach what, size_t from, size_t to);
/*
 * As ki_reach_take for 2 MiB of the heap, in one page; from: a page's place. False: there is none,
 * nothing was taken. It goes as a whole (ki_reach_give).
 */
bool __must_check ki_reach_take_large(size_t from);
/* The end of the large page that this byte of the heap is in; the byte itself: it is in none. */
size_t ki_reach_large_end(size_t at);
/* Bit n: the heap's n-th is one; and why the last that was tried is not. */
u64 ki_reach_larges(enum ki_small *why);
/* Pages that are taken now, of 4 KiB or as many as that. */
unsigned long ki_reach_pages(void);

#endif
