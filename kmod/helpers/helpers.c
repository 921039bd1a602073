// SPDX-License-Identifier: GPL-2.0-only
/*
 * Helpers: functions that long chunks call.
 *
 * They are called from anywhere that is spliced: with locks held, in interrupts, in NMIs. They
 * take no lock, allocate nothing and do not sleep. Those that call nothing just do it. What the
 * others call may be instrumented itself. So each of them notes that it runs, for the CPU and the
 * level (task, softirq, interrupt, NMI). One that is called meanwhile at the same level does
 * nothing, and the hit is counted as skipped. An interrupt that comes meanwhile is another level:
 * its helpers run. Preemption is off, so that no other code comes to this level of this CPU.
 *
 * A chunk that calls a function of the kernel does so between ENTER and LEAVE, which are the two
 * halves of this. ENTER_RECORD also notes, for the CPU and the level, which records the function
 * writes (instrument.c).
 */
#include <linux/cgroup.h>
#include <linux/cred.h>
#include <linux/ktime.h>
#include <linux/percpu.h>
#include <linux/preempt.h>
#include <linux/sched.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "data/event.h"
#include "data/minmax.h"
#include "data/stacks.h"
#include "data/texts.h"
#include "data/threads.h"
#include "helpers/access.h"
#include "helpers/signal.h"
#include "kcov/kcov.h"

#define KI_LEVELS    4
#define KI_HIT_KNOWN BIT_ULL(32)

struct ki_helping {
	u64 skipped;
	bool at[KI_LEVELS];
	u64 hit[KI_LEVELS];		/* KI_HIT of ENTER_RECORD, and KI_HIT_KNOWN; or 0 */
	unsigned long flags[KI_LEVELS]; /* was user memory open when it began (access.h) */
};

static DEFINE_PER_CPU(struct ki_helping, ki_helping);

/* Whatever is called then finds user memory closed. */
static __always_inline bool begin(void)
{
	struct ki_helping *h;
	u8 level;

	preempt_disable_notrace();
	h = raw_cpu_ptr(&ki_helping);
	level = interrupt_context_level();
	if (h->at[level]) {
		this_cpu_inc(ki_helping.skipped);
		ki_preempt_enable();
		return false;
	}
	h->at[level] = true;
	barrier();
	h->flags[level] = ki_access_close();
	return true;
}

static __always_inline void end(void)
{
	struct ki_helping *h = raw_cpu_ptr(&ki_helping);
	u8 level = interrupt_context_level();

	ki_access_restore(h->flags[level]);
	barrier();
	h->at[level] = false;
	ki_preempt_enable();
}

/* BODY makes `r` of a and b. */
#define KI_DO(tag, body)                                                                           \
	u64 ki_do_##tag(u64 a, u64 b);                                                             \
	notrace u64 ki_do_##tag(u64 a, u64 b)                                                      \
	{                                                                                          \
		u64 r = 0;                                                                         \
		if (begin()) {                                                                     \
			body;                                                                      \
			end();                                                                     \
		}                                                                                  \
		return r;                                                                          \
	}

/* The same for those that call nothing: no checker may make them (Kbuild). */
#define KI_DO_ALONE(tag, body)                                                                     \
	u64 ki_do_##tag(u64 a, u64 b);                                                             \
	notrace u64 ki_do_##tag(u64 a, u64 b)                                                      \
	{                                                                                          \
		u64 r = 0;                                                                         \
		body;                                                                              \
		return r;                                                                          \
	}

static __always_inline u64 load(u64 from, size_t len)
{
	u64 r = 0;

	return copy_from_kernel_nofault(&r, (void *)from, len) ? 0 : r;
}

static __always_inline u64 user_load(u64 from, u64 len)
{
	u64 r = 0;

	if (!ki_user_memory())
		return 0;
	len = clamp_t(u64, len, 1, sizeof(r));
	return copy_from_user_nofault(&r, (const void __user *)from, len) ? 0 : r;
}

static __always_inline u64 divide(s64 a, s64 b, bool rest)
{
	if (!b)
		return rest ? a : 0;
	if (b == -1) /* the least number has no opposite: the instruction would trap */
		return rest ? 0 : 0 - (u64)a;
	return rest ? a % b : a / b;
}

