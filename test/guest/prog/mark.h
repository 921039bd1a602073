/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The marks that the exec_count plugin looks for, and system calls without a C library between:
 * what stands between the marks is what the program says and nothing else.
 */
#ifndef KI_MARK_H
#define KI_MARK_H

#define MARK_BEGIN()                                                                               \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x44, 0x33, 0x22, 0x11" ::: "memory")
#define MARK_END()                                                                                 \
	__asm__ volatile(".byte 0x0f, 0x1f, 0x84, 0x00, 0x55, 0x33, 0x22, 0x11" ::: "memory")

static inline long sys4(long nr, long a, long b, long c, long d)
{
	register long r10 __asm__("r10") = d;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(nr), "D"(a), "S"(b), "d"(c), "r"(r10)
			 : "rcx", "r11", "memory");
	return ret;
}

#endif
