// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the thread that comes by has used: its CPU time, its process's memory, its kernel stack.
 * They need no arguments, so they are values at any point.
 */
#include <kerninst/instrument.h>

#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>

KI_COUNTER(elsewhere, "calls on a stack that is not the thread's: an interrupt's");

KI_INSTRUMENT(stack_used, "bytes of its kernel stack that the thread uses here", (void))
{
	unsigned long base = (unsigned long)task_stack_page(current);
	unsigned long here = (unsigned long)__builtin_frame_address(0);

	if (here - base < THREAD_SIZE)
		return base + THREAD_SIZE - here;
	ki_count(elsewhere, 1);
	return 0;
}

KI_INSTRUMENT(resident, "bytes of memory that the process has; 0: a thread of the kernel", (void))
{
	return current->mm ? get_mm_rss(current->mm) << PAGE_SHIFT : 0;
}

KI_INSTRUMENT(cpu_time, "nanoseconds that the thread has run until its last tick", (void))
{
	return current->se.sum_exec_runtime;
}

KI_INSTRUMENT_MODULE("what threads have used: CPU time, memory, stack");
