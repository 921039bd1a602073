// SPDX-License-Identifier: GPL-2.0-only
/*
 * May a function sleep? Inserted code runs wherever its point is, with locks held, in interrupts,
 * and what it calls runs with preemption off (helpers.c: ENTER).
 *
 * All that sleeps comes to the scheduler, and what leads there is together in one section of the
 * kernel (.sched.text: schedule, mutex_lock, wait_for_completion, cond_resched; on realtime
 * kernels what spinlocks are there, too). So the code is read from the function on, through all
 * calls and jumps. It may be called if nothing in it leads into that section. The exception is
 * preemption at a lock's release: with preemption off that returns at once.
 *
 * Where a register or memory says what is called it cannot be told, so such a function is refused,
 * too; but for those that the kernel promises to work in any context, which are known by name. So
 * are those that an error ends in. The code is read as it stands now: a static call or branch that
 * the kernel switches later is not seen. Page faults do not sleep: with preemption off they fail.
 *
 * What a function that stands for another one does is not asked: it runs where that would.
 */
#include <linux/kallsyms.h>
#include <linux/module.h>
#include <linux/string.h>

#include "ki.h"
#include "symbols.h"
#include "text/follow.h"

/* Of the kernel's own rules: they work in NMIs, or end in a message and never wait. */
static const char *const ki_any_context[] = {
	"copy_from_kernel_nofault",
	"copy_from_user_nofault",
	"dump_stack",
	"irq_work_queue",
	"kasan_report",
	"ktime_get_boot_fast_ns",
	"ktime_get_mono_fast_ns",
	"ktime_get_raw_fast_ns",
	"ktime_get_real_fast_ns",
	"ktime_get_tai_fast_ns",
	"local_clock",
	"panic",
	"preempt_schedule",
	"preempt_schedule_notrace",
	"preempt_schedule_notrace_thunk",
	"preempt_schedule_thunk",
	"printk",
	"_printk",
	"_printk_deferred",
	"sched_clock",
	"__sanitizer_cov_trace_pc",
	"__stack_chk_fail",
	"vprintk",
	"__warn_printk",
};

/* ki_lock held; one at a time */
static struct {
	unsigned long from, to; /* the scheduler's section */
	unsigned long awake;	/* it has been found not to sleep, in this request; 0: none */
	bool sleeps;
} ki_sleep;

static bool is_any_context(const char *name)
{
	size_t i;

	for (i = 0; i < ARRAY_SIZE(ki_any_context); i++)
		if (!strcmp(name, ki_any_context[i]))
			return true;
	return false;
}

static void found(struct ki_follow *f)
{
	ki_sleep.sleeps = true;
	f->enough = true;
}

static void look_at(struct ki_follow *f, unsigned long to)
{
	unsigned long size, off;
	char name[KSYM_NAME_LEN];

	if (!ki_call(kallsyms_lookup_size_offset)(to, &size, &off)) {
		found(f);
		return;
	}
	snprintf(name, sizeof(name), "%ps", (void *)to);
	if (is_any_context(name) || within_module_core(to, THIS_MODULE))
		return;
	if (strstarts(name, "__x86_indirect_") || (to >= ki_sleep.from && to < ki_sleep.to))
		found(f);
	else
		ki_follow_meet(f, to, true);
}

static void leaves(struct ki_follow *f, unsigned long from, unsigned long to)
{
	look_at(f, to);
}

static void leaves_by_pointer(struct ki_follow *f, unsigned long from)
{
	found(f);
}

static void lost(struct ki_follow *f, const char *what, unsigned long at)
{
	found(f);
}

void ki_may_sleep_forget(void)
{
	lockdep_assert_held(&ki_lock);
	ki_sleep.awake = 0;
}

u16 ki_may_sleep(unsigned long addr)
{
	struct ki_follow *f;

	lockdep_assert_held(&ki_lock);
	if (addr == ki_sleep.awake)
		return KI_R_OK;
	ki_sleep.from = ki_symbol("__sched_text_start");
	ki_sleep.to = ki_symbol("__sched_text_end");
	ki_sleep.sleeps = !ki_sleep.from || !ki_sleep.to;
	f = ki_follow_new();
	if (!f)
		return KI_R_NO_MEMORY;
	f->leaves = leaves;
	f->leaves_by_pointer = leaves_by_pointer;
	f->lost = lost;
	look_at(f, addr);
	ki_follow_all(f);
	ki_follow_free(f);
	if (ki_sleep.sleeps)
		return KI_R_MAY_SLEEP;
	ki_sleep.awake = addr;
	return KI_R_OK;
}
