// SPDX-License-Identifier: GPL-2.0-only
/*
 * ki_metrics: functions that take known times, called by tasks and by a timer's interrupt.
 *
 * /proc/ki_metrics: write
 *
 *	sleep MS N	N calls that sleep MS milliseconds each
 *	spin US N	that run for US microseconds
 *	both US MS N	that run for US microseconds, in which they may be moved, then sleep
 *	recurse DEPTH US  a call that calls itself, to that depth; each level runs for US
 *	tail MS N	that jump to the one that sleeps
 *	paths US WAY N	that take ways through blocks of known times: US, then twice that if bit 0
 *			of WAY is set, else a sleep of 10 ms; three times that if bit 1 is;
 *			then US again
 *	block		the writer sleeps inside until "wake" is written
 *	never		one that never returns, nor does the write
 *	tick N US	N calls by the writer, for US each, while the timer calls each millisecond
 *	reset		the numbers below are 0 from here on
 *
 * Reading it tells of each function "NAME calls nanoseconds": how often it was called from outside
 * of itself, and how long that took by the kernel's monotonic clock, read around each call.
 * "tick" has the interrupt's calls among them; "ticks N" is how many these are. "skb_data N": where
 * in its struct sk_buff a packet's header is pointed to.
 */
#include <linux/delay.h>
#include <linux/hrtimer.h>
#include <linux/ktime.h>
#include <linux/module.h>
#include <linux/proc_fs.h>
#include <linux/seq_file.h>
#include <linux/skbuff.h>
#include <linux/uaccess.h>
#include <linux/wait.h>

#define ALONE __attribute__((noipa))

void ki_metrics_sleep(int ms);
void ki_metrics_spin(int us);
void ki_metrics_both(int us, int ms);
int ki_metrics_recurse(int depth, int us);
void ki_metrics_tail(int ms);
int ki_metrics_paths(int us, int way);
int ki_metrics_block(void);
void ki_metrics_never(void);
void ki_metrics_tick(int us);

enum which { SLEEP, SPIN, BOTH, RECURSE, TAIL, PATHS, BLOCK, TICK, WHICH };

static const char *const names[WHICH] = {
	"sleep", "spin", "both", "recurse", "tail", "paths", "block", "tick",
};

static atomic64_t calls[WHICH], times[WHICH];
static atomic64_t ticks;
static DECLARE_WAIT_QUEUE_HEAD(sleepers);
static int awake;
static struct hrtimer timer;
static bool ticking;

static void run_for(int us)
{
	u64 end = ktime_get_ns() + 1000ull * us;

	while (ktime_get_ns() < end)
		cpu_relax();
}

/* The same; where the kernel is not preempted, it may be here. */
static void run_and_yield(int us)
{
	u64 end = ktime_get_ns() + 1000ull * us;

	while (ktime_get_ns() < end) {
		cond_resched();
		cpu_relax();
	}
}

/* Not by jiffies, of which the last may be a part. */
ALONE void ki_metrics_sleep(int ms)
{
	ktime_t time = ms_to_ktime(ms);

	set_current_state(TASK_UNINTERRUPTIBLE);
	schedule_hrtimeout(&time, HRTIMER_MODE_REL);
	barrier(); /* no tail jump */
}

ALONE void ki_metrics_spin(int us)
{
	run_for(us);
}

ALONE void ki_metrics_both(int us, int ms)
{
	run_and_yield(us);
	schedule_timeout_uninterruptible(msecs_to_jiffies(ms));
	barrier(); /* no tail jump */
}

ALONE int ki_metrics_recurse(int depth, int us)
{
	int below = depth ? ki_metrics_recurse(depth - 1, us) : 0;

	run_for(us);
	return below + 1;
}

ALONE void ki_metrics_tail(int ms)
{
	barrier();
	ki_metrics_sleep(ms);
}

/* A call is not the last instruction of its block: something else might jump after it. */
#define STEP(call)                                                                                 \
	do {                                                                                       \
		call;                                                                              \
		asm volatile("nop");                                                               \
	} while (0)

ALONE int ki_metrics_paths(int us, int way)
{
	STEP(ki_metrics_spin(us));
	if (way & 1)
		STEP(ki_metrics_spin(2 * us));
	else
		STEP(ki_metrics_sleep(10));
	if (way & 2)
		STEP(ki_metrics_spin(3 * us));
	STEP(ki_metrics_spin(us));
	return way;
}

ALONE void ki_metrics_never(void)
{
	WRITE_ONCE(awake, 0);
	for (;;)
		schedule_timeout_uninterruptible(HZ);
}

/* The compiler is not to know that it does not return. */
static void (*volatile never)(void) = ki_metrics_never;

ALONE int ki_metrics_block(void)
{
	return wait_event_killable(sleepers, READ_ONCE(awake));
}

ALONE void ki_metrics_tick(int us)
{
	run_for(us);
}

