/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Kernel functions that modules cannot link to, as static calls: ki_call(name)(arguments).
 */
#ifndef KI_SYMBOLS_H
#define KI_SYMBOLS_H

#include <linux/ftrace.h>
#include <linux/io.h>
#include <linux/kallsyms.h>
#include <linux/kprobes.h>
#include <linux/memory.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/perf_event.h>
#include <linux/sched/mm.h>
#include <linux/sched/task_stack.h>
#include <linux/set_memory.h>
#include <linux/static_call.h>
#include <linux/task_work.h>
#include <linux/vmalloc.h>
#include <linux/wait.h>
#include <asm/alternative.h>
#include <asm/insn.h>
#include <asm/text-patching.h>
#include <asm/tlbflush.h>

#include "compat.h"

/* Name; what it needs is declared by the kernel's headers. */
#define KI_KERNEL_CALLS(X)                                                                         \
	X(text_poke)                                                                               \
	X(insn_decode)                                                                             \
	X(kallsyms_lookup_size_offset)                                                             \
	X(ftrace_location_range)                                                                   \
	X(alternatives_text_reserved)                                                              \
	X(get_kprobe)                                                                              \
	X(idle_task)                                                                               \
	X(task_call_func)                                                                          \
	X(put_task_stack)                                                                          \
	X(find_ge_pid)                                                                             \
	X(mm_access)                                                                               \
	X(do_madvise)                                                                              \
	X(nmi_uaccess_okay)                                                                        \
	X(task_work_add)                                                                           \
	X(perf_event_read_local)                                                                   \
	X(perf_event_ksymbol)                                                                      \
	X(__module_address)                                                                        \
	X(mod_tree_insert)                                                                         \
	X(mod_tree_remove)                                                                         \
	X(module_bug_finalize)                                                                     \
	X(module_bug_cleanup)                                                                      \
	X(__get_vm_area_caller)                                                                    \
	X(flush_tlb_kernel_range)                                                                  \
	X(apply_to_existing_page_range)                                                            \
	X(set_memory_ro)                                                                           \
	X(set_memory_x)                                                                            \
	X(set_direct_map_default_noflush)

/* The heap has small pages on a kernel without one of these. */
#define KI_LARGE_CALLS(X)                                                                          \
	KI_MAP_WHOLE(X)                                                                            \
	X(vunmap_range)                                                                            \
	X(set_memory_rw)

/* Modules do not see their declarations. */
bool(nmi_uaccess_okay)(void);
void flush_tlb_kernel_range(unsigned long start, unsigned long end);
void mod_tree_insert(struct module *mod);
void mod_tree_remove(struct module *mod);

#define KI_DECLARE_CALL(name) DECLARE_STATIC_CALL(ki_##name, name);
KI_KERNEL_CALLS(KI_DECLARE_CALL)
KI_LARGE_CALLS(KI_DECLARE_CALL)

bool ki_symbols_large(void); /* are those of KI_LARGE_CALLS there? */

#define ki_call(name) static_call(ki_##name)

#endif
