// SPDX-License-Identifier: GPL-2.0-only
/*
 * /sys/kernel/debug/kcov, as Documentation/dev-tools/kcov.rst has it, on a kernel built without
 * CONFIG_KCOV. It answers as 6.1 with KCOV and its comparisons does; KCOV_REMOTE_ENABLE, for
 * which the kernel would have to be written, is unknown here, as it was before 5.5.
 *
 * What KCOV's compiler puts into each block and before each comparison a session of /dev/kerninst
 * does: chunks that look at ki_kcov_here and call helpers KCOV and KCOV_COMPARISON (kcov_trace.c).
 * Without these nothing is recorded, and nothing else is different. The two know nothing of each
 * other: an area belongs to its open file, and as long as a task is traced, to that; the chunks to
 * their session.
 *
 * A stock kernel's task has no place for its trace, so the driver follows the switches: at each the
 * next task is looked for among those that are traced, by a hash table that is read without a lock.
 * Entries are made and freed for each KCOV_ENABLE, after a grace period, so a search never strays
 * into another chain. The hooks are there while a task has been traced and a file is open.
 *
 * Freeing an area needs no wait: its task has ended the trace itself, outside of any chunk, and
 * chunks use no other task's. Chunks are left alone by all this: they go as all chunks do.
 *
 * Locks: ki_kcov_lock (raw: the end of a task is told with preemption off) protects the table and
 * all files; ki_kcov_hooks_lock the hooks. Neither is taken with ki_lock held.
 */
#include <linux/debugfs.h>
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/slab.h>
#include <linux/string.h>
#include <linux/tracepoint.h>
#include <linux/vmalloc.h>
#include <linux/workqueue.h>
#include <trace/events/sched.h>
#include <uapi/linux/kcov.h>

#include <asm/page_types.h>

#include "compat.h"
#include "kcov/kcov.h"

#define KI_KCOV_CHAIN_BITS 8

/* An open file. */
struct ki_kcov {
	refcount_t users;	     /* the file, and the task that is traced */
	u64 *area;		     /* NULL: before KCOV_INIT_TRACE */
	u64 size;		     /* words */
	struct ki_kcov_trace *trace; /* of the task that is traced; NULL */
	struct rcu_head rcu;
};

DEFINE_PER_CPU(struct ki_kcov_cpu, ki_kcov_here);
u64 ki_kcov_slide;

static struct hlist_head ki_kcov_chains[1 << KI_KCOV_CHAIN_BITS];
static DEFINE_RAW_SPINLOCK(ki_kcov_lock);
static u32 ki_kcov_traces; /* under ki_kcov_lock */

static DEFINE_MUTEX(ki_kcov_hooks_lock);
static u32 ki_kcov_files;
static bool ki_kcov_hooked;
static void unhook_if_unused(struct work_struct *unused);
static DECLARE_WORK(ki_kcov_unused, unhook_if_unused);
static struct tracepoint *ki_kcov_switched, *ki_kcov_exited;

static struct dentry *ki_kcov_file;

/* ---- the end of a file ---- */

/* vfree does not mind where it is called, as long as that is an interrupt or may sleep. */
static void free_kcov(struct rcu_head *rcu)
{
	struct ki_kcov *k = container_of(rcu, struct ki_kcov, rcu);

	vfree(k->area);
	kfree(k);
}

/* With preemption off, too. */
static void put_kcov(struct ki_kcov *k)
{
	if (refcount_dec_and_test(&k->users))
		call_rcu(&k->rcu, free_kcov);
}

/* ---- which task is traced ---- */

static struct hlist_head *chain_of(const struct task_struct *task)
{
	return &ki_kcov_chains[hash_ptr(task, KI_KCOV_CHAIN_BITS)];
}

static __always_inline struct ki_kcov_trace *find(const struct task_struct *task)
{
	struct ki_kcov_trace *t;

	hlist_for_each_entry_rcu_notrace(t, chain_of(task), in_chain) if (t->task == task) return t;
	return NULL;
}

/* t: or NULL. */
static __always_inline void set_here(struct ki_kcov_trace *t)
{
	struct ki_kcov_trace *comparisons = t && t->compares ? t : NULL;
	struct ki_kcov_trace *blocks = comparisons ? NULL : t;

	this_cpu_write(ki_kcov_here.blocks, blocks);
	this_cpu_write(ki_kcov_here.comparisons, comparisons);
}

/* Of the current task, preemption off; NULL: it has none. */
static struct ki_kcov_trace *trace_here(void)
{
	return this_cpu_read(ki_kcov_here.blocks) ?: this_cpu_read(ki_kcov_here.comparisons);
}

