// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which address spaces have our breakpoints, and where these lead.
 *
 * A breakpoint in user mode comes to a die notifier before it becomes a signal. It is looked up by
 * address space and address, under RCU.
 *
 * A fork copies text with our bytes, so the copy has to be known before its first thread runs.
 * Where the kernel tells uprobes of the copy (uprobe_dup_mmap), a kprobe stands while any process
 * is changed: there the mmap_lock of the original is held for writing, and we change text with it
 * held for reading. So what is copied while our bytes are there is in the list, and nothing else.
 * There nothing can be allocated (a kernel for real time would sleep), so there are spare ones,
 * which a piece of work provides; it takes those back whose processes have ended, too.
 */
#include <linux/hashtable.h>
#include <linux/kdebug.h>
#include <linux/kprobes.h>
#include <linux/mm.h>
#include <linux/sched.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <linux/uaccess.h>

#include "compat.h"
#include "process/process.h"
#include "text/hits.h"

#define KI_SPARES 256

static DEFINE_HASHTABLE(ki_spaces, 8);
static DEFINE_RAW_SPINLOCK(ki_spaces_lock); /* for it, lists of processes, and what is spare */
static LIST_HEAD(ki_spares);
static u32 ki_nspares;

static void tidy(struct work_struct *unused);
static DECLARE_WORK(ki_tidy_work, tidy);

/* ---- breakpoints ---- */

static const struct ki_process_edit *edit_at(const struct ki_process *p, unsigned long addr)
{
	u32 lo = 0, hi = smp_load_acquire(&p->left) ? 0 : smp_load_acquire(&p->n);
	const struct ki_process_edit *v = p->edits;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (v[mid].addr == addr)
			return ki_process_is_given(p, mid) ? NULL : &v[mid];
		if (v[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return NULL;
}

/* Each session that has it there lets the thread go for itself. */
static void hold_for_all(const struct mm_struct *mm, unsigned long addr)
{
	const struct ki_process_edit *e;
	struct ki_space *s;

	hash_for_each_possible_rcu(ki_spaces, s, hash, (unsigned long)mm)
	{
		if (s->mm != mm || s != s->of->own)
			continue;
		e = edit_at(s->of, addr);
		if (e && e->flags & KI_PROCESS_HOLD)
			ki_hold_begin(&s->of->hold);
	}
}

/* Who is told of it sees the registers as they are at the place. */
static void follow(const struct ki_process_edit *e, struct pt_regs *regs)
{
	regs->ip = e->addr;
	if (e->flags & KI_PROCESS_HIT)
		ki_hits[KI_PROCESS_STUB(e->addr)](e->addr, regs);
	if (e->flags & KI_PROCESS_HOLD)
		hold_for_all(current->mm, e->addr);
	regs->ip = e->via;
}

/* Met by a CPU that had translated it before it went: QEMU's do that (text.c). */
static bool is_stale(unsigned long addr)
{
	u8 now;

	return !copy_from_user_nofault(&now, (const void __user *)addr, 1) && now != KI_INT3;
}

static int on_breakpoint(struct notifier_block *nb, unsigned long val, void *data)
{
	struct pt_regs *regs = ((struct die_args *)data)->regs;
	struct mm_struct *mm = current->mm;
	unsigned long addr = regs->ip - 1;
	const struct ki_process_edit *e;
	const struct ki_space *s;
	bool known = false;

	if (val != DIE_INT3 || !user_mode(regs) || !user_64bit_mode(regs))
		return NOTIFY_DONE;
	hash_for_each_possible_rcu(ki_spaces, s, hash, (unsigned long)mm)
	{
		if (s->mm != mm)
			continue;
		known = true;
		e = edit_at(s->of, addr);
		if (!e || !e->via)
			continue;
		follow(e, regs);
		return NOTIFY_STOP;
	}
	if (!known || !is_stale(addr))
		return NOTIFY_DONE;
	regs->ip = addr;
	return NOTIFY_STOP;
}

static struct notifier_block ki_space_block = {
	.notifier_call = on_breakpoint,
	.priority = INT_MAX, /* before uprobes, which claims what it does not know */
};

/* ---- spaces ---- */

static void put_spare(struct ki_space *s)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ki_spaces_lock, flags);
	list_add(&s->list, &ki_spares);
	ki_nspares++;
	raw_spin_unlock_irqrestore(&ki_spaces_lock, flags);
}

