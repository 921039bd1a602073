// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helpers STACK, USTACK, DEPTH, UDEPTH, UCALLER: taking a stack, and finding its number.
 *
 * They are called from anywhere, NMIs too, and what they call may be instrumented. So they run
 * between begin and end of helpers.c: at one level of one CPU there is one of them, and the
 * scratch of that level is its own.
 *
 * A kernel's stack is what the kernel's own unwinder says, which begins here: a few frames of the
 * driver, then the chunk's return address, which is in a patch. That one stands for the point,
 * whose address the chunk brings. After it there are no more patches, since no return address ever
 * points into one, but for interrupts: these may have come to a patch, or to the driver. Frames of
 * the driver are left out, and an address in a patch is told as the original one (origin.c).
 *
 * A user's stack is a chain of frame pointers, read without sleeping. It is the process's own, and
 * says whatever it likes; so it is bounded, and goes up only. An NMI that comes while registers are
 * being saved at the kernel's entry finds old ones.
 *
 * Rows. A free row is claimed by one cmpxchg on its hash, filled, and published by its number of
 * frames. No search waits for one that is being filled: it may have interrupted the one that fills
 * it. It goes on to the next, and so a stack may stand there twice. A row with frames never
 * changes. So that what is told is exact, frames are compared, not hashes only.
 */
#include <linux/perf_event.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/sched/task_stack.h>
#include <linux/stacktrace.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "data/stacks.h"
#include "heap/rows.h"

static struct ki_stack_row *row_at(const struct ki_stacks_table *t, u32 i)
{
	return (struct ki_stack_row *)(t->rows + (u64)i * t->stride);
}

static u64 hash_of(const struct ki_stacks_table *t, u32 tgid, const u64 *frames, u32 n)
{
	u64 h = t->seed ^ tgid;
	u32 i;

	for (i = 0; i < n; i++) {
		h = (h ^ frames[i]) * 0x9e3779b97f4a7c15;
		h ^= h >> 32;
	}
	return h ? h : 1;
}

static bool is_same(const struct ki_stack_row *row, u32 tgid, const u64 *frames, u32 n)
{
	u32 i;

	if (smp_load_acquire(&row->frames) != n || row->tgid != tgid)
		return false;
	for (i = 0; i < n; i++)
		if (row->addr[i] != frames[i])
			return false;
	return true;
}

static void fill(struct ki_stack_row *row, u32 tgid, const u64 *frames, u32 n)
{
	u32 i;

	row->tgid = tgid;
	for (i = 0; i < n; i++)
		row->addr[i] = frames[i];
	smp_store_release(&row->frames, n);
}

u64 ki_stack_number(struct ki_stacks_table *t, u32 tgid, const u64 *frames, u32 n)
{
	u64 hash = hash_of(t, tgid, frames, n), there;
	u32 at = hash & t->mask, tries = min_t(u32, t->mask + 1, KI_STACKS_TRIES);

	for (; tries; tries--, at = (at + 1) & t->mask) {
		struct ki_stack_row *row = row_at(t, at);

		there = READ_ONCE(row->hash);
		if (!there)
			there = cmpxchg(&row->hash, 0, hash);
		if (!there) {
			fill(row, tgid, frames, n);
			atomic64_inc((atomic64_t *)&t->head->rows);
			return at + 1;
		}
		if (there == hash && is_same(row, tgid, frames, n))
			return at + 1;
	}
	atomic64_inc((atomic64_t *)&t->head->lost);
	return 0;
}

static u64 *scratch_of(const struct ki_stacks_table *t)
{
	return this_cpu_ptr(t->scratch)->v[interrupt_context_level()];
}

/* ---- the kernel's ---- */

static bool is_ours(unsigned long addr)
{
	return addr - KI_MODULE_TEXT(THIS_MODULE) < KI_MODULE_TEXT_SIZE(THIS_MODULE) ||
	       ki_heap_holds(addr);
}

/* The chunk's return address: where its frame is; n: there is none. */
static u32 find_chunk(const u64 *v, u32 n)
{
	u32 i;

	for (i = 0; i < n; i++)
		if (ki_origin_of(v[i] - 1))
			return i;
	return n;
}

/* Frames as they are told; how many. */
static u32 translate(u64 *v, u32 n, u64 at)
{
	u32 from = find_chunk(v, n), to = 0;

	v[to++] = at;
	for (from++; from < n; from++) {
		u64 addr = v[from];

		if (is_ours(addr))
			addr = ki_origin_of(addr);
		if (addr)
			v[to++] = addr;
	}
	return to;
}

static u32 take(u64 *v, u64 at, u32 most)
{
	u32 n;

	BUILD_BUG_ON(sizeof(u64) != sizeof(unsigned long));
	n = stack_trace_save((unsigned long *)v, most + KI_STACK_OURS, 0);
	return min(translate(v, n, at), most);
}

u64 ki_stack_kernel(u32 what, u64 at)
{
	struct ki_stacks_table *t = ki_stacks_tables[what >> 8];
	u64 *v = scratch_of(t);
	u32 skip = (u8)what, n = take(v, at, min_t(u32, t->frames + skip, KI_STACK_FRAMES));

	return n <= skip ? 0 : ki_stack_number(t, 0, v + skip, min(n - skip, t->frames));
}

u64 ki_stack_kernel_depth(u32 what, u64 at)
{
	u32 skip = (u8)what, n = take(scratch_of(ki_stacks_tables[what >> 8]), at, KI_STACK_FRAMES);

	return n - min(n, skip);
}

/* ---- the user's ---- */

struct ki_user_frame {
	u64 next, ret;
};

/* The frame of a function that has not begun, or has ended: its return address is on top. */
static u32 take_top(u64 *v, u32 keep, u32 n, struct pt_regs *regs)
{
	u64 ret;

	if (!user_64bit_mode(regs) ||
	    copy_from_user_nofault(&ret, (const void __user *)regs->sp, sizeof(ret)))
		return n;
	if (n < keep)
		v[n] = ret;
	return n + 1;
}

/* How many frames there are, up to `most`; the first `keep` of them. top: KI_STACK_TOP. */
static u32 walk(u64 *v, u32 keep, u32 most, bool top)
{
	struct pt_regs *regs = task_pt_regs(current);
	struct ki_user_frame f = {.next = regs->bp, .ret = regs->ip};
	u64 at = 0;
	u32 n = 0;

	if (!ki_user_memory()) /* or a thread that only helps one */
		return 0;
	while (n < most && f.ret) {
		if (n < keep)
			v[n] = f.ret;
		if (n++ && f.next <= at)
			break;
		if (n == 1 && top && n < most)
			n = take_top(v, keep, n, regs);
		at = f.next;
		if (!user_64bit_mode(regs) || at & 7 ||
		    copy_from_user_nofault(&f, (const void __user *)at, sizeof(f)))
			break;
	}
	return n;
}

u64 ki_stack_user(u32 what)
{
	struct ki_stacks_table *t = ki_stacks_tables[what >> 8];
	u64 *v = scratch_of(t);
	u32 skip = (u8)what & ~KI_STACK_TOP, most = min_t(u32, t->frames + skip, KI_STACK_FRAMES),
	    n = walk(v, most, most, what & KI_STACK_TOP);

	return n <= skip ? 0 : ki_stack_number(t, current->tgid, v + skip, n - skip);
}

u64 ki_stack_user_depth(void)
{
	return walk(NULL, 0, KI_STACK_FRAMES, false);
}

u64 ki_stack_user_caller(void)
{
	u64 v[2];

	return walk(v, 2, 2, false) == 2 ? v[1] : 0;
}
