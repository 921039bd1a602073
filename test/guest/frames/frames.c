// SPDX-License-Identifier: GPL-2.0-only
/*
 * ki_frames: what the unwinder says at every single instruction.
 *
 * A trace that begins inside a patch must show the callers that it would show without the patch.
 * Interrupts meet patches at random, emulated ones nearly always at the same few instructions.
 * So this module does not wait for them: it runs a piece of work with the trap flag set, and
 * unwinds the stack at each instruction, from the registers there, as an interrupt's trace does.
 *
 *	learn	remember the callers in the order in which they come, when nothing is instrumented
 *	check	at each step, inside patches or not, the callers must be those that were there
 *		then: the last ones, or the next; and at the end all must have come
 *
 * The instruction itself is not compared: it is in the patch. Its callers never are, since no
 * return address points into a patch, but for one: that of a helper of the driver, which a long
 * chunk calls. Where that is, what comes after it must have been learnt.
 *
 * /proc/ki_frames: write "learn", "check", "warn" (run into warnings), "bug" (a thread dies of it),
 * "dump" (dump_stack), or a process id (what livepatch's reliable unwinder says of that sleeping
 * task). Read: lines "NAME VALUE", and of the first stack that was wrong its frames.
 */
#include <linux/jhash.h>
#include <linux/kallsyms.h>
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/kthread.h>
#include <linux/module.h>
#include <linux/pid.h>
#include <linux/proc_fs.h>
#include <linux/sched/task.h>
#include <linux/seq_file.h>
#include <linux/slab.h>
#include <linux/stacktrace.h>
#include <linux/static_call.h>
#include <linux/uaccess.h>
#include <linux/vmalloc.h>
#include <asm/debugreg.h>
#include <asm/unwind.h>

#include "work.h"

#define FRAMES	   32
#define TURNS	   65536      /* how often the callers change in the work, at most */
#define PATCH_SPAN (8u << 20) /* bytes around the first patch: places in it are told apart */

static unsigned long heap_start, heap_end; /* where the driver's patches are */
module_param(heap_start, ulong, 0);
module_param(heap_end, ulong, 0);

static DEFINE_MUTEX(lock);
static struct task_struct *stepped; /* whose steps are looked at */
static bool learning;
static u64 *turns;	    /* hashes of callers, each time that they change */
static u32 learnt, turn;    /* how many; after the one where the work is */
static unsigned long *seen; /* bit: the instruction there has been stepped on */
static unsigned long first_patch;
static u64 steps, in_patch, in_helper, places, unknown, lost;
static unsigned long wrong[FRAMES], wrong_ip;
static unsigned int wrong_count;
static int warned, dumped;

static unsigned long frames[FRAMES];
static unsigned int nframes;
static int reliable;

static int no_stack(struct task_struct *t, unsigned long *store, unsigned int size)
{
	return -EOPNOTSUPP;
}
DEFINE_STATIC_CALL(save_reliable, no_stack);

static bool is_patch(unsigned long ip)
{
	return ip >= heap_start && ip < heap_end;
}

static bool is_helper(unsigned long ip)
{
	return ip >= MODULES_VADDR && ip < MODULES_END && !within_module(ip, THIS_MODULE) &&
	       !is_patch(ip);
}

/*
 * What helpers call by a pointer goes by way of a thunk, of which the kernel's own rows say
 * nothing. (Asked for only where a trace has ended at once: it takes long.)
 */
static bool is_thunk(unsigned long ip)
{
	static unsigned long known;
	char name[KSYM_SYMBOL_LEN];

	if (ip >= MODULES_VADDR || ip / 32 == known)
		return ip / 32 == known;
	sprint_symbol(name, ip);
	if (strncmp(name, "__x86_indirect_thunk", 20))
		return false;
	known = ip / 32;
	return true;
}

