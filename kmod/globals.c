// SPDX-License-Identifier: GPL-2.0-only
/*
 * Global variables: words near the text heap, so that code there reaches them relative to %rip.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "ki.h"
#include "limit.h"

/* A driver for what is put everywhere (KI_WIDE): a word for each basic block of the kernel. */
#ifdef KI_WIDE
#define KI_GLOBALS (1u << 20)
#else
#define KI_GLOBALS 8192
#endif

static u64 ki_global_words[KI_GLOBALS] __aligned(PAGE_SIZE);
static struct ki_slots ki_globals = {.limit = KI_LIMIT_GLOBALS};

int ki_globals_init(void)
{
	return ki_slots_init(&ki_globals, KI_GLOBALS);
}

void ki_globals_exit(void)
{
	ki_slots_exit(&ki_globals);
}

int ki_globals_take(struct ki_session *s, u32 count, u32 *first, u32 *reason)
{
	int err = ki_slots_take(&ki_globals, s, count, first, reason);

	if (!err)
		memset(&ki_global_words[*first], 0, (size_t)count * 8);
	return err;
}

bool ki_globals_own(const struct ki_session *s, u64 n, u64 count)
{
	return ki_slots_own(&ki_globals, s, n, count);
}

int ki_global_set(const struct ki_session *s, u32 n, u64 value)
{
	lockdep_assert_held(&ki_lock);
	if (!ki_globals_own(s, n, 1))
		return -EACCES;
	WRITE_ONCE(ki_global_words[n], value);
	return 0;
}

unsigned long ki_global_addr(u32 n)
{
	return (unsigned long)&ki_global_words[n];
}

void ki_globals_info(struct ki_info *info)
{
	info->globals = KI_GLOBALS;
	info->globals_used = ki_globals.used;
}

int ki_globals_map(struct vm_area_struct *vma)
{
	unsigned long off;
	int err = 0;

	if (vma->vm_end - vma->vm_start != sizeof(ki_global_words))
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	ki_vm_flags_fix(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	for (off = 0; off < sizeof(ki_global_words) && !err; off += PAGE_SIZE)
		err = remap_pfn_range(vma, vma->vm_start + off,
				      vmalloc_to_pfn((void *)ki_global_words + off), PAGE_SIZE,
				      vma->vm_page_prot);
	return err;
}