/* In __schedule, interrupts off. */
static notrace void on_switch(void *unused, bool preempt, struct task_struct *prev,
			      struct task_struct *next, unsigned int prev_state)
{
	set_here(find(next));
}

/* The current task gets a trace. Its reference, and the module's, are the trace's from here on. */
static void begin_trace(struct ki_kcov_trace *t)
{
	refcount_inc(&t->kcov->users);
	__module_get(THIS_MODULE);
	t->kcov->trace = t;
	ki_kcov_traces++;
	hlist_add_head_rcu(&t->in_chain, chain_of(t->task));
	set_here(t);
}

/* The current task has none any more. */
static void end_trace(struct ki_kcov_trace *t)
{
	set_here(NULL);
	hlist_del_rcu(&t->in_chain);
	ki_kcov_traces--;
	if (t->kcov->trace == t)
		t->kcov->trace = NULL;
}

static void drop_trace(struct ki_kcov_trace *t)
{
	put_kcov(t->kcov);
	kfree_rcu(t, rcu);
	module_put(THIS_MODULE);
}

/* In do_exit, of the current task. */
static notrace void on_exit(void *unused, struct task_struct *task)
{
	struct ki_kcov_trace *t = trace_here();

	if (likely(!t))
		return;
	raw_spin_lock(&ki_kcov_lock);
	end_trace(t);
	raw_spin_unlock(&ki_kcov_lock);
	schedule_work(&ki_kcov_unused); /* its file may be closed already */
	drop_trace(t);
}

/* ---- the hooks ---- */

static int hook(void)
{
	int err;

	if (ki_kcov_hooked)
		return 0;
	/* No task may be traced of which we are not told that it ends. */
	err = tracepoint_probe_register(ki_kcov_exited, on_exit, NULL);
	if (err)
		return err;
	err = tracepoint_probe_register(ki_kcov_switched, on_switch, NULL);
	if (err) {
		tracepoint_probe_unregister(ki_kcov_exited, on_exit, NULL);
		tracepoint_synchronize_unregister();
	}
	ki_kcov_hooked = !err;
	return err;
}

static void unhook(void)
{
	if (!ki_kcov_hooked)
		return;
	tracepoint_probe_unregister(ki_kcov_switched, on_switch, NULL);
	tracepoint_probe_unregister(ki_kcov_exited, on_exit, NULL);
	tracepoint_synchronize_unregister();
	ki_kcov_hooked = false;
}

/* Without a file no task can begin; who has begun can only end. */
static void unhook_if_unused(struct work_struct *unused)
{
	mutex_lock(&ki_kcov_hooks_lock);
	if (!ki_kcov_files && !READ_ONCE(ki_kcov_traces))
		unhook();
	mutex_unlock(&ki_kcov_hooks_lock);
}

/* ---- requests ---- */

static long init_trace(struct ki_kcov *k, unsigned long size)
{
	bool busy;
	u64 *area;

	if (size < 2 || size > INT_MAX / sizeof(*area))
		return -EINVAL;
	area = vmalloc_user(size * sizeof(*area));
	if (!area)
		return -ENOMEM;
	raw_spin_lock(&ki_kcov_lock);
	busy = k->area;
	if (!busy) {
		k->size = size;
		k->area = area;
	}
	raw_spin_unlock(&ki_kcov_lock);
	if (busy)
		vfree(area);
	return busy ? -EBUSY : 0;
}

/* KCOV's trace ends where do_exit begins: a thread that has been joined has none. */
static bool is_traced(const struct ki_kcov *k)
{
	return k->trace && !(READ_ONCE(k->trace->task->flags) & PF_EXITING);
}

static long try_enable(struct ki_kcov *k, unsigned long what, struct ki_kcov_trace *t)
{
	if (!k->area || is_traced(k))
		return -EINVAL;
	if (trace_here())
		return -EBUSY;
	if (what != KCOV_TRACE_PC && what != KCOV_TRACE_CMP)
		return -EINVAL;
	t->compares = what == KCOV_TRACE_CMP;
	t->area = k->area;
	t->room = (k->size - 1) / (t->compares ? KI_KCOV_COMPARISON_WORDS : 1);
	begin_trace(t);
	return 0;
}

