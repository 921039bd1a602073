/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A part of kerninst.h: minimum and maximum of variables.
 */
#ifndef _UAPI_KERNINST_MINMAX_H
#define _UAPI_KERNINST_MINMAX_H

#include <linux/types.h>

/*
 * What %edi is for helper MINMAX: the number of a variable of the session, and what it is. It is
 * put there the moment before the call (mov $imm32, %edi). With INDEXED %rdx is added to the
 * number: `cmp $last, %rdx` and `ja` stand the moment before that.
 */
#define KI_MINMAX(number, of, size, flags)                                                         \
	((__u32)(number)*KI_MINMAX_NUMBER | (of) << 5 | (size)*KI_MINMAX_SIZE | (flags))
#define KI_MINMAX_MAX	  0x1 /* the larger one, not the smaller one */
#define KI_MINMAX_SIGNED  0x2
#define KI_MINMAX_INDEXED 0x4
#define KI_MINMAX_SIZE	  0x8 /* 0..3: 1, 2, 4, 8 bytes */
#define KI_MINMAX_OF(v)	  ((v) >> 5 & 3)
#define KI_MINMAX_NUMBER  0x80
enum ki_minmax_of { KI_MINMAX_CPU, KI_MINMAX_GLOBAL, KI_MINMAX_THREAD };

#endif
