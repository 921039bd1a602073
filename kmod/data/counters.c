// SPDX-License-Identifier: GPL-2.0-only
/*
 * Per-CPU counters that one instruction, `incq %gs:disp32`, can reach.
 *
 * %gs holds the base of the CPU's per-CPU area. So what such an instruction reaches must lie at
 * the same distance from every CPU's base, within 2 GiB. The kernel has 8 KiB of such memory for
 * modules, all of them together. A process maps whole pages, and none of these is sure to be had.
 * So we make our own: pages whose distances from each other are those of the bases.
 * On one memory node the bases stand close together (0.5 to 2 MiB apart). So a block of contiguous
 * pages that spans all of them holds a slice for each CPU at the right distance:
 *
 *	slice(cpu) = block + (base(cpu) - lowest base)
 *	disp       = slice(cpu) - base(cpu) = block - lowest base	 the same for all
 *
 * The block is there as long as sessions or counters are. It may not work out when the first
 * session comes: too many CPUs, pages too far from the bases, none contiguous. Then there are no
 * counters until the next first session.
 */
#include <linux/mm.h>
#include <linux/percpu.h>

#include "compat.h"
#include "ki.h"
#include "account/limit.h"
#include "data/minmax.h"
#include "symbols.h"
#include "user.h"

#define KI_ARENA_BYTES (256 * 1024) /* of one CPU, at most: 32,768 counters */

static unsigned long ki_block; /* contiguous pages, or 0: there are no counters */
static unsigned int ki_block_order;
static unsigned long ki_lowest;
static u32 ki_counter_bytes;
static void forget(u32 first, u32 count);
static struct ki_slots ki_counters = {.forget = forget, .limit = KI_LIMIT_COUNTERS};

static void *slice(int cpu)
{
	return (void *)(ki_block + (per_cpu_offset(cpu) - ki_lowest));
}

s64 ki_counter_disp(u32 n)
{
	return (s64)((unsigned long)slice(0) - per_cpu_offset(0)) + n * 8;
}

static u32 counter_total(void)
{
	return ki_counter_bytes / 8;
}

u64 ki_counters_sum(const struct ki_session *s)
{
	u64 sum = 0;
	int cpu;
	u32 i;

	lockdep_assert_held(&ki_lock);
	for (i = 0; i < counter_total(); i++) {
		if (!ki_counters_own(s, i, 1))
			continue;
		for_each_possible_cpu (cpu)
			sum += READ_ONCE(((u64 *)slice(cpu))[i]);
	}
	return sum;
}

/* The smallest distance of two CPUs' bases, and the largest; lowest base in ki_lowest. */
static unsigned long measure_bases(unsigned long *nearest)
{
	unsigned long highest = 0;
	int a, b;

	ki_lowest = ULONG_MAX;
	*nearest = KI_ARENA_BYTES;
	for_each_possible_cpu (a) {
		ki_lowest = min(ki_lowest, per_cpu_offset(a));
		highest = max(highest, per_cpu_offset(a));
		for_each_possible_cpu (b)
			if (per_cpu_offset(b) > per_cpu_offset(a))
				*nearest = min(*nearest, per_cpu_offset(b) - per_cpu_offset(a));
	}
	return highest - ki_lowest;
}

static bool in_reach(void)
{
	s64 first = ki_counter_disp(0), last = ki_counter_disp(counter_total() - 1);

	return first == (s32)first && last == (s32)last;
}

/* How large a block it takes; -1: none does. */
static int block_order(u32 *bytes)
{
	unsigned long nearest, spread = measure_bases(&nearest);

	*bytes = nearest & PAGE_MASK;
	if (!*bytes || spread > (PAGE_SIZE << KI_PAGE_ORDER_MAX) ||
	    get_order(spread + *bytes) > KI_PAGE_ORDER_MAX)
		return -1;
	return get_order(spread + *bytes);
}

struct ki_minmax_from ki_minmax_from;

/* The counters are elsewhere now. */
static void moved(void)
{
	ki_counters.total = counter_total();
	ki_minmax_from.counters = ki_counter_disp(0);
}

static void free_block(void)
{
	if (ki_block)
		free_pages(ki_block, ki_block_order);
	ki_block = 0;
	ki_counter_bytes = 0;
	moved();
}

void ki_counters_begin(void)
{
	int order;

	lockdep_assert_held(&ki_lock);
	if (ki_session_count() || ki_counters.used)
		return;
	order = block_order(&ki_counter_bytes);
	if (order >= 0)
		ki_block = __get_free_pages(KI_GFP | __GFP_ZERO | __GFP_COMP, order);
	ki_block_order = order;
	if (!ki_block || !in_reach())
		free_block();
	moved();
}

void ki_counters_end(void)
{
	lockdep_assert_held(&ki_lock);
	if (!ki_session_count() && !ki_counters.used)
		free_block();
}

static void forget(u32 first, u32 count)
{
	if (!ki_session_count() && ki_counters.used == count)
		free_block();
}

int ki_counters_init(void)
{
	u32 bytes;

	ki_slots_init(&ki_counters, block_order(&bytes) < 0 ? 0 : bytes / 8);
	free_block();
	return 0;
}

void ki_counters_exit(void)
{
	free_block();
}

int ki_counters_take(struct ki_session *s, u32 count, u32 *first, u32 *reason)
{
	int cpu, err = ki_slots_take(&ki_counters, s, count, first, reason);

	lockdep_assert_held(&ki_lock);
	if (err)
		return err;
	for_each_possible_cpu (cpu)
		memset(slice(cpu) + *first * 8, 0, (size_t)count * 8);
	return 0;
}

bool ki_counters_own(const struct ki_session *s, u64 n, u64 count)
{
	lockdep_assert_held(&ki_lock);
	return ki_slots_own(&ki_counters, s, n, count);
}

void ki_counters_info(struct ki_info *info)
{
	lockdep_assert_held(&ki_lock);
	info->cpus = num_possible_cpus();
	info->counters = counter_total();
	info->counters_used = ki_counters.used;
	info->counter_bytes = ki_counter_bytes;
	if (ki_block)
		info->features |= KI_FEATURE_COUNTER_ARENA;
}

int ki_counters_map(struct vm_area_struct *vma)
{
	unsigned long at = vma->vm_start;
	int cpu, err;

	if (vma->vm_pgoff ||
	    vma->vm_end - vma->vm_start != (u64)num_possible_cpus() * ki_counter_bytes)
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	ki_vm_flags_fix(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	for_each_possible_cpu (cpu) {
		err = remap_pfn_range(vma, at, page_to_pfn(virt_to_page(slice(cpu))),
				      ki_counter_bytes, vma->vm_page_prot);
		if (err)
			return err;
		at += ki_counter_bytes;
	}
	return 0;
}
