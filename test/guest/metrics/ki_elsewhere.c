// SPDX-License-Identifier: GPL-2.0-only
/*
 * ki_elsewhere: what takes a known part of the time where no process has asked for it. Every 10 ms
 * an interrupt's handler runs for `hard` microseconds, a tasklet for `soft`, and a work for `work`.
 *
 * /sys/module/ki_elsewhere/parameters/{hard,soft,work}_ns: nanoseconds for which each has run.
 */
#include <linux/hrtimer.h>
#include <linux/interrupt.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/workqueue.h>

#define PERIOD_MS 10

static int hard, soft, work;
static unsigned long hard_ns, soft_ns, work_ns;

module_param(hard, int, 0444);
module_param(soft, int, 0444);
module_param(work, int, 0444);
module_param(hard_ns, ulong, 0444);
module_param(soft_ns, ulong, 0444);
module_param(work_ns, ulong, 0444);

static void run_until(u64 end)
{
	while (ktime_get_ns() < end)
		cpu_relax();
}

static void note(u64 begun, unsigned long *ns)
{
	WRITE_ONCE(*ns, *ns + (ktime_get_ns() - begun));
}

static void ki_elsewhere_work(struct work_struct *unused)
{
	const u64 begun = ktime_get_ns();

	run_until(begun + 1000ull * work);
	note(begun, &work_ns);
}

static void ki_elsewhere_tasklet(struct tasklet_struct *unused)
{
	const u64 begun = ktime_get_ns();

	run_until(begun + 1000ull * soft);
	note(begun, &soft_ns);
}

static DECLARE_WORK(the_work, ki_elsewhere_work);
static DECLARE_TASKLET(the_tasklet, ki_elsewhere_tasklet);
static struct hrtimer timer;

static enum hrtimer_restart ki_elsewhere_hard(struct hrtimer *t)
{
	const u64 begun = ktime_get_ns();

	run_until(begun + 1000ull * hard);
	tasklet_schedule(&the_tasklet);
	queue_work(system_highpri_wq, &the_work);
	hrtimer_forward_now(t, ms_to_ktime(PERIOD_MS));
	note(begun, &hard_ns);
	return HRTIMER_RESTART;
}

static int __init start(void)
{
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = ki_elsewhere_hard;
	hrtimer_start(&timer, ms_to_ktime(PERIOD_MS), HRTIMER_MODE_REL_HARD);
	return 0;
}

static void __exit stop(void)
{
	hrtimer_cancel(&timer);
	tasklet_kill(&the_tasklet);
	cancel_work_sync(&the_work);
}

module_init(start);
module_exit(stop);
MODULE_DESCRIPTION("kerninst test: work that no process has asked for");
MODULE_LICENSE("GPL");