/* Where the callers begin: with the first, or after the patch that has called a helper. */
static unsigned int callers_at(unsigned long ip, const unsigned long *store, unsigned int n)
{
	unsigned int i;

	for (i = n; i-- > 0;)
		if (is_patch(store[i]) && is_helper(i ? store[i - 1] : ip))
			return i + 1;
	return 0;
}

/* The callers at regs, without where these are; false: the unwinder lost its way. */
static bool unwind(struct pt_regs *regs, unsigned long *store, unsigned int *n)
{
	struct unwind_state state;
	unsigned long addr;

	*n = 0;
	for (unwind_start(&state, current, regs, NULL); !unwind_done(&state) && *n < FRAMES;
	     unwind_next_frame(&state)) {
		addr = unwind_get_return_address(&state);
		if (!addr)
			break;
		store[(*n)++] = addr;
	}
	return !unwind_error(&state);
}

/* Are these the callers' turn? */
static bool is_turn(u64 hash)
{
	if (turn && turns[turn - 1] == hash)
		return true;
	if (learning && learnt < TURNS)
		turns[learnt++] = hash;
	if (turn == learnt || turns[turn] != hash)
		return false;
	turn++;
	return true;
}

static void remember_wrong(unsigned long ip, const unsigned long *store, unsigned int n)
{
	if (wrong_count)
		return;
	wrong_ip = ip;
	memcpy(wrong, store, n * sizeof(*store));
	wrong_count = n;
}

static void note_patch(unsigned long ip)
{
	in_patch++;
	if (!first_patch)
		first_patch = ip - PATCH_SPAN / 2;
	if (ip - first_patch < PATCH_SPAN)
		places += !__test_and_set_bit(ip - first_patch, seen);
}

static void look(struct pt_regs *regs)
{
	static unsigned long store[FRAMES];
	unsigned int n, at;
	bool good = unwind(regs, store, &n);
	u64 hash = 0;

	steps++;
	if (is_patch(regs->ip))
		note_patch(regs->ip);
	at = callers_at(regs->ip, store, n);
	in_helper += at > 0;
	if (n > at)
		hash = (u64)jhash2((u32 *)(store + at), (n - at) * 2, 1) << 32 |
		       jhash2((u32 *)(store + at), (n - at) * 2, 2);
	if (n < 2 && is_thunk(regs->ip))
		return;
	if (!good || !hash) {
		lost++;
		remember_wrong(regs->ip, store, n);
	} else if (!is_turn(hash)) {
		unknown++;
		remember_wrong(regs->ip, store, n);
	}
}

static int on_debug(struct notifier_block *nb, unsigned long val, void *data)
{
	struct die_args *args = data;
	unsigned long *dr6 = (unsigned long *)args->err;

	if (val != DIE_DEBUG || current != READ_ONCE(stepped) || !(*dr6 & DR_STEP))
		return NOTIFY_DONE;
	look(args->regs);
	return NOTIFY_STOP;
}

static struct notifier_block debug_block = {.notifier_call = on_debug};

/* The trap flag goes up and down here, and nowhere else. */
static noinline void step_through(void (*work)(void))
{
	unsigned long flags;

	preempt_disable();
	flags = native_save_fl();
	WRITE_ONCE(stepped, current);
	asm volatile("push %0; popf" : : "rm"(flags | X86_EFLAGS_TF) : "memory", "cc");
	work();
	asm volatile("push %0; popf" : : "rm"(flags) : "memory", "cc");
	WRITE_ONCE(stepped, NULL);
	preempt_enable();
}

static int run(bool learn)
{
	learning = learn;
	steps = in_patch = in_helper = places = unknown = lost = 0;
	wrong_count = turn = 0;
	first_patch = 0;
	memset(seen, 0, PATCH_SPAN / 8);
	if (learn)
		learnt = 0;
	step_through(ki_frames_work);
	return 0;
}

