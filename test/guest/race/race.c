// SPDX-License-Identifier: GPL-2.0-only
/*
 * ki_race: makes a task stop inside a window, on purpose, and keeps it there.
 *
 * A window of several instructions has boundaries inside. A task that was preempted at one of
 * them resumes there, perhaps much later; if a jump has been written over the window meanwhile,
 * it resumes in the middle of that jump. The driver must wait for such a task (doc/design.md,
 * section 4). Load alone does not show whether it does: the moment is a few instructions wide
 * and, emulated by QEMU, mostly of no width at all (victim.S). This module makes it happen:
 *
 *   victim	an ordinary kthread on one CPU that calls ki_race_victim for ever, and checks
 *		what comes back. Each round it tells RCU-tasks that it is in no function, as a
 *		task that slept would: otherwise nobody could ever wait for it.
 *   timer	interrupts that CPU at irregular times and looks where: if just inside the
 *		window, it wakes the blocker.
 *   blocker	a realtime kthread on the same CPU: so the victim is preempted right there, on
 *		the way out of the interrupt (the kernel must be booted with preempt=full). The
 *		blocker spins until told, or for hold_ms. It reports its own quiescence too, so
 *		that the one task to be waited for is the victim.
 *
 * /proc/ki_race: write "catch" (inside the window), "catch-patch" (anywhere in module space
 * that is not ours: in a patch), or "release". Read: lines "NAME VALUE":
 *   phase idle|catching|held|released, caught OFFSET|ADDRESS, interrupts, iterations, errors,
 *   entry (the victim's first bytes as they are now).
 *
 * Realtime throttling must be off (/proc/sys/kernel/sched_rt_runtime_us = -1), or the scheduler
 * lets the victim go on after 0.95 s.
 */
#include <linux/hrtimer.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <asm/irq_regs.h>

#define ENTRY_BYTES 8

/* Inside the first window, behind its first instruction: in victim.S, +2 and +4. */
#define INSIDE_FIRST 2
#define INSIDE_LAST  4

u64 ki_race_victim(u64 a, u64 b);
u64 ki_race_round(u64 a, u64 b, u64 expect);

static unsigned int cpu = 1;
module_param(cpu, uint, 0444);
MODULE_PARM_DESC(cpu, "where victim, timer and blocker run");

static unsigned int hold_ms = 5000;
module_param(hold_ms, uint, 0644);
MODULE_PARM_DESC(hold_ms, "longest time the victim is held");

enum phase { IDLE, CATCHING, HELD, RELEASED };
enum prey { IN_WINDOW, IN_PATCH };

static struct task_struct *victim, *blocker;
static struct hrtimer timer;
static enum phase phase;
static enum prey prey;
static bool arm, caught, release;
static unsigned long caught_ip;
static u64 interrupts, iterations, errors;

/* Irregular, so that it does not fall into step with the victim: 30 to 285 microseconds. */
static ktime_t next_period(void)
{
	static u32 seed = 1;

	seed = seed * 1664525 + 1013904223;
	return ns_to_ktime(30000 + (seed >> 24) * 1000);
}

static bool is_prey(unsigned long ip)
{
	unsigned long off = ip - (unsigned long)ki_race_victim;

	if (READ_ONCE(prey) == IN_WINDOW)
		return off >= INSIDE_FIRST && off <= INSIDE_LAST;
	return ip >= MODULES_VADDR && ip < MODULES_END && !within_module(ip, THIS_MODULE);
}

/* Hard interrupt on the victim's CPU. */
static enum hrtimer_restart on_timer(struct hrtimer *t)
{
	struct pt_regs *regs = get_irq_regs();

	interrupts++;
	if (current == victim && regs && is_prey(regs->ip)) {
		caught_ip = regs->ip;
		WRITE_ONCE(caught, true);
		wake_up_process(blocker);
		return HRTIMER_NORESTART;
	}
	hrtimer_forward_now(t, next_period());
	return HRTIMER_RESTART;
}

static int victim_main(void *arg)
{
	u64 a = 0x0123456789abcdefull, b;

	while (!kthread_should_stop()) {
		a = a * 6364136223846793005ull + 1442695040888963407ull;
		b = a >> 7;
		errors += ki_race_round(a, b, (a ^ b) + a + b * 2 + (a + b));
		WRITE_ONCE(iterations, iterations + 1);
		if (READ_ONCE(arm)) {
			WRITE_ONCE(arm, false);
			hrtimer_start(&timer, next_period(), HRTIMER_MODE_REL_PINNED_HARD);
		}
		cond_resched_tasks_rcu_qs();
	}
	return 0;
}

