// SPDX-License-Identifier: GPL-2.0-only
/*
 * ki_race: makes a task stop at one instruction, on purpose, and keeps it there.
 *
 * A task that was preempted between two instructions resumes there, perhaps much later; if other
 * bytes have been written there meanwhile, it runs these. The driver must wait for such a task
 * (doc/design.md, section 4), or be ready for it. Load alone does not show whether it is: the
 * moment is a few instructions wide. This module makes it happen:
 *
 *   victim	an ordinary kthread on one CPU that calls ki_race_victim for ever, and checks what
 *		comes back. Each round it tells RCU-tasks that it is in no function, as a task that
 *		slept would: otherwise nobody could ever wait for it.
 *   breakpoint	a debug register at the instruction. It is met before the instruction runs; the
 *		interrupt that it asks for comes at the very same place.
 *   blocker	a realtime kthread on the same CPU, woken by that interrupt: so the victim is
 *		preempted right there, on the way out of the interrupt (the kernel must be booted
 *		with preempt=full). The blocker spins until told, or for hold_ms. It reports its own
 *		quiescence too, so that the one task to be waited for is the victim.
 *
 * In idle mode the victim's function is called by a timer that interrupts the idle task, and it is
 * the interrupt inside it that spins: what is held then is no task that RCU-tasks knows.
 *
 * The victim may be still, too, and be called a known number of times by whoever asks.
 *
 * There may be a kprobe too, which the kernel's own events do not allow in a function without an
 * ftrace site.
 *
 * /proc/ki_race: write "catch ADDRESS", "release", "idle 1", "idle 0", "still" (until
 * "idle 0"), "run ROUNDS", "probe ADDRESS", "unprobe", or "warn 1" and "warn 0": with ki_race_warn
 * in each round. Read: lines "NAME VALUE": phase
 * idle|catching|held|released, iterations, errors, met (the breakpoint, how often), late (the
 * interrupt came elsewhere), probed (the kprobe's hits), start (of the victim), code (its bytes).
 *
 * Realtime throttling must be off (/proc/sys/kernel/sched_rt_runtime_us = -1), or the scheduler
 * lets the victim go on after 0.95 s.
 */
#include <linux/hrtimer.h>
#include <linux/hw_breakpoint.h>
#include <linux/irq_work.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/perf_event.h>
#include <linux/proc_fs.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/uaccess.h>
#include <asm/unwind.h>

#define CODE_BYTES 111
#define IDLE_NS	   300000

u64 ki_race_victim(u64 a, u64 b);
u64 ki_race_round(u64 a, u64 b, u64 expect);
void ki_race_warn(void);

static unsigned int cpu = 1;
module_param(cpu, uint, 0444);
MODULE_PARM_DESC(cpu, "where victim and blocker run");

static unsigned int hold_ms = 5000;
module_param(hold_ms, uint, 0644);
MODULE_PARM_DESC(hold_ms, "longest time the victim is held");

enum phase { IDLE, CATCHING, HELD, RELEASED };

static struct task_struct *victim, *blocker;
static struct perf_event *breakpoint;
static struct hrtimer timer;
static enum phase phase;
static bool armed, caught, release, idle_mode, warns;
static unsigned long want;
static u64 iterations, errors, met, late, probed;

static void one_round(void)
{
	static u64 a = 0x0123456789abcdefull;
	u64 b;

	a = a * 6364136223846793005ull + 1442695040888963407ull;
	b = a >> 7;
	errors += ki_race_round(a, b, (a ^ b) + a + b * 2 + (a + b));
	if (READ_ONCE(warns))
		ki_race_warn();
	WRITE_ONCE(iterations, iterations + 1);
}

static bool let_go(ktime_t end)
{
	return READ_ONCE(release) || !ktime_before(ktime_get(), end);
}

/* In an interrupt, which lockdep has to be told of: it knows no interrupts in interrupts. */
static void let_interrupts_in(void)
{
	lockdep_hardirq_exit();
	local_irq_enable();
}

static void keep_interrupts_out(void)
{
	local_irq_disable();
	lockdep_hardirq_enter();
}

/* On top of the idle task. Other interrupts are let in: CPUs must go on answering each other. */
static void hold_in_interrupt(void)
{
	ktime_t end = ktime_add_ms(ktime_get(), hold_ms);

	WRITE_ONCE(phase, HELD);
	let_interrupts_in();
	while (!let_go(end))
		cpu_relax();
	keep_interrupts_out();
	WRITE_ONCE(phase, RELEASED);
}

/* Does this interrupt stand on top of the wanted instruction? The stack says so. */
static bool at_wanted(void)
{
	struct unwind_state s;

	for (unwind_start(&s, current, NULL, NULL); !unwind_done(&s); unwind_next_frame(&s))
		if (unwind_get_return_address(&s) == want)
			return true;
	return false;
}

/* Hard interrupt at the instruction where the breakpoint was met. */
static void on_irq(struct irq_work *unused)
{
	if (!at_wanted()) {
		late++;
		WRITE_ONCE(armed, true); /* it came late: once more */
		return;
	}
	if (is_idle_task(current)) {
		hold_in_interrupt();
	} else {
		WRITE_ONCE(caught, true);
		wake_up_process(blocker);
	}
}
static struct irq_work irq = IRQ_WORK_INIT_HARD(on_irq);

