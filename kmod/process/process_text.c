// SPDX-License-Identifier: GPL-2.0-only
/*
 * Writing the text of a live process, whose threads go on meanwhile.
 *
 * All pages that change are fetched first, each as the process's own copy: others that have mapped
 * the same file keep theirs. Then bytes are compared, and written as the kernel writes its own
 * text: a breakpoint over each first byte, all CPUs serialize, what is after it, they serialize,
 * the first byte. Who comes by meanwhile meets the breakpoint, and it is known where that leads.
 * What is longer than a byte stands in the place of one instruction, so no thread is in its middle.
 *
 * The process's mmap_lock is held for reading all the time: no page is copied for a fork, or
 * mapped elsewhere, between two of these steps; and what a fork copies is all or nothing.
 */
#include <linux/delay.h>
#include <linux/mm.h>
#include <linux/sched/mm.h>
#include <linux/slab.h>
#include <asm/sync_core.h>

#include "array.h"
#include "compat.h"
#include "process/process.h"
#include "user.h"

#define KI_TRIES     100 /* to fetch a page when memory is short */
#define KI_TRY_PAUSE 20	 /* milliseconds */

/*
 * One after the other: several sessions may have the same breakpoint, and the last one gives it
 * back. Inside mmap_lock; no task waits for a page with it held.
 */
static DEFINE_MUTEX(ki_writes);

struct ki_pin {
	unsigned long addr;
	struct page *page;
};

/* The pages of some text, by address. */
struct ki_pins {
	struct mm_struct *mm;
	struct ki_pin *v;
	u32 n;
};

static void sync_this_core(void *unused)
{
	sync_core();
}

static void sync_all_cores(void)
{
	on_each_cpu(sync_this_core, NULL, 1);
}

static bool is_text(struct mm_struct *mm, unsigned long addr)
{
	const struct vm_area_struct *vma = find_vma(mm, addr);
	const unsigned long never = VM_SHARED | VM_IO | VM_PFNMAP | VM_HUGETLB;

	return vma && vma->vm_start <= addr && vma->vm_flags & VM_EXEC &&
	       vma->vm_flags & VM_MAYWRITE && !(vma->vm_flags & never);
}

static bool is_semaphore(const struct ki_process_edit *e)
{
	return e->flags & KI_PROCESS_SEMAPHORE;
}

static bool is_data(struct mm_struct *mm, unsigned long addr)
{
	const struct vm_area_struct *vma = find_vma(mm, addr);
	const unsigned long never = VM_SHARED | VM_IO | VM_PFNMAP | VM_HUGETLB;

	return vma && vma->vm_start <= addr && vma->vm_flags & VM_WRITE && !(vma->vm_flags & never);
}

/*
 * Without a lock that is let go meanwhile, so no process that brings pages by hand is waited for.
 */
static int fetch(struct mm_struct *mm, unsigned long addr, struct page **page)
{
	long got;

	got = ki_user_page(mm, addr, FOLL_WRITE | FOLL_FORCE, page);
	if (got != 1)
		return got < 0 ? got : -EFAULT;
	if (PageAnon(*page))
		return 0;
	put_page(*page);
	return -EFAULT;
}

