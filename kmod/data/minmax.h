/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helper MINMAX: where variables are.
 */
#ifndef KI_MINMAX_H
#define KI_MINMAX_H

#include <linux/types.h>

struct ki_minmax_from {
	u64 *globals; /* number 0 */
	s64 counters; /* %gs displacement of number 0 */
	s64 words;    /* that of what says where the thread's words are */
};
extern struct ki_minmax_from ki_minmax_from;

int ki_minmax_init(void);

#endif
