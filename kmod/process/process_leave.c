// SPDX-License-Identifier: GPL-2.0-only
/*
 * The end of our memory in a process. Its text is back, and breakpoints no longer lead to patches:
 * no thread comes into one any more. Those that are in one are two kinds. Some stand there. Others
 * have been interrupted there by a signal, and its handler returns to it. Calls that patches make
 * return to the text. So a thread that has been seen outside once, with no word on its stack that
 * leads in, stays outside. So do those that it makes.
 *
 * Each thread is looked at where it is, and none is stopped. One that does not run is held still
 * while it is asked where it is. Its stack is read, and it is asked whether it has run meanwhile.
 * One that runs is interrupted, and looks at itself. What is not in memory then is looked at
 * another time.
 *
 * If one is still inside after KI_LEAVE_TRIES looks, the memory stays there until the process ends.
 * So it does if that cannot be known. The thread may be on the stack of signals' handlers: one
 * handler may have interrupted another. Its stack may be very deep, or in a file. A debugger may
 * have it: that may have noted where it was, and may put it back there.
 */
#include <linux/bsearch.h>
#include <linux/delay.h>
#include <linux/kthread.h>
#include <linux/mm.h>
#include <linux/mman.h>
#include <linux/sched/mm.h>
#include <linux/sched/signal.h>
#include <linux/sched/task.h>
#include <linux/sched/task_stack.h>
#include <linux/slab.h>
#include <linux/sort.h>
#include <linux/uaccess.h>

#include "array.h"
#include "compat.h"
#include "ki.h"
#include "process/process.h"
#include "symbols.h"

#define KI_LEAVE_TRIES	10
#define KI_LEAVE_PAUSE	20	     /* ms between them */
#define KI_LOOKS	4	     /* at one thread that comes and goes */
#define KI_LISTS	8	     /* of threads, in one look at all of them */
#define KI_STACK_SLEEPS (16ul << 20) /* bytes that are read of a stack at most */
#define KI_STACK_RUNS	(64ul << 10) /* the same, in an interrupt */
#define KI_STACK_PIECE	512
#define KI_MORE_THREADS 64 /* may be born between the count and the list */

enum ki_seen { KI_SEEN_OUTSIDE, KI_SEEN_INSIDE, KI_SEEN_MOVING /* it has moved meanwhile */ };

struct ki_look {
	const struct ki_process *p;
	struct mm_struct *mm;
	unsigned long ip, sp;
	unsigned long lo, hi; /* the mapping that sp is in */
	unsigned long switches;
	bool runs, on_other_stack;
	enum ki_seen seen;
};

static bool leads_in(const struct ki_process *p, unsigned long addr)
{
	const struct ki_process_range *r;

	list_for_each_entry (r, &p->ranges, list)
		if (addr - r->addr < r->len)
			return true;
	return false;
}

static bool any_leads_in(const struct ki_process *p, const unsigned long *v, size_t n)
{
	while (n--)
		if (leads_in(p, v[n]))
			return true;
	return false;
}

/* ---- one thread ---- */

static void take_place(struct task_struct *t, struct ki_look *k)
{
	const struct pt_regs *regs = task_pt_regs(t);

	k->ip = regs->ip;
	k->sp = regs->sp;
	k->switches = t->nvcsw + t->nivcsw;
	k->runs = t == current;
	k->on_other_stack = t->sas_ss_size && regs->sp - t->sas_ss_sp < t->sas_ss_size;
}

static void note_place(struct task_struct *t, void *arg)
{
	take_place(t, arg);
}

/* Has it run since then? */
static void compare_place(struct task_struct *t, void *arg)
{
	struct ki_look *k = arg, now = {};

	take_place(t, &now);
	if (now.runs || now.switches != k->switches)
		k->seen = KI_SEEN_MOVING;
}

