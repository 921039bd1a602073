// SPDX-License-Identifier: GPL-2.0-only
/*
 * Per-CPU counters that one instruction, `incq %gs:disp32`, can reach: those of a CPU are its slice
 * of the arena (arena.c), which is there as long as sessions or counters are. If none is to be had
 * when the first session comes, there are no counters until the next first session.
 */
#include <linux/mm.h>
#include <linux/percpu.h>

#include "compat.h"
#include "ki.h"
#include "account/limit.h"
#include "data/arena.h"
#include "data/minmax.h"
#include "symbols.h"
#include "user.h"

static void forget(u32 first, u32 count);
static struct ki_slots ki_counters = {.forget = forget, .limit = KI_LIMIT_COUNTERS};

s64 ki_counter_disp(u32 n)
{
	return ki_arena_disp() + n * 8;
}

static u32 counter_total(void)
{
	return ki_arena_bytes() / 8;
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
			sum += READ_ONCE(((u64 *)ki_arena_slice(cpu))[i]);
	}
	return sum;
}

struct ki_minmax_from ki_minmax_from;

/* The counters are elsewhere now. */
static void moved(void)
{
	ki_counters.total = counter_total();
	ki_minmax_from.counters = ki_counter_disp(0);
}

static void free_arena(void)
{
	ki_arena_free();
	moved();
}

void ki_counters_begin(void)
{
	lockdep_assert_held(&ki_lock);
	if (ki_session_count() || ki_counters.used)
		return;
	ki_arena_take();
	moved();
}

void ki_counters_end(void)
{
	lockdep_assert_held(&ki_lock);
	if (!ki_session_count() && !ki_counters.used)
		free_arena();
}

static void forget(u32 first, u32 count)
{
	if (!ki_session_count() && ki_counters.used == count)
		free_arena();
}

int ki_counters_init(void)
{
	ki_slots_init(&ki_counters, ki_arena_possible() / 8);
	moved();
	return 0;
}

void ki_counters_exit(void)
{
	free_arena();
}

int ki_counters_take(struct ki_session *s, u32 count, u32 *first, u32 *reason)
{
	int cpu, err = ki_slots_take(&ki_counters, s, count, first, reason);

	lockdep_assert_held(&ki_lock);
	if (err)
		return err;
	for_each_possible_cpu (cpu)
		memset(ki_arena_slice(cpu) + *first * 8, 0, (size_t)count * 8);
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
	info->counter_bytes = ki_arena_bytes();
	if (ki_arena_bytes())
		info->features |= KI_FEATURE_COUNTER_ARENA;
}

int ki_counters_map(struct vm_area_struct *vma)
{
	unsigned long at = vma->vm_start;
	u32 bytes = ki_arena_bytes();
	int cpu, err;

	if (vma->vm_pgoff || vma->vm_end - vma->vm_start != (u64)num_possible_cpus() * bytes)
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	ki_vm_flags_fix(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	for_each_possible_cpu (cpu) {
		err = remap_pfn_range(vma, at, page_to_pfn(virt_to_page(ki_arena_slice(cpu))),
				      bytes, vma->vm_page_prot);
		if (err)
			return err;
		at += bytes;
	}
	return 0;
}