static long enable(struct ki_kcov *k, unsigned long what)
{
	struct ki_kcov_trace *t = kzalloc(sizeof(*t), GFP_KERNEL);
	long err;

	if (!t)
		return -ENOMEM;
	t->task = current;
	t->kcov = k;
	mutex_lock(&ki_kcov_hooks_lock);
	err = hook();
	if (!err) {
		raw_spin_lock(&ki_kcov_lock);
		err = try_enable(k, what, t);
		raw_spin_unlock(&ki_kcov_lock);
	}
	mutex_unlock(&ki_kcov_hooks_lock);
	if (err)
		kfree(t);
	return err;
}

static long disable(struct ki_kcov *k, unsigned long unused)
{
	struct ki_kcov_trace *t;

	raw_spin_lock(&ki_kcov_lock);
	t = trace_here();
	if (unused || !t || t->kcov != k)
		t = NULL;
	else
		end_trace(t);
	raw_spin_unlock(&ki_kcov_lock);
	if (!t)
		return -EINVAL;
	drop_trace(t);
	return 0;
}

static long kcov_ioctl(struct file *file, unsigned int cmd, unsigned long arg)
{
	static const struct {
		unsigned int cmd;
		long (*handle)(struct ki_kcov *k, unsigned long arg);
	} requests[] = {
		{KCOV_INIT_TRACE, init_trace},
		{KCOV_ENABLE, enable},
		{KCOV_DISABLE, disable},
	};
	u32 i;

	for (i = 0; i < ARRAY_SIZE(requests); i++)
		if (requests[i].cmd == cmd)
			return requests[i].handle(file->private_data, arg);
	return -ENOTTY;
}

static int kcov_mmap(struct file *file, struct vm_area_struct *vma)
{
	struct ki_kcov *k = file->private_data;
	u64 *area, size;

	raw_spin_lock(&ki_kcov_lock);
	area = k->area; /* once there, it stays */
	size = k->size * sizeof(*area);
	raw_spin_unlock(&ki_kcov_lock);
	if (!area || vma->vm_pgoff || vma->vm_end - vma->vm_start != size)
		return -EINVAL;
	return remap_vmalloc_range(vma, area, 0);
}

static int kcov_open(struct inode *inode, struct file *file)
{
	struct ki_kcov *k = kzalloc(sizeof(*k), GFP_KERNEL);

	if (!k)
		return -ENOMEM;
	refcount_set(&k->users, 1);
	mutex_lock(&ki_kcov_hooks_lock);
	ki_kcov_files++;
	mutex_unlock(&ki_kcov_hooks_lock);
	file->private_data = k;
	return nonseekable_open(inode, file);
}

static int kcov_release(struct inode *inode, struct file *file)
{
	put_kcov(file->private_data);
	mutex_lock(&ki_kcov_hooks_lock);
	ki_kcov_files--;
	mutex_unlock(&ki_kcov_hooks_lock);
	unhook_if_unused(NULL);
	return 0;
}

static const struct file_operations kcov_fops = {
	.owner = THIS_MODULE,
	.open = kcov_open,
	.release = kcov_release,
	.unlocked_ioctl = kcov_ioctl,
	.compat_ioctl = kcov_ioctl,
	.mmap = kcov_mmap,
};

/* ---- beginning and end ---- */

static void find_tracepoint(struct tracepoint *tp, void *unused)
{
	if (!strcmp(tp->name, "sched_process_exit"))
		ki_kcov_exited = tp;
	if (!strcmp(tp->name, "sched_switch"))
		ki_kcov_switched = tp;
}

/*
 * The file is no proxy of debugfs, which knows no mmap; an open one holds the module, so it
 * outlives nothing. Without debugfs, or where the kernel has the file itself, there is none of
 * ours.
 */
int ki_kcov_init(void)
{
	unsigned long text = ki_symbol("_text");

	check_trace_callback_type_sched_switch(on_switch);
	KI_CHECK_EXIT_HOOK(check_trace_callback_type_sched_process_exit);
	for_each_kernel_tracepoint(find_tracepoint, NULL);
	if (IS_ENABLED(CONFIG_KCOV) || !text || !ki_kcov_exited || !ki_kcov_switched)
		return 0;
	ki_kcov_slide = text - __START_KERNEL;
	ki_kcov_file = debugfs_create_file_unsafe("kcov", 0600, NULL, NULL, &kcov_fops);
	return 0;
}

void ki_kcov_exit(void)
{
	debugfs_remove(ki_kcov_file); /* an error, or NULL, is allowed */
	cancel_work_sync(&ki_kcov_unused);
	unhook();
	cancel_work_sync(&ki_kcov_unused); /* one that the last hook has asked for */
	rcu_barrier();
}
