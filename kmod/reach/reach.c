// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory within reach of the kernel's text.
 *
 * Patches jump to the kernel and back, and rows of the kernel's tables hold distances of 32 bits;
 * so both must lie among the modules. When the driver starts it reserves a range of addresses
 * there, as large as all that may ever be needed, after its own text. That takes no memory. Pages
 * come in when something is to be there, and go when nothing is: they are put into the kernel's
 * page table and taken out again by the functions that it has for drivers (apply_to_page_range;
 * those of 2 MiB: large.c). Nothing else knows of them: the kernel's own list of the range has no
 * pages. So what it does with the range (/proc/vmallocinfo, /proc/kcore, its end) does not depend
 * on how many there are.
 *
 * A reader without locks may have begun before a page is to go: the one that gives pages back has
 * seen to it that new readers stay away, and waited for those that were there. Then the page is
 * taken out, all CPUs forget where it was, and only then is it free.
 *
 * The kernel can write all memory where it maps all memory (the direct map). As for a module's text
 * that is taken from a page with code, and given back with it.
 */
#include <linux/mm.h>
#include <linux/moduleparam.h>
#include <linux/vmalloc.h>
#include <asm/tlbflush.h>

#include "compat.h"
#include "heap/rows.h"
#include "reach/large.h"
#include "reach/reach.h"
#include "symbols.h"
#include "user.h"
#include "yield.h"

#define KI_KEEP_FREE 8 /* of the memory one part in so many is left to others */
#define KI_CLEAN     4 /* large pages that are to have a place; where is looked for so often */
#define KI_PLACES    64

#if defined(CONFIG_KASAN) && !defined(CONFIG_KASAN_VMALLOC)
#error "KASAN needs KASAN_VMALLOC: else it knows nothing of what is mapped among the modules"
#endif

static const size_t ki_sizes[KI_REACHES] = {
	[KI_REACH_HEAP] = KI_HEAP_SIZE,
	[KI_REACH_ORC_IPS] = KI_HEAP_ORCS * sizeof(int),
	[KI_REACH_ORCS] = KI_HEAP_ORCS * sizeof(struct orc_entry),
	[KI_REACH_EXS] = KI_HEAP_EXS * sizeof(struct exception_table_entry),
	[KI_REACH_BUGS] = KI_BUG_ROWS * sizeof(struct bug_entry),
	[KI_REACH_BUGS_OF] = KI_BUG_ROWS * sizeof(struct ki_bug_of),
	[KI_REACH_ORIGINS] = KI_HEAP_UNITS * sizeof(u32),
	[KI_REACH_GLOBALS] = KI_GLOBALS * sizeof(u64),
};

static struct vm_struct *ki_range;
static void *ki_starts[KI_REACHES];
static atomic_long_t ki_taken;
static struct mm_struct *ki_kernel_mm;

/* Pages on their way into the page table, or out of it. */
struct ki_moving {
	struct list_head pages;
	unsigned long n;
};

static int show_taken(char *buffer, const struct kernel_param *unused)
{
	return sysfs_emit(buffer, "%lu\n", ki_reach_pages());
}

static const struct kernel_param_ops ki_taken_ops = {.get = show_taken};
module_param_cb(pages_taken, &ki_taken_ops, NULL, 0444);
MODULE_PARM_DESC(pages_taken,
		 "pages (4 KiB) that patches, their rows and global variables take now");

unsigned long ki_reach_pages(void)
{
	return atomic_long_read(&ki_taken);
}

void *ki_reach_start(enum ki_reach what)
{
	return ki_starts[what];
}

void ki_reach_count(long n)
{
	atomic_long_add(n, &ki_taken);
}

bool ki_reach_leaves(unsigned long n)
{
	return si_mem_available() >= (long)(n + totalram_pages() / KI_KEEP_FREE);
}

static void free_all(struct ki_moving *m)
{
	struct page *p, *next;

	list_for_each_entry_safe (p, next, &m->pages, lru) {
		list_del(&p->lru);
		__free_page(p);
		ki_yield();
	}
}

static int allocate(struct ki_moving *m, unsigned long n, u8 byte)
{
	if (!ki_reach_leaves(n))
		return -ENOMEM;
	while (m->n < n) {
		struct page *p = alloc_page(KI_GFP);

		if (!p) {
			free_all(m);
			return -ENOMEM;
		}
		memset(page_address(p), byte, PAGE_SIZE);
		list_add_tail(&p->lru, &m->pages);
		m->n++;
		ki_yield();
	}
	return 0;
}

static int put_in(pte_t *pte, unsigned long addr, void *arg)
{
	struct ki_moving *m = arg;
	struct page *p = list_first_entry(&m->pages, struct page, lru);

	list_del(&p->lru);
	set_pte_at(ki_kernel_mm, addr, pte, mk_pte(p, PAGE_KERNEL));
	m->n--;
	return 0;
}