static void note(enum which w, u64 start)
{
	atomic64_add(ktime_get_ns() - start, &times[w]);
	atomic64_inc(&calls[w]);
}

#define TIMED(w, call)                                                                             \
	do {                                                                                       \
		u64 start_ = ktime_get_ns();                                                       \
                                                                                                   \
		call;                                                                              \
		note(w, start_);                                                                   \
	} while (0)

static enum hrtimer_restart on_timer(struct hrtimer *t)
{
	TIMED(TICK, ki_metrics_tick(5));
	atomic64_inc(&ticks);
	if (!READ_ONCE(ticking))
		return HRTIMER_NORESTART;
	hrtimer_forward_now(t, ms_to_ktime(1));
	return HRTIMER_RESTART;
}

static int do_ticks(int n, int us)
{
	hrtimer_init(&timer, CLOCK_MONOTONIC, HRTIMER_MODE_REL_HARD);
	timer.function = on_timer;
	WRITE_ONCE(ticking, true);
	hrtimer_start(&timer, ms_to_ktime(1), HRTIMER_MODE_REL_HARD);
	while (n-- > 0) {
		TIMED(TICK, ki_metrics_tick(us));
		cond_resched();
	}
	WRITE_ONCE(ticking, false);
	hrtimer_cancel(&timer);
	return 0;
}

static int do_block(void)
{
	int ret;

	TIMED(BLOCK, ret = ki_metrics_block());
	return ret;
}

static int do_reset(void)
{
	enum which w;

	for (w = 0; w < WHICH; w++) {
		atomic64_set(&calls[w], 0);
		atomic64_set(&times[w], 0);
	}
	atomic64_set(&ticks, 0);
	WRITE_ONCE(awake, 0);
	return 0;
}

static int do_wake(void)
{
	WRITE_ONCE(awake, 1);
	wake_up_all(&sleepers);
	return 0;
}

static int do_command(const char *text)
{
	int a, b, n;

	if (!strncmp(text, "block", 5))
		return do_block();
	if (!strncmp(text, "wake", 4))
		return do_wake();
	if (!strncmp(text, "reset", 5))
		return do_reset();
	if (sscanf(text, "tick %d %d", &n, &a) == 2)
		return do_ticks(n, a);
	if (sscanf(text, "recurse %d %d", &a, &b) == 2) {
		TIMED(RECURSE, ki_metrics_recurse(a, b));
		return 0;
	}
	if (!strncmp(text, "never", 5))
		never();
	if (sscanf(text, "both %d %d %d", &a, &b, &n) == 3)
		while (n-- > 0)
			TIMED(BOTH, ki_metrics_both(a, b));
	else if (sscanf(text, "sleep %d %d", &a, &n) == 2)
		while (n-- > 0)
			TIMED(SLEEP, ki_metrics_sleep(a));
	else if (sscanf(text, "spin %d %d", &a, &n) == 2)
		while (n-- > 0)
			TIMED(SPIN, ki_metrics_spin(a));
	else if (sscanf(text, "paths %d %d %d", &a, &b, &n) == 3)
		while (n-- > 0)
			TIMED(PATHS, ki_metrics_paths(a, b));
	else if (sscanf(text, "tail %d %d", &a, &n) == 2)
		while (n-- > 0)
			TIMED(TAIL, ki_metrics_tail(a));
	else
		return -EINVAL;
	return 0;
}

static ssize_t command(struct file *file, const char __user *from, size_t len, loff_t *pos)
{
	char text[64] = "";
	int ret;

	if (len >= sizeof(text))
		return -EINVAL;
	if (copy_from_user(text, from, len))
		return -EFAULT;
	ret = do_command(text);
	return ret ? ret : len;
}

static int show(struct seq_file *m, void *unused)
{
	enum which w;

	for (w = 0; w < WHICH; w++)
		seq_printf(m, "%s %lld %lld\n", names[w], atomic64_read(&calls[w]),
			   atomic64_read(&times[w]));
	seq_printf(m, "ticks %lld\n", atomic64_read(&ticks));
	seq_printf(m, "skb_data %zu\n", offsetof(struct sk_buff, data));
	return 0;
}

static int open(struct inode *inode, struct file *file)
{
	return single_open(file, show, NULL);
}

static const struct proc_ops ops = {
	.proc_open = open,
	.proc_read = seq_read,
	.proc_lseek = seq_lseek,
	.proc_release = single_release,
	.proc_write = command,
};

static int __init start(void)
{
	return proc_create("ki_metrics", 0600, NULL, &ops) ? 0 : -ENOMEM;
}

static void __exit stop(void)
{
	remove_proc_entry("ki_metrics", NULL);
}

module_init(start);
module_exit(stop);
MODULE_DESCRIPTION("kerninst test: functions that take known times");
MODULE_LICENSE("GPL");
