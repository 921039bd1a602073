// SPDX-License-Identifier: GPL-2.0-only
/*
 * Memory that one instruction, `incq %gs:disp32`, can reach.
 *
 * %gs holds the base of the CPU's per-CPU area. So what such an instruction reaches must lie at
 * the same distance from every CPU's base, within 2 GiB. The kernel has 8 KiB of such memory for
 * modules, all of them together. A process maps whole pages, and none of these is sure to be had.
 * So we make our own: pages whose distances from each other are those of the bases.
 *
 * Few CPUs of one memory node have bases that stand close together (0.25 to 2 MiB apart). A block
 * of contiguous pages that spans all of them holds a slice for each CPU at the right distance:
 *
 *	slice(cpu) = block + (base(cpu) - lowest base)
 *	disp       = slice(cpu) - base(cpu) = block - lowest base	 the same for all
 *
 * With many CPUs, or several nodes, no block is so long. Since 6.15 a block may also be too far. A
 * base is then 2 GiB below the CPU's area, and further by what the kernel's text was moved; of what
 * lies below the area little is in reach. So we choose the distance first, and take exactly the
 * pages that lie there, for each CPU (alloc_contig_range, which moves what is in its way). Pages
 * that are free are tried first, at all distances in reach in steps of 2 MiB; after these, pages
 * that can be moved, for a second.
 *
 * It may not work out: bases that are not in the direct map (percpu_alloc=page), memory full of
 * what cannot be moved, a kernel without CONFIG_CONTIG_ALLOC. Then there is no arena.
 */
#include <linux/gfp.h>
#include <linux/memory_hotplug.h>
#include <linux/mm.h>
#include <linux/percpu.h>
#include <linux/sort.h>

#include "array.h"
#include "compat.h"
#include "ki.h"
#include "data/arena.h"
#include "user.h"
#include "yield.h"

#define KI_ARENA_BYTES (256 * 1024) /* of one CPU, at most: 32,768 counters */
#define KI_ARENA_LEAST (64 * 1024)  /* if so many are not to be had */
#define KI_ARENA_STEP  PMD_SIZE
#define KI_ARENA_TIME  HZ /* for pages that have to be moved */

static struct {
	u32 bytes; /* of one CPU; 0: there is none */
	s64 disp;
	unsigned long block; /* contiguous pages for all; 0: ranges */
	unsigned int order;
	unsigned long *bases; /* rising; of the possible CPUs */
	u32 n;
} ki_arena;

u32 ki_arena_bytes(void)
{
	return ki_arena.bytes;
}

s64 ki_arena_disp(void)
{
	return ki_arena.disp;
}

void *ki_arena_slice(int cpu)
{
	return (void *)(per_cpu_offset(cpu) + ki_arena.disp);
}

static bool in_reach(s64 disp, u32 bytes)
{
	return disp == (s32)disp && disp + bytes == (s32)(disp + bytes);
}

static int by_address(const void *a, const void *b)
{
	unsigned long x = *(const unsigned long *)a, y = *(const unsigned long *)b;

	return x < y ? -1 : x > y;
}

static int sort_bases(void)
{
	int cpu;

	ki_arena.n = 0;
	ki_arena.bases = ki_array(num_possible_cpus(), sizeof(*ki_arena.bases), KI_GFP);
	if (!ki_arena.bases)
		return -ENOMEM;
	for_each_possible_cpu (cpu)
		ki_arena.bases[ki_arena.n++] = per_cpu_offset(cpu);
	sort(ki_arena.bases, ki_arena.n, sizeof(*ki_arena.bases), by_address, NULL);
	return 0;
}

/* Whole pages of a CPU that no other CPU's slice would lie in. */
static u32 bytes_between(void)
{
	unsigned long nearest = KI_ARENA_BYTES;
	u32 i;

	for (i = 1; i < ki_arena.n; i++)
		nearest = min(nearest, ki_arena.bases[i] - ki_arena.bases[i - 1]);
	return nearest & PAGE_MASK;
}

static bool take_block(u32 bytes)
{
	unsigned long spread = ki_arena.bases[ki_arena.n - 1] - ki_arena.bases[0];

	if (spread + bytes > (PAGE_SIZE << KI_PAGE_ORDER_MAX))
		return false;
	ki_arena.order = get_order(spread + bytes);
	ki_arena.block = __get_free_pages(KI_GFP | __GFP_ZERO | __GFP_COMP, ki_arena.order);
	if (!ki_arena.block)
		return false;
	ki_arena.disp = (s64)(ki_arena.block - ki_arena.bases[0]);
	if (in_reach(ki_arena.disp, bytes))
		return true;
	free_pages(ki_arena.block, ki_arena.order);
	ki_arena.block = 0;
	return false;
}

#ifdef CONFIG_CONTIG_ALLOC
/* One past the last base whose slice is taken together with that of base i. */
static u32 range_end(u32 i)
{
	do
		i++;
	while (i < ki_arena.n && ki_arena.bases[i] - ki_arena.bases[i - 1] <= PMD_SIZE);
	return i;
}

static bool is_free(struct page *page, unsigned long pfn)
{
	unsigned int order;

	for (order = 0; order <= KI_PAGE_ORDER_MAX; order++) {
		struct page *head = page - (pfn & ((1UL << order) - 1));

		if (PageBuddy(head) && page_private(head) >= order)
			return true;
	}
	return false;
}