/* A task's own credentials change by itself only, which it does not do while it is here. */
static __always_inline u64 uid(void)
{
	return __kuid_val(rcu_dereference_raw(current->cred)->uid);
}

/* Others may move it to another group; the set of groups it had stays while preemption is off. */
static __always_inline u64 cgroup(void)
{
#ifdef CONFIG_CGROUPS
	const struct css_set *set;
	u64 id = 0;

	preempt_disable_notrace();
	set = rcu_dereference_raw(current->cgroups);
	if (set && set->dfl_cgrp && set->dfl_cgrp->kn)
		id = set->dfl_cgrp->kn->id;
	ki_preempt_enable();
	return id;
#else
	return 0;
#endif
}

KI_DO(LOAD8, r = load(a, 1))
KI_DO(LOAD16, r = load(a, 2))
KI_DO(LOAD32, r = load(a, 4))
KI_DO(LOAD64, r = load(a, 8))
KI_DO(UNREADABLE, r = copy_from_kernel_nofault(&(u64){0}, (void *)a, clamp_t(u64, b, 1, 8)) != 0)
KI_DO(ULOAD, r = user_load(a, b))
KI_DO_ALONE(DIV, r = divide(a, b, false))
KI_DO_ALONE(UDIV, r = b ? a / b : 0)
KI_DO_ALONE(MOD, r = divide(a, b, true))
KI_DO_ALONE(UMOD, r = b ? a % b : a)
KI_DO(NANOTIME, r = ktime_get_mono_fast_ns())
KI_DO_ALONE(UID, r = uid())
KI_DO_ALONE(CGROUP, r = cgroup())
KI_DO(STACK, r = ki_stack_kernel(a, b))
KI_DO(USTACK, r = ki_stack_user(a))
KI_DO(DEPTH, r = ki_stack_kernel_depth(a, b))
KI_DO(UDEPTH, r = ki_stack_user_depth())
KI_DO(UCALLER, r = ki_stack_user_caller())
KI_DO(SIGNAL, r = ki_signal_send((u32)a ? (u32)a : b))

u64 ki_do_TEXT(u32 what, u64 a, u64 b, u64 c);
notrace u64 ki_do_TEXT(u32 what, u64 a, u64 b, u64 c)
{
	u64 r = 0;

	if (begin()) {
		r = ki_text_op(what, a, b, c);
		end();
	}
	return r;
}

u64 ki_do_EVENT(u64 which);
notrace u64 ki_do_EVENT(u64 which)
{
	u64 r;

	if (!begin())
		return ki_event_last(which);
	r = ki_event_read(which);
	end();
	return r;
}

/* Not by the kernel's memset, which may be instrumented: no helper would guard what that calls. */
static __always_inline void clear(u32 n, u64 *to)
{
	while (n--)
		WRITE_ONCE(to[n], 0);
}

/* Of these `to` is where the chunk's words are, which are written in any case. */
#define KI_DO_STRING(tag, body)                                                                    \
	u64 ki_do_##tag(u64 from, u32 n, u64 *to);                                                 \
	notrace u64 ki_do_##tag(u64 from, u32 n, u64 *to)                                          \
	{                                                                                          \
		u64 r = 0;                                                                         \
		if (begin()) {                                                                     \
			r = body;                                                                  \
			end();                                                                     \
		} else {                                                                           \
			clear(n, to);                                                              \
		}                                                                                  \
		return r;                                                                          \
	}

KI_DO_STRING(STRING, ki_string_kernel(from, n, to))
KI_DO_STRING(USTRING, ki_string_user(from, n, to))

/* The value of a word, as `flags` say; false: it cannot be read. */
static __always_inline bool compared(u64 *v, u32 flags, u32 size)
{
	if (flags & KI_COMPARISON_MEMORY) {
		const void *from = (const void *)*v;

		*v = 0;
		return !copy_from_kernel_nofault(v, from, size);
	}
	if (flags & KI_COMPARISON_HIGH)
		*v >>= 8;
	*v &= GENMASK_ULL(size * 8 - 1, 0);
	return true;
}

