// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory of single pages, charged to the caller, that the kernel sees as one piece by vmap and
 * user space by mmap: rings, tables, tables of stacks and of strings.
 */
#include <linux/mm.h>
#include <linux/sched/signal.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "array.h"
#include "compat.h"
#include "ki.h"
#include "account/limit.h"
#include "account/pages.h"
#include "yield.h"

#define KI_PAGES_SHARE 8 /* all of one kind take at most this part of the memory */
#define KI_PAGES_KINDS 4
#define KI_PAGE_FLAGS  (GFP_KERNEL_ACCOUNT | __GFP_ZERO | __GFP_RETRY_MAYFAIL | __GFP_NOWARN)

int ki_pages_charge(struct ki_account *a, u64 *all, u64 n)
{
	u32 unsaid;
	int err;

	lockdep_assert_held(&ki_lock);
	if (*all + n > totalram_pages() / KI_PAGES_SHARE)
		return -ENOMEM;
	err = ki_account_take(a, KI_LIMIT_PAGES, n, &unsaid);
	if (!err)
		*all += n;
	return err;
}

u64 ki_pages_total(void)
{
	return KI_PAGES_KINDS * (totalram_pages() / KI_PAGES_SHARE);
}

void ki_pages_give(struct ki_account *a, u64 *all, u64 n)
{
	lockdep_assert_held(&ki_lock);
	ki_account_give(a, KI_LIMIT_PAGES, n);
	*all -= n;
}

u16 ki_pages_reason(int err)
{
	switch (err) {
	case -EFAULT:
		return KI_R_BAD_REQUEST;
	case -EDQUOT:
		return KI_R_LIMIT_PAGES;
	case -EINTR: /* killed: no task reads it */
		return KI_R_OK;
	default:
		return KI_R_NO_MEMORY;
	}
}

int ki_pages_take(struct page **v, u64 n)
{
	u64 i;

	for (i = 0; i < n; i++) {
		v[i] = alloc_pages(KI_PAGE_FLAGS, 0);
		if (!v[i])
			return -ENOMEM;
		if (fatal_signal_pending(current))
			return -EINTR;
		ki_yield();
	}
	return 0;
}

void ki_pages_free(struct page **v, u64 n)
{
	u64 i;

	for (i = 0; v && i < n; i++) {
		if (v[i])
			__free_page(v[i]);
		ki_yield();
	}
	ki_array_free(v);
}

int ki_pages_map(struct vm_area_struct *vma, struct page *const *v, u64 n)
{
	int err = 0;
	u64 i;

	if (vma->vm_end - vma->vm_start != n * PAGE_SIZE)
		return -EINVAL;
	for (i = 0; i < n && !err; i++) {
		err = remap_pfn_range(vma, vma->vm_start + i * PAGE_SIZE, page_to_pfn(v[i]),
				      PAGE_SIZE, vma->vm_page_prot);
		if (!err && fatal_signal_pending(current))
			err = -EINTR;
		ki_yield();
	}
	return err;
}

int ki_sheet_new(struct ki_sheet *s, struct ki_account *a, u64 *all, u64 n)
{
	int err = ki_pages_charge(a, all, n);

	lockdep_assert_held(&ki_lock);
	if (err)
		return err;
	*s = (struct ki_sheet){.n = n, .account = a, .all = all};
	s->page = ki_array(n, sizeof(*s->page), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!s->page)
		return -ENOMEM;
	err = ki_pages_take(s->page, n);
	if (err)
		return err;
	s->at = vmap(s->page, n, VM_MAP, PAGE_KERNEL);
	return s->at ? 0 : -ENOMEM;
}

void ki_sheet_free(struct ki_sheet *s)
{
	lockdep_assert_held(&ki_lock);
	vunmap(s->at);
	ki_pages_free(s->page, s->n);
	if (s->account)
		ki_pages_give(s->account, s->all, s->n);
}

int ki_sheet_map(struct vm_area_struct *vma, const struct ki_sheet *s)
{
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	ki_vm_flags_fix(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	return ki_pages_map(vma, s->page, s->n);
}
