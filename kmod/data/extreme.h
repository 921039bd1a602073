/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Helper EXTREME: where variables are.
 */
#ifndef KI_EXTREME_H
#define KI_EXTREME_H

#include <linux/types.h>

struct ki_extreme_from {
	u64 *globals; /* number 0 */
	s64 counters; /* %gs displacement of number 0 */
	s64 words;    /* that of what says where the thread's words are */
};
extern struct ki_extreme_from ki_extreme_from;

int ki_extreme_init(void);

#endif