/* Its number among those that have been fetched, or of the next. */
static u32 find_pin(const struct ki_pins *x, unsigned long addr)
{
	u32 lo = 0, hi = x->n;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (x->v[mid].addr < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

static int pin(struct ki_pins *x, unsigned long addr)
{
	struct ki_pin *p = &x->v[x->n];
	int err;

	addr &= PAGE_MASK;
	if (x->n && x->v[x->n - 1].addr == addr)
		return 0;
	err = fetch(x->mm, addr, &p->page);
	if (err)
		return err;
	p->addr = addr;
	x->n++;
	return 0;
}

static int pin_edit(struct ki_pins *x, const struct ki_process_edit *e)
{
	unsigned long last = e->addr + e->len - 1;
	int err;

	if (is_semaphore(e) ? !is_data(x->mm, last)
			    : !is_text(x->mm, e->addr) || !is_text(x->mm, last))
		return -EFAULT;
	err = pin(x, e->addr);
	return err ? err : pin(x, last);
}

static void unpin(struct ki_pins *x)
{
	u32 i;

	for (i = 0; i < x->n; i++) {
		set_page_dirty_lock(x->v[i].page);
		put_page(x->v[i].page);
		cond_resched();
	}
	ki_array_free(x->v);
}

/* Edits are in order, so each has at most two pages that no other has had. */
static int pins_new(struct ki_pins *x, struct mm_struct *mm, u32 n)
{
	*x = (struct ki_pins){.mm = mm};
	x->v = ki_array(n, 2 * sizeof(*x->v), GFP_KERNEL);
	return x->v ? 0 : -ENOMEM;
}

/* NULL: its page has not been fetched. */
static u8 *byte_at(const struct ki_pins *x, unsigned long addr)
{
	u32 i = find_pin(x, addr & PAGE_MASK);

	if (i == x->n || x->v[i].addr != (addr & PAGE_MASK))
		return NULL;
	return (u8 *)page_address(x->v[i].page) + offset_in_page(addr);
}

static bool stands(const struct ki_pins *x, const struct ki_process_edit *e, const u8 *bytes)
{
	u32 i;

	for (i = 0; i < e->len && !is_semaphore(e); i++) {
		const u8 *at = byte_at(x, e->addr + i);

		if (!at || READ_ONCE(*at) != bytes[i])
			return false;
	}
	return true;
}

enum ki_step_of { KI_BREAKPOINTS, KI_TAILS, KI_FIRSTS, KI_STEPS };

static void write_step(const struct ki_pins *x, const struct ki_process_edit *e, const u8 *bytes,
		       enum ki_step_of step)
{
	u32 i, from = step == KI_TAILS ? 1 : 0, to = step == KI_TAILS ? e->len : 1;

	for (i = from; i < to; i++)
		WRITE_ONCE(*byte_at(x, e->addr + i), step == KI_BREAKPOINTS ? KI_INT3 : bytes[i]);
}

/* A change in progress: of edits that take part, to their new bytes or back. */
struct ki_writing {
	const struct ki_pins *pins;
	const struct ki_process_edit *v;
	u32 n;
	const unsigned long *part; /* a bit for each; NULL: all do */
	bool back;
};

static bool takes_part(const struct ki_writing *w, u32 i)
{
	return !w->part || test_bit(i, w->part);
}

static void write_all(const struct ki_writing *w, enum ki_step_of step)
{
	u32 i;

	for (i = 0; i < w->n; i++) {
		if (takes_part(w, i) && !is_semaphore(&w->v[i]))
			write_step(w->pins, &w->v[i], w->back ? w->v[i].orig : w->v[i].now, step);
		cond_resched();
	}
	sync_all_cores();
}

/*
 * QEMU's CPUs may be translating the old bytes while new ones are written, and would keep that:
 * written once more, when all have serialized, they throw it away.
 */
static void write_steps(const struct ki_writing *w)
{
	enum ki_step_of step;

	for (step = 0; step < KI_STEPS; step++) {
		write_all(w, step);
		if (ki_text_is_emulated())
			write_all(w, step);
	}
}

/* The program may write it too, and another tool may count. */
static void count(u16 *word, bool back)
{
	u16 was = READ_ONCE(*word), now;

	do {
		if (back && !was)
			return;
		now = back ? was - 1 : was + 1;
	} while (!try_cmpxchg(word, &was, now));
}

static void count_semaphores(const struct ki_writing *w)
{
	u32 i;

	for (i = 0; i < w->n; i++)
		if (is_semaphore(&w->v[i]) && takes_part(w, i))
			count((u16 *)byte_at(w->pins, w->v[i].addr), w->back);
}

/* ---- putting in ---- */

static u16 reason_of(int err)
{
	switch (err) {
	case -ENOMEM:
		return KI_R_NO_MEMORY;
	case -ESTALE:
		return KI_R_BYTES_CHANGED;
	case -EINTR: /* killed: no task reads it */
		return KI_R_OK;
	default:
		return KI_R_PROCESS_TEXT;
	}
}

static int pin_all(struct ki_pins *x, const struct ki_process_edit *v, u32 n, u32 *bad)
{
	int err = 0;
	u32 i;

	for (i = 0; i < n && !err; i++) {
		*bad = i;
		err = pin_edit(x, &v[i]);
		cond_resched();
	}
	return err;
}

/* A place of which the kernel is told may be so already, for others. */
static int check(const struct ki_process *p, const struct ki_writing *w, u32 *bad)
{
	u32 i;

	for (i = 0; i < w->n; i++) {
		const struct ki_process_edit *e = &w->v[i];

		*bad = i;
		if (!stands(w->pins, e, e->orig) &&
		    !(stands(w->pins, e, e->now) && ki_spaces_share(p, w->pins->mm, e)))
			return -ESTALE;
		cond_resched();
	}
	return 0;
}

/* ki_writes held. */
static int write_new(struct ki_process *p, const struct ki_writing *w, u32 *bad)
{
	int err = check(p, w, bad);

	if (err)
		return err;
	p->edits = w->v;
	smp_store_release(&p->n, w->n);
	p->own->patched = true;
	write_steps(w);
	count_semaphores(w);
	return 0;
}

/* mmap_lock held. */
static int write_locked(struct ki_process *p, struct ki_pins *x, const struct ki_process_edit *v,
			u32 n, u32 *bad)
{
	struct ki_writing w = {.pins = x, .v = v, .n = n};
	int err = pin_all(x, v, n, bad);

	if (err)
		return err;
	mutex_lock(&ki_writes);
	err = write_new(p, &w, bad);
	mutex_unlock(&ki_writes);
	return err;
}

int ki_process_text_write(struct ki_process *p, const struct ki_process_edit *v, u32 n,
			  struct ki_process_edits *req)
{
	struct mm_struct *mm = p->own->mm;
	struct ki_pins x;
	int err;

	if (!mmget_not_zero(mm))
		return ki_refuse(&req->reason, KI_R_PROCESS_GONE);
	err = pins_new(&x, mm, n);
	if (!err)
		err = mmap_read_lock_killable(mm);
	if (!err) {
		err = write_locked(p, &x, v, n, &req->bad);
		mmap_read_unlock(mm);
	}
	unpin(&x);
	mmput(mm);
	return err ? ki_refuse(&req->reason, reason_of(err)) : 0;
}

/* ---- giving back ---- */

/* What is given back: all that has not been yet, or, while the rest stays, some of that. */
struct ki_giving {
	struct ki_process *p;
	const unsigned long *which; /* NULL: all */
};

static bool is_given_now(const struct ki_giving *g, u32 i)
{
	return !ki_process_is_given(g->p, i) && (!g->which || test_bit(i, g->which));
}

/* -ENOMEM: not yet. */
static int pin_what_is_left(struct ki_pins *x, const struct ki_giving *g, unsigned long *part)
{
	const struct ki_process *p = g->p;
	u32 i;

	for (i = 0; i < p->n; i++) {
		int err = is_given_now(g, i) ? pin_edit(x, &p->edits[i]) : -ENOENT;

		if (err == -ENOMEM || err == -EAGAIN)
			return -ENOMEM;
		if (!err)
			__set_bit(i, part);
		cond_resched();
	}
	/* One that is being killed may fetch none. */
	return g->which && fatal_signal_pending(current) ? -EINTR : 0;
}

/* What has become something else is left, and what others have there too. */
static void find_ours(const struct ki_pins *x, struct ki_space *s, unsigned long *part)
{
	const struct ki_process *p = s->of;
	u32 i;

	for (i = 0; i < p->n; i++) {
		const struct ki_process_edit *e = &p->edits[i];
		const bool others = test_bit(i, part) && !stands(x, e, e->now);

		s->stays |= others;
		if (others || (test_bit(i, part) && ki_spaces_share(p, x->mm, e)))
			__clear_bit(i, part);
		cond_resched();
	}
}

static int restore_locked(const struct ki_giving *g, struct ki_space *s, struct ki_pins *x,
			  unsigned long *part)
{
	const struct ki_process *p = g->p;
	struct ki_writing w = {.pins = x, .v = p->edits, .n = p->n, .part = part, .back = true};
	int err = pin_what_is_left(x, g, part);

	if (err)
		return err;
	mutex_lock(&ki_writes);
	find_ours(x, s, part);
	count_semaphores(&w);
	write_steps(&w);
	if (!g->which)
		s->patched = false;
	mutex_unlock(&ki_writes);
	return 0;
}

/* The end is not to be held up by a signal. */
static int lock_memory(const struct ki_giving *g, struct mm_struct *mm)
{
	if (g->which)
		return mmap_read_lock_killable(mm);
	mmap_read_lock(mm);
	return 0;
}

static int restore_once(const struct ki_giving *g, struct ki_space *s)
{
	unsigned long *part = bitmap_zalloc(g->p->n, GFP_KERNEL);
	struct ki_pins x = {};
	int err = part ? pins_new(&x, s->mm, g->p->n) : -ENOMEM;

	if (!err)
		err = lock_memory(g, s->mm);
	if (!err) {
		err = restore_locked(g, s, &x, part);
		mmap_read_unlock(s->mm);
	}
	unpin(&x);
	bitmap_free(part);
	return err;
}

static int restore(const struct ki_giving *g, struct ki_space *s)
{
	int i, err = -ENOMEM;

	if (!mmget_not_zero(s->mm))
		return 0;
	for (i = 0; i < KI_TRIES && err == -ENOMEM; i++) {
		if (i)
			msleep(KI_TRY_PAUSE);
		err = restore_once(g, s);
	}
	mmput(s->mm);
	return err;
}

void ki_process_text_restore(struct ki_process *p)
{
	const struct ki_giving g = {.p = p};
	struct ki_space *s;

	if (!p->n)
		return;
	ki_spaces_are_ending(p, true);
	for (s = p->own; s; s = ki_spaces_next(p, s)) {
		if (!restore(&g, s))
			continue;
		s->stays = true;
		pr_warn("kerninst: no memory to give a process its text back\n");
	}
}

int ki_process_text_release(struct ki_process *p, const unsigned long *which)
{
	const struct ki_giving g = {.p = p, .which = which};
	struct ki_space *s;
	int err = 0;

	ki_spaces_are_ending(p, true);
	for (s = p->own; s && !err; s = ki_spaces_next(p, s))
		err = restore(&g, s);
	ki_spaces_are_ending(p, false);
	return err;
}
