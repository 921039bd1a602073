/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Memory within reach of the kernel's text: addresses, which the driver has from its start to its
 * end, and pages after them, which are taken when they are needed and given back.
 */
#ifndef KI_REACH_H
#define KI_REACH_H

#include <linux/types.h>

/* At most. */
#define KI_HEAP_SIZE 0x4000000
#define KI_GLOBALS   (1u << 20) /* a word for each basic block of the kernel, and more */

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
/* Pages that are taken now. */
unsigned long ki_reach_pages(void);

#endif
