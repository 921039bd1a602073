// SPDX-License-Identifier: GPL-2.0-only
/*
 * The heap in pages of 2 MiB.
 *
 * The kernel's own text is mapped by such pages, and one of them takes one entry of a processor's
 * instruction TLB. So the heap has them, too, after its first step, which is small: who asks for a
 * few patches takes no 2 MiB. Layouts stand in them if they can (heap.c).
 *
 * Such a page is memory in one piece, and there may be none; or a kernel may not have one of the
 * functions that it takes. Then the heap has pages of 4 KiB there, as long as these are in use.
 *
 * It is mapped by the kernel's own function for memory in one piece, which chooses large pages. If
 * there is a table of small pages in its place, that function frees it. But a reader of /proc/kcore
 * may be in that table. So a large page is mapped only where there is no such table; reach.c looks
 * for addresses without any. Memory is made read-only, and executable, as a whole: so neither this
 * mapping nor the direct map is split. What came of it is looked at, not taken for granted.
 */
#include <linux/mm.h>
#include <linux/vmalloc.h>

#include "reach/large.h"
#include "symbols.h"
#include "user.h"

#define KI_LARGE_ORDER (PMD_SHIFT - PAGE_SHIFT)
#define KI_LARGE_REST  (5 * HZ) /* before it is tried again */
#define KI_LARGE_GFP   ((KI_GFP & ~__GFP_RETRY_MAYFAIL) | __GFP_NORETRY)

static unsigned long ki_larges; /* bit n: the n-th of the heap is there */
static enum ki_small ki_small;	/* why the last that was tried is not */
static unsigned long ki_failed; /* when */

static unsigned long addr_of(u32 n)
{
	return (unsigned long)ki_reach_start(KI_REACH_HEAP) + KI_LARGE_FROM + n * PMD_SIZE;
}

static unsigned int level_of(unsigned long addr)
{
	unsigned int level;

	return lookup_address(addr, &level) ? level : PG_LEVEL_NONE;
}

bool ki_large_is_clean(unsigned long heap, u32 n)
{
	while (n--)
		if (level_of(heap + KI_LARGE_FROM + n * PMD_SIZE) != PG_LEVEL_NONE)
			return false;
	return true;
}

u64 ki_reach_larges(enum ki_small *why)
{
	*why = READ_ONCE(ki_small);
	return READ_ONCE(ki_larges);
}

/* The number of the large page that this byte of the heap is in, or could be. */
static u32 number(size_t at)
{
	return (at - KI_LARGE_FROM) / PMD_SIZE;
}

size_t ki_reach_large_end(size_t at)
{
	if (at < KI_LARGE_FROM || at >= KI_HEAP_SIZE || !(READ_ONCE(ki_larges) >> number(at) & 1))
		return at;
	return KI_LARGE_FROM + (number(at) + 1) * PMD_SIZE;
}

/* It is mapped nowhere but in the direct map, and may be written there: else it is never used. */
static void free_large(struct page *p)
{
	unsigned long addr = (unsigned long)page_address(p);

	if (!ki_call(set_memory_rw)(addr, 1 << KI_LARGE_ORDER))
		__free_pages(p, KI_LARGE_ORDER);
}

static int map(unsigned long addr, struct page *p)
{
	int err = ki_map_whole(addr, addr + PMD_SIZE, page_to_phys(p), PAGE_KERNEL);

	if (!err && level_of(addr) != PG_LEVEL_2M)
		err = -ENXIO;
	if (!err)
		err = ki_call(set_memory_ro)(addr, 1 << KI_LARGE_ORDER);
	if (!err)
		err = ki_call(set_memory_x)(addr, 1 << KI_LARGE_ORDER);
	if (!err && level_of(addr) != PG_LEVEL_2M)
		err = -ENXIO;
	if (err)
		ki_call(vunmap_range)(addr, addr + PMD_SIZE);
	return err;
}

static enum ki_small put_in(unsigned long addr)
{
	struct page *p;

	if (level_of(addr) != PG_LEVEL_NONE)
		return KI_SMALL_ADDRESSES;
	if (!ki_reach_leaves(1 << KI_LARGE_ORDER))
		return KI_SMALL_MEMORY;
	p = alloc_pages(KI_LARGE_GFP, KI_LARGE_ORDER);
	if (!p)
		return KI_SMALL_MEMORY;
	memset(page_address(p), KI_INT3, PMD_SIZE);
	if (!map(addr, p))
		return KI_SMALL_NOT;
	free_large(p);
	return KI_SMALL_KERNEL;
}

bool ki_reach_take_large(size_t from)
{
	enum ki_small why = KI_SMALL_KERNEL;

	if (ki_small && time_before(jiffies, ki_failed + KI_LARGE_REST))
		return false;
	if (ki_symbols_large())
		why = put_in(addr_of(number(from)));
	WRITE_ONCE(ki_small, why);
	if (why) {
		ki_failed = jiffies;
		return false;
	}
	WRITE_ONCE(ki_larges, ki_larges | 1ul << number(from));
	ki_reach_count(1 << KI_LARGE_ORDER);
	return true;
}

void ki_large_give(size_t from)
{
	unsigned long addr = addr_of(number(from));
	struct page *p = vmalloc_to_page((void *)addr);

	WRITE_ONCE(ki_larges, ki_larges & ~(1ul << number(from)));
	ki_call(vunmap_range)(addr, addr + PMD_SIZE);
	ki_reach_count(-(1 << KI_LARGE_ORDER));
	free_large(p);
}
