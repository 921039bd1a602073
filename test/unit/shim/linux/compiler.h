/* SPDX-License-Identifier: GPL-2.0-only */
/* What the kernel's header of this name gives to files of the driver that tests compile in. */
#ifndef SHIM_COMPILER_H
#define SHIM_COMPILER_H

#define likely(x)	      __builtin_expect(!!(x), 1)
#define unlikely(x)	      __builtin_expect(!!(x), 0)
#define READ_ONCE(x)	      (*(const volatile __typeof__(x) *)&(x))
#define WRITE_ONCE(x, v)      (*(volatile __typeof__(x) *)&(x) = (v))
#define barrier()	      __asm__ volatile("" : : : "memory")
#define OPTIMIZER_HIDE_VAR(v) __asm__("" : "+r"(v))
#define notrace
#undef __always_inline
#define __always_inline inline __attribute__((always_inline))
#define noinline	__attribute__((noinline))

#endif