/* A guess, as nothing is locked: alloc_contig_range() knows. */
static bool is_movable(struct page *page)
{
	return !PageReserved(page) && !PageCompound(page) &&
	       (PageLRU(page) || !page_ref_count(page));
}

/* Are these pages of one zone, free, or (!free) such as can be moved? And what is next to them? */
static bool is_to_be_had(unsigned long start, u64 bytes, bool free)
{
	unsigned long pfn = pageblock_start_pfn(__pa(start) >> PAGE_SHIFT);
	unsigned long end = pageblock_end_pfn((__pa(start + bytes) - 1) >> PAGE_SHIFT);
	struct zone *zone = NULL;

	for (; pfn < end; pfn++) {
		struct page *page = pfn_to_online_page(pfn);

		if (!page || (zone && page_zone(page) != zone))
			return false;
		zone = page_zone(page);
		if (page_zonenum(page) != ZONE_NORMAL && page_zonenum(page) != ZONE_DMA32)
			return false;
		if (!is_free(page, pfn) && (free || !is_movable(page)))
			return false;
	}
	return true;
}

static u64 range_bytes(u32 i, u32 end, u32 bytes)
{
	return ki_arena.bases[end - 1] - ki_arena.bases[i] + bytes;
}

static bool are_to_be_had(s64 disp, u32 bytes, bool free)
{
	u32 i, end;

	for (i = 0; i < ki_arena.n; i = end) {
		unsigned long start = ki_arena.bases[i] + disp;

		end = range_end(i);
		if (start < PAGE_OFFSET || !virt_addr_valid((void *)start) ||
		    !is_to_be_had(start, range_bytes(i, end, bytes), free))
			return false;
	}
	return true;
}

static void free_part(unsigned long start, u64 bytes)
{
	if (bytes)
		free_contig_range(__pa(start) >> PAGE_SHIFT, bytes >> PAGE_SHIFT);
}

static void free_slices(s64 disp, u32 bytes, u32 count)
{
	u32 i;

	for (i = 0; i < count; i++)
		free_part(ki_arena.bases[i] + disp, bytes);
}

/* The slices of bases i to end, by one range, as no part of a page block is taken next to what is
 * taken already; and back goes what lies between them. */
static bool take_range(u32 i, u32 end, s64 disp, u32 bytes)
{
	unsigned long first = __pa(ki_arena.bases[i] + disp) >> PAGE_SHIFT;

	if (ki_take_pages(first, first + (range_bytes(i, end, bytes) >> PAGE_SHIFT)))
		return false;
	for (; i < end; i++) {
		unsigned long slice = ki_arena.bases[i] + disp;

		memset((void *)slice, 0, bytes);
		if (i + 1 < end)
			free_part(slice + bytes, ki_arena.bases[i + 1] - ki_arena.bases[i] - bytes);
	}
	return true;
}

static bool take_slices(s64 disp, u32 bytes)
{
	u32 i, end;

	for (i = 0; i < ki_arena.n; i = end) {
		end = range_end(i);
		if (!take_range(i, end, disp, bytes)) {
			free_slices(disp, bytes, i);
			return false;
		}
	}
	return true;
}

/* Tries the distances in reach, the near ones first. */
static bool take_in_reach(u32 bytes, bool free)
{
	s64 variable = (__force s64)&KI_CURRENT_TASK & PAGE_MASK, k;
	unsigned long until = jiffies + KI_ARENA_TIME;

	for (k = 1; k < 2 * (s64)(0x100000000 / KI_ARENA_STEP); k++) {
		s64 disp = variable + (k & 1 ? (k + 1) / 2 : -k / 2) * (s64)KI_ARENA_STEP;

		if (!free && time_after(jiffies, until))
			return false;
		ki_yield();
		if (!in_reach(disp, bytes) || !are_to_be_had(disp, bytes, free) ||
		    !take_slices(disp, bytes))
			continue;
		ki_arena.disp = disp;
		return true;
	}
	return false;
}

static u32 take_any(u32 most)
{
	u32 least = min_t(u32, most, KI_ARENA_LEAST);
	const struct {
		u32 bytes;
		bool free;
	} tries[] = {{most, true}, {least, true}, {most, false}, {least, false}};
	size_t i;

	for (i = 0; i < ARRAY_SIZE(tries); i++)
		if (take_in_reach(tries[i].bytes, tries[i].free))
			return tries[i].bytes;
	return 0;
}
#else
static void free_slices(s64 disp, u32 bytes, u32 count)
{
}

static u32 take_any(u32 most)
{
	return 0;
}
#endif

static void forget_bases(void)
{
	ki_array_free(ki_arena.bases);
	ki_arena.bases = NULL;
}

void ki_arena_take(void)
{
	u32 most;

	lockdep_assert_held(&ki_lock);
	if (ki_arena.bytes || sort_bases())
		return;
	most = bytes_between();
	if (most)
		ki_arena.bytes = take_block(most) ? most : take_any(most);
	if (!ki_arena.bytes)
		forget_bases();
}

void ki_arena_free(void)
{
	if (!ki_arena.bytes)
		return;
	if (ki_arena.block)
		free_pages(ki_arena.block, ki_arena.order);
	else
		free_slices(ki_arena.disp, ki_arena.bytes, ki_arena.n);
	ki_arena.block = 0;
	ki_arena.bytes = 0;
	forget_bases();
}

u32 ki_arena_possible(void)
{
	u32 bytes = 0;

	if (!sort_bases())
		bytes = bytes_between();
	forget_bases();
	return bytes;
}