static int fill_spares(void)
{
	while (READ_ONCE(ki_nspares) < KI_SPARES) {
		struct ki_space *s = kzalloc(sizeof(*s), GFP_KERNEL);

		if (!s)
			return -ENOMEM;
		put_spare(s);
	}
	return 0;
}

static struct ki_space *take_spare(void)
{
	struct ki_space *s = list_first_entry_or_null(&ki_spares, struct ki_space, list);

	if (s) {
		list_del(&s->list);
		ki_nspares--;
	}
	return s;
}

static void add(struct ki_process *p, struct mm_struct *mm, struct ki_space *s, bool patched)
{
	mmgrab(mm);
	s->mm = mm;
	s->of = p;
	s->patched = patched;
	list_add_tail(&s->list, &p->spaces);
	hash_add_rcu(ki_spaces, &s->hash, (unsigned long)mm);
}

/* No search finds them any more, but one may still look at them. */
static void forget(struct list_head *gone)
{
	struct ki_space *s, *next;

	if (list_empty(gone))
		return;
	synchronize_rcu();
	list_for_each_entry_safe (s, next, gone, list) {
		mmdrop(s->mm);
		kfree(s);
		cond_resched();
	}
}

static void take_out(struct ki_space *s, struct list_head *gone)
{
	hash_del_rcu(&s->hash);
	list_move(&s->list, gone);
}

/* Those that are not in use, of one chain at a time. */
static void take_out_ended(struct hlist_head *chain, struct list_head *gone)
{
	struct hlist_node *next;
	unsigned long flags;
	struct ki_space *s;

	raw_spin_lock_irqsave(&ki_spaces_lock, flags);
	hlist_for_each_entry_safe(s, next, chain, hash) if (s != s->of->own && !s->of->ending &&
							    !atomic_read(&s->mm->mm_users))
		take_out(s, gone);
	raw_spin_unlock_irqrestore(&ki_spaces_lock, flags);
}

static void tidy(struct work_struct *unused)
{
	LIST_HEAD(gone);
	int i;

	for (i = 0; i < HASH_SIZE(ki_spaces); i++)
		take_out_ended(&ki_spaces[i], &gone);
	forget(&gone);
	if (fill_spares())
		pr_warn_ratelimited("kerninst: no memory to follow forks of processes\n");
}

/* ---- forks ---- */

static void copy_space(struct ki_process *p, struct mm_struct *to)
{
	struct ki_space *copy = take_spare();

	if (copy)
		add(p, to, copy, true);
	else
		pr_warn_ratelimited(
			"kerninst: a process forks too fast to be followed: breakpoints in a copy will end it\n");
}

static int on_fork(struct kprobe *kp, struct pt_regs *regs)
{
	struct mm_struct *from = (struct mm_struct *)regs->di;
	struct mm_struct *to = (struct mm_struct *)regs->si;
	unsigned long flags;
	struct ki_space *s;
	bool any = false;

	raw_spin_lock_irqsave(&ki_spaces_lock, flags);
	hash_for_each_possible(ki_spaces, s, hash, (unsigned long)from)
	{
		if (s->mm != from || !s->patched)
			continue;
		copy_space(s->of, to);
		any = true;
	}
	raw_spin_unlock_irqrestore(&ki_spaces_lock, flags);
	if (any)
		queue_work(KI_QUEUE_ANYWHERE, &ki_tidy_work);
	return 0;
}

