// SPDX-License-Identifier: GPL-2.0-only
/*
 * Global variables: words near the text heap, so that code there reaches them relative to %rip.
 *
 * A page of them has memory while one of its words is a session's. User space maps all; a page that
 * is looked at gets memory, too, so a reader before it is a session's sees zeros, and later what
 * is written there. As long as a process has them mapped a page stays: else a reader might go on
 * looking at memory that is another's by then.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "ki.h"
#include "account/limit.h"
#include "reach/reach.h"

#define KI_WORDS (PAGE_SIZE / sizeof(u64)) /* of a page */
#define KI_PAGES (KI_GLOBALS / KI_WORDS)

static void forget(u32 first, u32 count);
static struct ki_slots ki_globals = {.forget = forget, .limit = KI_LIMIT_GLOBALS};

static DEFINE_MUTEX(ki_global_pages_lock); /* inside ki_lock, and inside mmap_lock */
static u16 ki_words_of[KI_PAGES];	   /* that are a session's */
static DECLARE_BITMAP(ki_has_memory, KI_PAGES);
static unsigned long ki_mappings;

static u64 *word(u32 n)
{
	return (u64 *)ki_reach_start(KI_REACH_GLOBALS) + n;
}

int ki_globals_init(void)
{
	ki_slots_init(&ki_globals, KI_GLOBALS);
	return 0;
}

static void give_page(u32 i)
{
	if (ki_words_of[i] || ki_mappings || !test_bit(i, ki_has_memory))
		return;
	ki_reach_give(KI_REACH_GLOBALS, i * PAGE_SIZE, (i + 1) * PAGE_SIZE);
	__clear_bit(i, ki_has_memory);
}

/* Words of page i that are in [first, first + count). */
static u32 words_in(u32 i, u32 first, u32 count)
{
	return min_t(u32, first + count, (i + 1) * KI_WORDS) - max_t(u32, first, i * KI_WORDS);
}

static int take_page(u32 i)
{
	int err = 0;

	if (!test_bit(i, ki_has_memory))
		err = ki_reach_take(KI_REACH_GLOBALS, i * PAGE_SIZE, (i + 1) * PAGE_SIZE);
	if (!err)
		__set_bit(i, ki_has_memory);
	return err;
}

static int take_pages(u32 first, u32 count)
{
	u32 i, last = (first + count - 1) / KI_WORDS;
	int err = 0;

	mutex_lock(&ki_global_pages_lock);
	for (i = first / KI_WORDS; i <= last; i++) {
		if (!err)
			err = take_page(i);
		ki_words_of[i] += words_in(i, first, count); /* forget() takes them all back */
	}
	mutex_unlock(&ki_global_pages_lock);
	return err;
}

static void forget(u32 first, u32 count)
{
	u32 i;

	mutex_lock(&ki_global_pages_lock);
	for (i = first / KI_WORDS; i <= (first + count - 1) / KI_WORDS; i++) {
		ki_words_of[i] -= words_in(i, first, count);
		give_page(i);
	}
	mutex_unlock(&ki_global_pages_lock);
}

int ki_globals_take(struct ki_session *s, u32 count, u32 *first, u32 *reason)
{
	int err = ki_slots_take(&ki_globals, s, count, first, reason);
	LIST_HEAD(run);

	lockdep_assert_held(&ki_lock);
	if (err)
		return err;
	err = take_pages(*first, count);
	if (!err) {
		memset(word(*first), 0, (size_t)count * sizeof(u64));
		return 0;
	}
	list_move(s->runs.prev, &run);
	ki_runs_drop(&run);
	*first = 0;
	*reason = KI_R_NO_MEMORY;
	return err;
}

bool ki_globals_own(const struct ki_session *s, u64 n, u64 count)
{
	lockdep_assert_held(&ki_lock);
	return ki_slots_own(&ki_globals, s, n, count);
}

int ki_global_set(const struct ki_session *s, u32 n, u64 value)
{
	lockdep_assert_held(&ki_lock);
	if (!ki_globals_own(s, n, 1))
		return -EACCES;
	WRITE_ONCE(*word(n), value);
	return 0;
}

unsigned long ki_global_addr(u32 n)
{
	return (unsigned long)word(n);
}

void ki_globals_info(struct ki_info *info)
{
	lockdep_assert_held(&ki_lock);
	info->globals = KI_GLOBALS;
	info->globals_used = ki_globals.used;
}

static void come(struct vm_area_struct *vma)
{
	mutex_lock(&ki_global_pages_lock);
	ki_mappings++;
	mutex_unlock(&ki_global_pages_lock);
}

static void go(struct vm_area_struct *vma)
{
	u32 i;

	mutex_lock(&ki_global_pages_lock);
	ki_mappings--;
	for (i = 0; i < KI_PAGES; i++)
		give_page(i);
	mutex_unlock(&ki_global_pages_lock);
}

static vm_fault_t look(struct vm_fault *vmf)
{
	unsigned long i = vmf->pgoff - (KI_MAP_GLOBALS >> PAGE_SHIFT);
	vm_fault_t answer = VM_FAULT_SIGBUS;

	mutex_lock(&ki_global_pages_lock);
	if (i < KI_PAGES && !take_page(i)) {
		vmf->page = vmalloc_to_page(word(i * KI_WORDS));
		get_page(vmf->page);
		answer = 0;
	}
	mutex_unlock(&ki_global_pages_lock);
	return answer;
}

static const struct vm_operations_struct ki_global_mapping = {
	.open = come,
	.close = go,
	.fault = look,
};

int ki_globals_map(struct vm_area_struct *vma)
{
	if (vma->vm_end - vma->vm_start != KI_GLOBALS * sizeof(u64))
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	ki_vm_flags_fix(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	vma->vm_ops = &ki_global_mapping;
	come(vma);
	return 0;
}