static void on_breakpoint(struct perf_event *bp, struct perf_sample_data *data,
			  struct pt_regs *regs)
{
	met++;
	if (READ_ONCE(armed) && (current == victim || is_idle_task(current))) {
		WRITE_ONCE(armed, false);
		irq_work_queue(&irq);
	}
}

static int victim_main(void *arg)
{
	while (!kthread_should_stop()) {
		if (READ_ONCE(idle_mode))
			schedule_timeout_idle(1);
		else
			one_round();
		cond_resched_tasks_rcu_qs();
		cpu_relax(); /* should QEMU run one CPU after the other, here it lets the other go
				on */
	}
	return 0;
}

static enum hrtimer_restart on_timer(struct hrtimer *t)
{
	if (READ_ONCE(idle_mode) && is_idle_task(current)) {
		let_interrupts_in();
		one_round();
		keep_interrupts_out();
	}
	hrtimer_forward_now(t, ns_to_ktime(IDLE_NS));
	return HRTIMER_RESTART;
}

static void hold(void)
{
	ktime_t end = ktime_add_ms(ktime_get(), hold_ms);

	WRITE_ONCE(phase, HELD);
	while (!let_go(end) && !kthread_should_stop()) {
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

static void drop_breakpoint(void)
{
	if (breakpoint)
		perf_event_release_kernel(breakpoint);
	breakpoint = NULL;
}

static int catch_start(unsigned long addr)
{
	struct perf_event_attr attr;
	struct perf_event *e;

	if (phase == CATCHING || phase == HELD)
		return -EBUSY;
	drop_breakpoint();
	hw_breakpoint_init(&attr);
	attr.bp_addr = want = addr;
	attr.bp_len = HW_BREAKPOINT_LEN_8;
	attr.bp_type = HW_BREAKPOINT_X;
	e = perf_event_create_kernel_counter(&attr, cpu, NULL, on_breakpoint, NULL);
	if (IS_ERR(e))
		return PTR_ERR(e);
	breakpoint = e;
	release = false;
	WRITE_ONCE(phase, CATCHING);
	smp_store_release(&armed, true);
	return 0;
}

static int on_probe(struct kprobe *p, struct pt_regs *regs)
{
	probed++;
	return 0;
}

static struct kprobe probe;

static int probe_start(unsigned long addr)
{
	int err;

	if (probe.addr)
		return -EEXIST;
	probed = 0;
	probe = (struct kprobe){.addr = (kprobe_opcode_t *)addr, .pre_handler = on_probe};
	err = register_kprobe(&probe);
	if (err)
		probe.addr = NULL;
	return err;
}

static void probe_stop(void)
{
	if (probe.addr)
		unregister_kprobe(&probe);
	probe.addr = NULL;
}

static void set_idle(bool on)
{
	if (on == idle_mode)
		return;
	WRITE_ONCE(idle_mode, on);
	if (!on)
		hrtimer_cancel(&timer);
}

static void timer_begin(void *unused)
{
	hrtimer_start(&timer, ns_to_ktime(IDLE_NS), HRTIMER_MODE_REL_PINNED_HARD);
}

/* Rounds of the writer's own. */
static void run(unsigned long n)
{
	while (n--) {
		one_round();
		cond_resched();
	}
}

static ssize_t control_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char word[32] = "";
	unsigned long addr;
	int err = 0;

	if (len >= sizeof(word) || copy_from_user(word, buf, len))
		return -EINVAL;
	if (sscanf(word, "catch %lx", &addr) == 1) {
		err = catch_start(addr);
	} else if (sscanf(word, "probe %lx", &addr) == 1) {
		err = probe_start(addr);
	} else if (sscanf(word, "run %lu", &addr) == 1) {
		run(addr);
	} else if (sysfs_streq(word, "warn 1") || sysfs_streq(word, "warn 0")) {
		WRITE_ONCE(warns, word[5] == '1');
	} else if (sysfs_streq(word, "unprobe")) {
		probe_stop();
	} else if (sysfs_streq(word, "release")) {
		WRITE_ONCE(release, true);
	} else if (sysfs_streq(word, "idle 1")) {
		set_idle(true);
		smp_call_function_single(cpu, timer_begin, NULL, 1);
	} else if (sysfs_streq(word, "still")) {
		set_idle(true); /* without a timer */
	} else if (sysfs_streq(word, "idle 0")) {
		set_idle(false);
	} else {
		err = -EINVAL;
	}
	return err ? err : len;
}

static int control_show(struct seq_file *m, void *unused)
{
	static const char *const names[] = {"idle", "catching", "held", "released"};
	const u8 *code = (const u8 *)ki_race_victim;
	int i;

	seq_printf(m, "phase %s\niterations %llu\nerrors %llu\nmet %llu\nlate %llu\nprobed %llu\n",
		   names[READ_ONCE(phase)], READ_ONCE(iterations), errors, met, late, probed);
	seq_printf(m, "start %px\ncode", code);
	for (i = 0; i < CODE_BYTES; i++)
		seq_printf(m, " %02x", READ_ONCE(code[i]));
	seq_putc(m, '\n');
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
	set_idle(false);
	kthread_stop(blocker);
	kthread_stop(victim);
	drop_breakpoint();
	probe_stop();
	irq_work_sync(&irq);
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
MODULE_DESCRIPTION("kerninst test: a task that is preempted at one instruction");
MODULE_LICENSE("GPL");