static void hold(void)
{
	ktime_t end = ktime_add_ms(ktime_get(), hold_ms);

	WRITE_ONCE(phase, HELD);
	while (!READ_ONCE(release) && ktime_before(ktime_get(), end) && !kthread_should_stop()) {
		cpu_relax();
		cond_resched_tasks_rcu_qs();
	}
	WRITE_ONCE(phase, RELEASED);
}

static int blocker_main(void *arg)
{
	for (;;) {
		set_current_state(TASK_INTERRUPTIBLE);
		if (kthread_should_stop())
			break;
		if (!READ_ONCE(caught)) {
			schedule();
			continue;
		}
		__set_current_state(TASK_RUNNING);
		WRITE_ONCE(caught, false);
		hold();
	}
	__set_current_state(TASK_RUNNING);
	return 0;
}

static int catch_start(enum prey what)
{
	if (phase == CATCHING || phase == HELD)
		return -EBUSY;
	prey = what;
	release = false;
	caught_ip = 0;
	interrupts = 0;
	WRITE_ONCE(phase, CATCHING);
	smp_store_release(&arm, true);
	return 0;
}

static ssize_t control_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char word[16] = "";
	int err = 0;

	if (len >= sizeof(word) || copy_from_user(word, buf, len))
		return -EINVAL;
	if (sysfs_streq(word, "catch"))
		err = catch_start(IN_WINDOW);
	else if (sysfs_streq(word, "catch-patch"))
		err = catch_start(IN_PATCH);
	else if (sysfs_streq(word, "release"))
		WRITE_ONCE(release, true);
	else
		err = -EINVAL;
	return err ? err : len;
}

static int control_show(struct seq_file *m, void *unused)
{
	static const char *const names[] = {"idle", "catching", "held", "released"};
	unsigned long start = (unsigned long)ki_race_victim;
	u8 entry[ENTRY_BYTES];

	memcpy(entry, (void *)start, sizeof(entry));
	seq_printf(m, "phase %s\n", names[READ_ONCE(phase)]);
	if (READ_ONCE(prey) == IN_WINDOW)
		seq_printf(m, "caught %ld\n", caught_ip ? (long)(caught_ip - start) : 0);
	else
		seq_printf(m, "caught %px\n", (void *)caught_ip);
	seq_printf(m, "interrupts %llu\niterations %llu\nerrors %llu\nentry %*ph\n", interrupts,
		   READ_ONCE(iterations), errors, (int)sizeof(entry), entry);
	return 0;
}

static int control_open(struct inode *inode, struct file *file)
{
	return single_open(file, control_show, NULL);
}

static const struct proc_ops control_ops = {
	.proc_open = control_open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
	.proc_write = control_write,
};

static void stop_all(void)
{
	kthread_stop(blocker);
	kthread_stop(victim);
	hrtimer_cancel(&timer);
}

static int __init race_init(void)
{
	if (cpu >= nr_cpu_ids || !cpu_online(cpu))
		return -ENODEV;
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_PINNED_HARD);
	timer.function = on_timer;
	victim = kthread_create_on_cpu(victim_main, NULL, cpu, "ki_race_victim/%u");
	if (IS_ERR(victim))
		return PTR_ERR(victim);
	blocker = kthread_create_on_cpu(blocker_main, NULL, cpu, "ki_race_block/%u");
	if (IS_ERR(blocker)) {
		kthread_stop(victim);
		return PTR_ERR(blocker);
	}
	sched_set_fifo(blocker);
	wake_up_process(blocker);
	wake_up_process(victim);
	if (!proc_create("ki_race", 0600, NULL, &control_ops)) {
		stop_all();
		return -ENOMEM;
	}
	return 0;
}

static void __exit race_exit(void)
{
	remove_proc_entry("ki_race", NULL);
	stop_all();
}

module_init(race_init);
module_exit(race_exit);
MODULE_DESCRIPTION("kerninst test: a task that is preempted inside a window");
MODULE_LICENSE("GPL");
