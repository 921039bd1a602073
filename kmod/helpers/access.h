/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * User memory that is open where a chunk runs.
 *
 * Between stac and clac the kernel may touch user memory, and everywhere else that is an oops
 * (SMAP; SDM, volume 3, section 4.6). The flag, AC, is the CPU's, not the task's: only interrupts
 * keep it, because iret gives it back. A helper is called like a function, also there. Some
 * helpers end in a clac of their own (every copy from user memory does), or let another task run.
 * So such a helper must find the flag closed and leave it as it found it. So must one that calls
 * what others may have hooked (a BPF program may read user memory, and its trampoline keeps no
 * flags).
 */
#ifndef KI_ACCESS_H
#define KI_ACCESS_H

#include <linux/irqflags.h>
#include <linux/preempt.h>
#include <asm/processor-flags.h>

/* popf rather than stac and clac: objtool wants to see these in pairs. */
static __always_inline void ki_flags_set(unsigned long flags)
{
	asm volatile("push %0; popf" ::"rm"(flags) : "memory", "cc");
}

/* Closes it; what ki_access_restore wants. In between other flags may change and stay changed. */
static __always_inline unsigned long ki_access_close(void)
{
	unsigned long flags = native_save_fl();

	if (unlikely(flags & X86_EFLAGS_AC))
		ki_flags_set(flags & ~X86_EFLAGS_AC);
	return flags;
}

static __always_inline void ki_access_restore(unsigned long flags)
{
	if (unlikely(flags & X86_EFLAGS_AC))
		ki_flags_set(native_save_fl() | X86_EFLAGS_AC);
}

/* preempt_enable_notrace, from a helper. */
static __always_inline void ki_preempt_enable(void)
{
#ifdef CONFIG_PREEMPTION
	unsigned long flags;

	barrier();
	if (unlikely(__preempt_count_dec_and_test())) {
		flags = ki_access_close();
		__preempt_schedule_notrace();
		ki_access_restore(flags);
	}
#else
	preempt_enable_notrace();
#endif
}

#endif