static struct kprobe ki_fork_probe;
static DEFINE_MUTEX(ki_fork_lock); /* outside kprobe_mutex */
static u32 ki_fork_users;

static int follow_forks(void)
{
	int err = 0;

	mutex_lock(&ki_fork_lock);
	if (!ki_fork_users) {
		ki_fork_probe = (struct kprobe){
			.symbol_name = "uprobe_dup_mmap",
			.pre_handler = on_fork,
		};
		err = register_kprobe(&ki_fork_probe);
	}
	if (!err)
		ki_fork_users++;
	mutex_unlock(&ki_fork_lock);
	return err ? -EOPNOTSUPP : 0;
}

static void follow_no_more(void)
{
	mutex_lock(&ki_fork_lock);
	if (!--ki_fork_users)
		unregister_kprobe(&ki_fork_probe);
	mutex_unlock(&ki_fork_lock);
}

/* ---- of one process ---- */

int ki_spaces_begin(struct ki_process *p, struct mm_struct *mm)
{
	struct ki_space *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	unsigned long flags;
	int err = s ? fill_spares() : -ENOMEM;

	if (!err)
		err = follow_forks();
	if (err) {
		kfree(s);
		return err;
	}
	p->own = s;
	raw_spin_lock_irqsave(&ki_spaces_lock, flags);
	add(p, mm, s, false);
	raw_spin_unlock_irqrestore(&ki_spaces_lock, flags);
	return 0;
}

void ki_spaces_are_ending(struct ki_process *p, bool ending)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ki_spaces_lock, flags);
	p->ending = ending;
	raw_spin_unlock_irqrestore(&ki_spaces_lock, flags);
}

struct ki_space *ki_spaces_next(struct ki_process *p, struct ki_space *s)
{
	unsigned long flags;

	raw_spin_lock_irqsave(&ki_spaces_lock, flags);
	s = list_is_last(&s->list, &p->spaces) ? NULL : list_next_entry(s, list);
	raw_spin_unlock_irqrestore(&ki_spaces_lock, flags);
	return s;
}

static bool take_out_first(struct ki_process *p, struct list_head *gone)
{
	struct ki_space *s;
	unsigned long flags;

	raw_spin_lock_irqsave(&ki_spaces_lock, flags);
	s = list_first_entry_or_null(&p->spaces, struct ki_space, list);
	if (s)
		take_out(s, gone);
	raw_spin_unlock_irqrestore(&ki_spaces_lock, flags);
	return s;
}

void ki_spaces_end(struct ki_process *p)
{
	LIST_HEAD(gone);

	while (take_out_first(p, &gone))
		cond_resched();
	forget(&gone);
	follow_no_more();
}

bool ki_spaces_share(const struct ki_process *p, const struct mm_struct *mm,
		     const struct ki_process_edit *e)
{
	const u8 kinds = e->flags & (KI_PROCESS_HIT | KI_PROCESS_HOLD);
	const struct ki_process_edit *other;
	const struct ki_space *s;
	unsigned long flags;
	bool found = false;

	if (!kinds)
		return false;
	raw_spin_lock_irqsave(&ki_spaces_lock, flags);
	hash_for_each_possible(ki_spaces, s, hash, (unsigned long)mm)
	{
		if (s->mm != mm || s->of == p || !s->patched)
			continue;
		other = edit_at(s->of, e->addr);
		found |= other && other->flags & kinds && other->orig[0] == e->orig[0];
	}
	raw_spin_unlock_irqrestore(&ki_spaces_lock, flags);
	return found;
}

int ki_spaces_init(void)
{
	return register_die_notifier(&ki_space_block);
}

void ki_spaces_exit(void)
{
	struct ki_space *s, *next;

	unregister_die_notifier(&ki_space_block);
	cancel_work_sync(&ki_tidy_work);
	list_for_each_entry_safe (s, next, &ki_spares, list)
		kfree(s);
}