static int look_at_task(const char *word)
{
	struct task_struct *t;
	int pid, err = kstrtoint(word, 0, &pid);

	if (err)
		return err;
	rcu_read_lock();
	t = get_pid_task(find_vpid(pid), PIDTYPE_PID);
	rcu_read_unlock();
	if (!t)
		return -ESRCH;
	reliable = static_call(save_reliable)(t, frames, FRAMES);
	nframes = reliable > 0 ? reliable : 0;
	put_task_struct(t);
	return 0;
}

static int die_of_bug(void *unused)
{
	return ki_frames_bug(0) + 1;
}

static ssize_t control_write(struct file *file, const char __user *buf, size_t len, loff_t *pos)
{
	char word[16] = "";
	int err = 0;

	if (len >= sizeof(word) || copy_from_user(word, buf, len))
		return -EINVAL;
	strim(word);
	mutex_lock(&lock);
	if (!strcmp(word, "learn") || !strcmp(word, "check"))
		err = run(word[0] == 'l');
	else if (!strcmp(word, "warn"))
		warned = ki_frames_warn(warned);
	else if (!strcmp(word, "bug"))
		err = PTR_ERR_OR_ZERO(kthread_run(die_of_bug, NULL, "ki_frames_bug"));
	else if (!strcmp(word, "dump"))
		dumped = ki_frames_dump(dumped);
	else
		err = look_at_task(word);
	mutex_unlock(&lock);
	return err ? err : len;
}

static int control_show(struct seq_file *m, void *unused)
{
	unsigned int i;

	mutex_lock(&lock);
	seq_printf(
		m,
		"steps %llu\nin_patch %llu\nplaces %llu\nlearnt %u\nturn %u\nunknown %llu\nlost %llu\n",
		steps, in_patch, places, learnt, turn, unknown, lost);
	seq_printf(m, "in_helper %llu\nwarned %d\ndumped %d\nreliable %d\n", in_helper, warned,
		   dumped, reliable);
	for (i = 0; i < nframes; i++)
		seq_printf(m, "frame %pS\n", (void *)frames[i]);
	if (wrong_count || lost)
		seq_printf(m, "wrong at %pS\n", (void *)wrong_ip);
	for (i = 0; i < wrong_count; i++)
		seq_printf(m, "  from %pS\n", (void *)wrong[i]);
	mutex_unlock(&lock);
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

/* livepatch's unwinder is not for modules. A kprobe tells where it is. */
static void find_reliable(void)
{
	struct kprobe kp = {.symbol_name = "stack_trace_save_tsk_reliable"};
	char name[KSYM_SYMBOL_LEN], *plus;
	unsigned long off = 0;

	if (register_kprobe(&kp))
		return;
	sprint_symbol(name, (unsigned long)kp.addr);
	plus = strchr(name, '+');
	if (plus)
		off = simple_strtoul(plus + 1, NULL, 16);
	static_call_update(save_reliable, (typeof(&no_stack))((unsigned long)kp.addr - off));
	unregister_kprobe(&kp);
}

static int __init frames_init(void)
{
	int err = -ENOMEM;

	turns = vzalloc(TURNS * sizeof(*turns));
	seen = vzalloc(PATCH_SPAN / 8);
	if (!turns || !seen)
		goto free;
	find_reliable();
	err = register_die_notifier(&debug_block);
	if (err)
		goto free;
	if (proc_create("ki_frames", 0600, NULL, &control_ops))
		return 0;
	err = -ENOMEM;
	unregister_die_notifier(&debug_block);
free:
	vfree(turns);
	vfree(seen);
	return err;
}

static void __exit frames_exit(void)
{
	remove_proc_entry("ki_frames", NULL);
	unregister_die_notifier(&debug_block);
	vfree(turns);
	vfree(seen);
}

module_init(frames_init);
module_exit(frames_exit);
MODULE_DESCRIPTION("kerninst test: the unwinder at every instruction");
MODULE_LICENSE("GPL");