static int take_out(pte_t *pte, unsigned long addr, void *arg)
{
	struct ki_moving *m = arg;
	pte_t was = ptep_get_and_clear(ki_kernel_mm, addr, pte);

	list_add_tail(&pte_page(was)->lru, &m->pages);
	m->n++;
	return 0;
}

/* No code may write to it any more, here or in the direct map, and all may execute it. */
static int make_code(unsigned long start, unsigned long n)
{
	int err = ki_call(set_memory_ro)(start, n);

	return err ? err : ki_call(set_memory_x)(start, n);
}

/* They may be written in the direct map again; what could not be made so is never used again. */
static void make_plain(struct ki_moving *m)
{
	struct page *p, *next;

	list_for_each_entry_safe (p, next, &m->pages, lru)
		if (ki_call(set_direct_map_default_noflush)(p))
			list_del(&p->lru);
}

int ki_reach_take(enum ki_reach what, size_t from, size_t to)
{
	bool code = what == KI_REACH_HEAP;
	struct ki_moving m = {LIST_HEAD_INIT(m.pages)};
	unsigned long start = (unsigned long)ki_starts[what] + from, n = (to - from) / PAGE_SIZE;
	int err;

	if (!n)
		return 0;
	err = allocate(&m, n, code ? KI_INT3 : 0);
	if (err)
		return err;
	err = apply_to_page_range(ki_kernel_mm, start, n * PAGE_SIZE, put_in, &m);
	ki_reach_count(n - m.n);
	if (!err && code)
		err = make_code(start, n);
	if (!err)
		return 0;
	free_all(&m); /* there was no memory for a page table */
	ki_reach_give(what, from, to);
	return -ENOMEM;
}

/* No page of these is a large one. */
static void give_small(enum ki_reach what, size_t from, size_t to)
{
	struct ki_moving m = {LIST_HEAD_INIT(m.pages)};
	unsigned long start = (unsigned long)ki_starts[what] + from;
	bool code = what == KI_REACH_HEAP;

	if (from == to ||
	    ki_call(apply_to_existing_page_range)(ki_kernel_mm, start, to - from, take_out, &m))
		return;
	if (code)
		make_plain(&m);
	ki_call(flush_tlb_kernel_range)(start, code ? TLB_FLUSH_ALL : start + (to - from));
	ki_reach_count(-(long)m.n);
	free_all(&m);
}

void ki_reach_give(enum ki_reach what, size_t from, size_t to)
{
	size_t at = from, end;

	for (; what == KI_REACH_HEAP && at < to; at = max(end, at + KI_LARGE_FROM)) {
		end = ki_reach_large_end(at);
		if (end == at)
			continue;
		give_small(what, from, at);
		ki_large_give(at);
		from = end;
	}
	give_small(what, from, to);
}

/* So many addresses from there on, or any. */
static struct vm_struct *reserve(size_t size, unsigned long from)
{
	return ki_call(__get_vm_area_caller)(size, VM_MAP, from, MODULES_END, ki_reach_init);
}

/* The heap begins where its large pages can be. */
static unsigned long heap_in(const struct vm_struct *range)
{
	return ALIGN((unsigned long)range->addr + KI_LARGE_FROM, PMD_SIZE) - KI_LARGE_FROM;
}

/* After the driver's text; if there is such a place, where no tables of small pages are. */
static struct vm_struct *find_range(size_t size)
{
	struct vm_struct *range = reserve(size, KI_MODULE_TEXT(THIS_MODULE));
	unsigned long from;
	int i;

	for (i = 0; range && i < KI_PLACES && !ki_large_is_clean(heap_in(range), KI_CLEAN); i++) {
		from = (unsigned long)range->addr + PMD_SIZE;
		free_vm_area(range);
		range = reserve(size, from);
	}
	return range ? range : reserve(size, MODULES_VADDR);
}

int ki_reach_init(void)
{
	size_t size = PMD_SIZE; /* that the heap can begin where it is to */
	void *at;
	int i;

	for (i = 0; i < KI_REACHES; i++)
		size += PAGE_ALIGN(ki_sizes[i]);
	ki_kernel_mm = (struct mm_struct *)ki_symbol("init_mm");
	ki_range = find_range(size);
	if (!ki_range) {
		pr_err("kerninst: no %zu MiB of addresses are free among the modules\n",
		       size >> 20);
		return -ENOMEM;
	}
	at = (void *)heap_in(ki_range);
	for (i = 0; i < KI_REACHES; at += PAGE_ALIGN(ki_sizes[i]), i++)
		ki_starts[i] = at;
	return 0;
}

void ki_reach_exit(void)
{
	int i;

	for (i = 0; i < KI_REACHES; i++)
		ki_reach_give(i, 0, PAGE_ALIGN(ki_sizes[i]));
	free_vm_area(ki_range);
}

bool ki_heap_holds(unsigned long addr)
{
	return addr - (unsigned long)ki_reach_start(KI_REACH_HEAP) < KI_HEAP_SIZE ||
	       addr - (unsigned long)ki_returned < KI_RETURNS;
}
