/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A part of kerninst.h: minimum and maximum of variables.
 */
#ifndef _UAPI_KERNINST_EXTREME_H
#define _UAPI_KERNINST_EXTREME_H

#include <linux/types.h>

/*
 * What %edi is for helper EXTREME: the number of a variable of the session, and what it is. It is
 * put there the moment before the call (mov $imm32, %edi). With INDEXED %rdx is added to the
 * number: `cmp $last, %rdx` and `ja` stand the moment before that.
 */
#define KI_EXTREME(number, of, size, flags)                                                        \
	((__u32)(number)*KI_EXTREME_NUMBER | (of) << 5 | (size)*KI_EXTREME_SIZE | (flags))
#define KI_EXTREME_MAX	   0x1 /* the larger one, not the smaller one */
#define KI_EXTREME_SIGNED  0x2
#define KI_EXTREME_INDEXED 0x4
#define KI_EXTREME_SIZE	   0x8 /* 0..3: 1, 2, 4, 8 bytes */
#define KI_EXTREME_OF(v)   ((v) >> 5 & 3)
#define KI_EXTREME_NUMBER  0x80
enum ki_extreme_of { KI_EXTREME_CPU, KI_EXTREME_GLOBAL, KI_EXTREME_THREAD };

#endif