/* In an interrupt of the thread itself, if it still runs. */
static void look_here(struct task_struct *t, void *arg)
{
	unsigned long piece[KI_STACK_PIECE / sizeof(long)], at;
	struct ki_look *k = arg, now = {};

	take_place(t, &now);
	at = round_down(now.sp, sizeof(long));
	k->seen = KI_SEEN_MOVING;
	if (!now.runs || now.on_other_stack || at < k->lo || at >= k->hi ||
	    k->hi - at > KI_STACK_RUNS)
		return;
	k->seen = leads_in(k->p, now.ip) ? KI_SEEN_INSIDE : KI_SEEN_OUTSIDE;
	while (at < k->hi && k->seen == KI_SEEN_OUTSIDE) {
		size_t n = min_t(size_t, sizeof(piece), k->hi - at);

		if (copy_from_user_nofault(piece, (const void __user *)at, n))
			k->seen = KI_SEEN_MOVING;
		else if (any_leads_in(k->p, piece, n / sizeof(long)))
			k->seen = KI_SEEN_INSIDE;
		at += n;
	}
}

static void read_stack(struct task_struct *t, struct ki_look *k)
{
	unsigned long *page = kmalloc(PAGE_SIZE, GFP_KERNEL), at = round_down(k->sp, sizeof(long));

	if (!page || k->hi - at > KI_STACK_SLEEPS)
		k->seen = KI_SEEN_INSIDE;
	while (at < k->hi && k->seen == KI_SEEN_OUTSIDE) {
		int n = min(PAGE_SIZE - offset_in_page(at), k->hi - at);

		if (access_process_vm(t, at, page, n, 0) != n ||
		    any_leads_in(k->p, page, n / sizeof(long)))
			k->seen = KI_SEEN_INSIDE;
		at += n;
		cond_resched();
	}
	kfree(page);
}

/* Other memory than this may let who reads it wait for as long as its owner likes. */
static bool find_stack(struct ki_look *k)
{
	struct vm_area_struct *vma;

	mmap_read_lock(k->mm);
	vma = find_vma(k->mm, k->sp);
	if (vma && vma->vm_start <= k->sp && vma_is_anonymous(vma)) {
		k->lo = vma->vm_start;
		k->hi = vma->vm_end;
	}
	mmap_read_unlock(k->mm);
	return k->hi;
}

static enum ki_seen look_once(struct task_struct *t, struct ki_look *k)
{
	k->seen = KI_SEEN_OUTSIDE;
	k->hi = 0;
	if (ki_still_call(t, note_place, k))
		return KI_SEEN_MOVING;
	if (leads_in(k->p, k->ip) || k->on_other_stack || !find_stack(k))
		return KI_SEEN_INSIDE;
	if (!k->runs)
		read_stack(t, k);
	if (k->seen == KI_SEEN_OUTSIDE && ki_still_call(t, k->runs ? look_here : compare_place, k))
		return KI_SEEN_MOVING;
	return k->seen;
}

static bool has_this_memory(const struct task_struct *t, const struct mm_struct *mm)
{
	return READ_ONCE(t->mm) == mm && !(READ_ONCE(t->flags) & (KI_TASKS_OF_KERNEL | PF_EXITING));
}

static bool is_outside(const struct ki_process *p, struct mm_struct *mm, struct task_struct *t)
{
	struct ki_look k = {.p = p, .mm = mm};
	enum ki_seen seen = KI_SEEN_MOVING;
	int i;

	for (i = 0; i < KI_LOOKS && seen == KI_SEEN_MOVING; i++) {
		if (!has_this_memory(t, mm))
			return true;
		if (READ_ONCE(t->ptrace)) /* a debugger may put it back to where it was */
			return false;
		if (!try_get_task_stack(t))
			return true;
		seen = look_once(t, &k);
		ki_call(put_task_stack)(t);
	}
	return seen == KI_SEEN_OUTSIDE;
}

/* ---- all of them ---- */

struct ki_threads {
	struct task_struct **v; /* sorted; each by get_task_struct */
	u32 n;
};

/* As many as there is room for; how many there are. */
static u32 list(struct mm_struct *mm, struct task_struct **v, u32 room)
{
	struct task_struct *g, *t;
	u32 n = 0;

	rcu_read_lock();
	for_each_process_thread(g, t)
	{
		if (!has_this_memory(t, mm))
			continue;
		if (n < room)
			v[n] = get_task_struct(t);
		n++;
	}
	rcu_read_unlock();
	return n;
}

