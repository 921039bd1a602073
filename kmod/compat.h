/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * All that differs between kernel versions, as features. Nothing else looks at a version.
 */
#ifndef KI_COMPAT_H
#define KI_COMPAT_H

#include <linux/version.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/objtool.h>
#include <linux/sched.h>
#include <asm/cpufeature.h>
#include <asm/orc_types.h>
#include <asm/processor.h>

/* cpuid() has a header of its own since 6.16. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 16, 0)
#include <asm/cpuid/api.h>
#endif

/* Since 6.4 a module's memory is an array of regions by type. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define KI_MODULE_TEXT(mod)	 ((unsigned long)(mod)->mem[MOD_TEXT].base)
#define KI_MODULE_TEXT_SIZE(mod) ((mod)->mem[MOD_TEXT].size)

static inline void ki_module_set_text(struct module *mod, void *start, unsigned int size)
{
	mod->mem[MOD_TEXT].base = start;
	mod->mem[MOD_TEXT].size = size;
}
#else
#define KI_MODULE_TEXT(mod)	 ((unsigned long)(mod)->core_layout.base)
#define KI_MODULE_TEXT_SIZE(mod) ((mod)->core_layout.text_size)

static inline void ki_module_set_text(struct module *mod, void *start, unsigned int size)
{
	mod->core_layout.base = start;
	mod->core_layout.size = mod->core_layout.text_size = size;
}
#endif

/* Tasks that execute nothing of the memory that they may have. Since 6.4 some of them are no
 * io_uring's. */
#ifdef PF_USER_WORKER
#define KI_TASKS_OF_KERNEL (PF_KTHREAD | PF_IO_WORKER | PF_USER_WORKER)
#else
#define KI_TASKS_OF_KERNEL (PF_KTHREAD | PF_IO_WORKER)
#endif

/* The largest order of pages the buddy allocator has was called MAX_ORDER - 1 until 6.4. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
#define KI_PAGE_ORDER_MAX MAX_PAGE_ORDER
#elif LINUX_VERSION_CODE >= KERNEL_VERSION(6, 4, 0)
#define KI_PAGE_ORDER_MAX MAX_ORDER
#else
#define KI_PAGE_ORDER_MAX (MAX_ORDER - 1)
#endif

/* Takes exactly these pages, which are of one zone; -EBUSY: what is there cannot be moved. Kernels
 * since 6.16 are told less. */
#ifdef CONFIG_CONTIG_ALLOC
static inline int ki_take_pages(unsigned long first, unsigned long end)
{
#ifdef ACR_FLAGS_NONE
	return alloc_contig_range(first, end, ACR_FLAGS_NONE, GFP_KERNEL | __GFP_NOWARN);
#else
	return alloc_contig_range(first, end, MIGRATE_MOVABLE, GFP_KERNEL | __GFP_NOWARN);
#endif
}
#endif

/* What maps memory in one piece, in pages as large as can be, had another name until 6.9. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 9, 0)
#define KI_MAP_WHOLE(X) X(vmap_page_range)
#define ki_map_whole	ki_call(vmap_page_range)
#else
#define KI_MAP_WHOLE(X) X(ioremap_page_range)
#define ki_map_whole	ki_call(ioremap_page_range)
#endif

/* Since 6.2 the kernel may, to track the depth of calls, write into padding before functions. */
static inline bool ki_padding_is_code(void)
{
#ifdef X86_FEATURE_CALL_DEPTH
	return boot_cpu_has(X86_FEATURE_CALL_DEPTH);
#else
	return false;
#endif
}

/* From 6.2 to 6.14 what is used most was in one per-CPU structure. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 2, 0) && LINUX_VERSION_CODE < KERNEL_VERSION(6, 15, 0)
#define KI_CURRENT_TASK pcpu_hot.current_task
#define KI_CPU_NUMBER	pcpu_hot.cpu_number
#else
#define KI_CURRENT_TASK current_task
#define KI_CPU_NUMBER	cpu_number
#endif

/* Of a task whose run queue is locked: is it what that CPU runs? (Never another's, with one CPU.)
 */
static inline bool ki_has_cpu(const struct task_struct *t)
{
#ifdef CONFIG_SMP
	return READ_ONCE(t->on_cpu);
#else
	return false;
#endif
}

/* Until 6.4 the types of the unwinder's rows were those of its hints. */
#ifdef ORC_TYPE_CALL
#define KI_ORC_CALL ORC_TYPE_CALL
#else
#define KI_ORC_CALL UNWIND_HINT_TYPE_CALL
#endif

/* Keys of sysrq are bytes since 6.8; rows of sysctls are constant since 6.11, and counted
 * since 6.6. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 8, 0)
typedef u8 ki_sysrq_key;
#else
typedef int ki_sysrq_key;
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 11, 0)
typedef const struct ctl_table ki_sysctl_row;
#else
typedef struct ctl_table ki_sysctl_row;
#endif
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 6, 0)
#define ki_register_sysctl(path, rows, n) register_sysctl_sz(path, rows, n)
#else
#define ki_register_sysctl(path, rows, n) register_sysctl(path, rows)
#endif

/* A page of another address space, whose mmap_lock is held and is not let go. */
static inline long ki_user_page(struct mm_struct *mm, unsigned long addr, unsigned int flags,
				struct page **page)
{
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 5, 0)
	return get_user_pages_remote(mm, addr, 1, flags, page, NULL);
#else
	return get_user_pages_remote(mm, addr, 1, flags, page, NULL, NULL);
#endif
}

/* Since 6.3 the flags of a mapping are set by helpers. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 3, 0)
#define ki_vm_flags_fix(vma, set, clear) vm_flags_mod(vma, set, clear)
#else
#define ki_vm_flags_fix(vma, set, clear)                                                           \
	((vma)->vm_flags = ((vma)->vm_flags & ~(unsigned long)(clear)) | (set))
#endif

/* The kernel's queues of work that stays on its CPU, and of work that any CPU does, have had these
 * names since 6.17. */
#if LINUX_VERSION_CODE >= KERNEL_VERSION(6, 17, 0)
#define KI_QUEUE_HERE	  system_percpu_wq
#define KI_QUEUE_ANYWHERE system_dfl_wq
#else
#define KI_QUEUE_HERE	  system_wq
#define KI_QUEUE_ANYWHERE system_unbound_wq
#endif

/* They are a set of bits, and no number, where there is a name for an empty one. */
#ifdef EMPTY_VMA_FLAGS
#define KI_VMA_NORESERVE mk_vma_flags(VMA_NORESERVE_BIT)
#else
#define KI_VMA_NORESERVE VM_NORESERVE
#endif

/* Newer kernels say one thing more when a task ends: what does not take it does not see it. */
typedef void ki_exit_hook(void *, struct task_struct *);
typedef void ki_exit_hook_more(void *, struct task_struct *, bool);
#define KI_CHECK_EXIT_HOOK(check)                                                                  \
	static_assert(__builtin_types_compatible_p(typeof(check), void(ki_exit_hook *)) ||         \
		      __builtin_types_compatible_p(typeof(check), void(ki_exit_hook_more *)))

/* Who else uses a module: an element of its list. The kernel's headers have lost it since 6.17. */
struct ki_module_use {
	struct list_head source_list, target_list;
	struct module *source, *target;
};

#endif
