/* SPDX-License-Identifier: GPL-2.0-only */
/* The kernel's names of integers and marks, for tests that compile files of the driver in. */
#ifndef KERNEL_TYPES_H
#define KERNEL_TYPES_H

#include <stdint.h>

typedef uint8_t u8;
typedef uint16_t u16;
typedef uint32_t u32;
typedef uint64_t u64;
typedef int8_t s8;
typedef int32_t s32;
typedef int64_t s64;

#define __must_check __attribute__((warn_unused_result))
#define __must_hold(lock)
#define lockdep_assert_held(lock) ((void)0)

#define KI_ARRAY_H
#define ki_array(n, each, flags) calloc(n, each)
#define ki_array_free(p)	 free((void *)(p))

#endif