/* Who is not traced here must not count as skipped. */
void ki_do_KCOV_COMPARISON(u64 unused, u64 unused_too, const u64 *words);
notrace void ki_do_KCOV_COMPARISON(u64 unused, u64 unused_too, const u64 *words)
{
	u32 flags = words[0] >> 34, size = 1 << (words[0] >> 32 & 3);
	u64 v[2] = {words[1], words[2]};

	if (!ki_kcov_compares() || !begin())
		return;
	if (compared(&v[0], flags, size) && compared(&v[1], flags >> 1, size))
		ki_kcov_comparison(words[0], v);
	end();
}

static __always_inline bool enter(u64 hit)
{
	if (!begin())
		return false;
	raw_cpu_ptr(&ki_helping)->hit[interrupt_context_level()] = hit;
	return true;
}

u64 ki_do_ENTER(void);
notrace u64 ki_do_ENTER(void)
{
	return enter(0);
}

u64 ki_do_ENTER_RECORD(u32 hit);
notrace u64 ki_do_ENTER_RECORD(u32 hit)
{
	return enter(hit | KI_HIT_KNOWN);
}

notrace bool ki_helper_hit(u32 *ring, u32 *id)
{
	u64 hit = raw_cpu_ptr(&ki_helping)->hit[interrupt_context_level()];

	*ring = (u32)hit / KI_HIT_IDS;
	*id = (u32)hit % KI_HIT_IDS;
	return hit;
}

u64 ki_do_LEAVE(void);
notrace u64 ki_do_LEAVE(void)
{
	raw_cpu_ptr(&ki_helping)->hit[interrupt_context_level()] = 0;
	end();
	return 0;
}

#define KI_HELPER(tag, args, entry, vet, cost, text) void ki_helper_##tag(void);
#include "uapi/kerninst_helpers.def"
#undef KI_HELPER

unsigned long ki_helper_addr(u32 helper)
{
	static void (*const entry[KI_HELPERS])(void) = {
#define KI_HELPER(tag, args, entry, vet, cost, text) [KI_HELPER_##tag] = ki_helper_##tag,
#include "uapi/kerninst_helpers.def"
#undef KI_HELPER
	};

	return (unsigned long)entry[helper];
}

u64 ki_helper_skipped(void)
{
	u64 sum = 0;
	int cpu;

	for_each_possible_cpu (cpu)
		sum += READ_ONCE(per_cpu_ptr(&ki_helping, cpu)->skipped);
	return sum;
}

int ki_minmax_init(void)
{
	ki_minmax_from = (struct ki_minmax_from){.globals = (u64 *)ki_global_addr(0),
						 .counters = ki_counter_disp(0),
						 .words = ki_self_disp(KI_SELF_WORDS)};
	return 0;
}

s64 ki_self_disp(u64 self)
{
	switch (self) {
	case KI_SELF_TASK:
		return (s64)(unsigned long)&KI_CURRENT_TASK;
	case KI_SELF_WORDS:
		return (s64)(unsigned long)&ki_here.words;
	case KI_SELF_CLOCK:
		return (s64)(unsigned long)&ki_here.clock;
	case KI_SELF_KCOV:
		return (s64)(unsigned long)&ki_kcov_here.blocks;
	case KI_SELF_KCOV_COMPARISONS:
		return (s64)(unsigned long)&ki_kcov_here.comparisons;
	default:
		return (s64)(unsigned long)&KI_CPU_NUMBER;
	}
}

s64 ki_field_off(u64 field)
{
	static const u32 off[KI_FIELDS] = {
		[KI_FIELD_PID] = offsetof(struct task_struct, pid),
		[KI_FIELD_TGID] = offsetof(struct task_struct, tgid),
		[KI_FIELD_COMM] = offsetof(struct task_struct, comm),
		[KI_FIELD_MINFLT] = offsetof(struct task_struct, min_flt),
		[KI_FIELD_MAJFLT] = offsetof(struct task_struct, maj_flt),
		[KI_FIELD_NVCSW] = offsetof(struct task_struct, nvcsw),
		[KI_FIELD_NIVCSW] = offsetof(struct task_struct, nivcsw),
	};

	return off[(u32)field] + (field >> 32);
}