static int by_address(const void *a, const void *b)
{
	struct task_struct *const *x = a, *const *y = b;

	return (*x > *y) - (*x < *y);
}

static void threads_free(struct ki_threads *a)
{
	u32 i;

	for (i = 0; i < a->n; i++)
		put_task_struct(a->v[i]);
	ki_array_free(a->v);
	*a = (struct ki_threads){};
}

static int threads_take(struct ki_threads *a, struct mm_struct *mm)
{
	const u32 room = list(mm, NULL, 0) + KI_MORE_THREADS;
	u32 n;

	*a = (struct ki_threads){.v = ki_array(room, sizeof(*a->v), GFP_KERNEL)};
	if (!a->v)
		return -ENOMEM;
	n = list(mm, a->v, room);
	a->n = min(n, room);
	sort(a->v, a->n, sizeof(*a->v), by_address, NULL);
	if (n <= room)
		return 0;
	threads_free(a);
	return -EAGAIN;
}

/* Are those outside, too, which are not known to be? Any: there were some. */
static bool others_are_outside(const struct ki_look *in, const struct ki_threads *now,
			       const struct ki_threads *known, bool *any)
{
	u32 i;

	*any = false;
	for (i = 0; i < now->n; i++) {
		if (known->n &&
		    bsearch(&now->v[i], known->v, known->n, sizeof(*known->v), by_address))
			continue;
		*any = true;
		if (!is_outside(in->p, in->mm, now->v[i]))
			return false;
		cond_resched();
	}
	return true;
}

/*
 * Who has been made by a thread inside is inside. So they are listed again until all that are there
 * have been outside before the list was made: whom they make after it, they make outside.
 */
static bool all_are_outside(const struct ki_process *p, struct mm_struct *mm)
{
	const struct ki_look in = {.p = p, .mm = mm};
	struct ki_threads known = {}, now;
	bool any = true, out = true;
	int i;

	for (i = 0; i < KI_LISTS && any && out; i++) {
		out = !threads_take(&now, mm);
		if (!out)
			break;
		out = others_are_outside(&in, &now, &known, &any);
		threads_free(&known);
		known = now;
	}
	threads_free(&known);
	return out && !any;
}

/* What the process has put there since is its own. */
static bool is_ours(const struct ki_process *p, struct mm_struct *mm,
		    const struct ki_process_range *r)
{
	const struct vm_area_struct *vma;
	bool ours;

	mmap_read_lock(mm);
	vma = find_vma(mm, r->addr);
	ours = vma && vma->vm_start <= r->addr && vma->vm_end >= r->addr + r->len &&
	       (r->own ? !vma->vm_file && vma->vm_flags & VM_WIPEONFORK
		       : vma->vm_file == p->memory);
	mmap_read_unlock(mm);
	return ours;
}

static void unmap_all(const struct ki_process *p, struct mm_struct *mm)
{
	const struct ki_process_range *r;

	kthread_use_mm(mm);
	list_for_each_entry (r, &p->ranges, list)
		if (is_ours(p, mm, r))
			vm_munmap(r->addr, r->len);
	kthread_unuse_mm(mm);
}

static void leave(const struct ki_process *p, struct ki_space *s)
{
	int i;

	if (s->stays || !mmget_not_zero(s->mm))
		return;
	for (i = 0; i < KI_LEAVE_TRIES; i++) {
		if (i)
			msleep(KI_LEAVE_PAUSE);
		if (all_are_outside(p, s->mm)) {
			unmap_all(p, s->mm);
			break;
		}
	}
	mmput(s->mm);
}

void ki_process_leave(struct ki_process *p)
{
	struct ki_space *s;

	lockdep_assert_held(&p->lock);
	if (list_empty(&p->ranges))
		return;
	ki_spaces_are_ending(p, true);
	smp_store_release(&p->left, true);
	synchronize_rcu(); /* breakpoints that led in until now have done so */
	for (s = p->own; s; s = ki_spaces_next(p, s))
		leave(p, s);
}

void ki_process_ranges_free(struct ki_process *p)
{
	struct ki_process_range *r, *next;

	list_for_each_entry_safe (r, next, &p->ranges, list)
		kfree(r);
}
