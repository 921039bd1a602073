// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rings: buffers of pages, one for each CPU, that user space maps.
 *
 * Pages are taken one by one (pages.c), so no contiguous memory is needed. The kernel sees a CPU's
 * as one piece, in which the first page of data stands once more after the last. So a record is
 * written in one piece wherever it begins. User space sees heads and data read-only, so what is
 * written there can be believed when it is read back; the tails it may write, so nothing is
 * believed of them (record.c).
 *
 * A ring is a run of one slot: it goes the way that counters go. When its session ends the chunks
 * are taken out. The ring is freed when no task can be in one any more, or in the helper
 * (session.c). The mappings hold the file, and with it the session, so they have gone by then; so
 * have those who poll. What has been queued to wake them is waited for.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/poll.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "array.h"
#include "compat.h"
#include "account/limit.h"
#include "account/pages.h"
#include "data/ring.h"
#include "helpers/access.h"

struct ki_ring_buffers {
	struct ki_account *account; /* to which its pages are charged; NULL: not yet */
	struct ki_ring_cpu __percpu *cpu;
	wait_queue_head_t readers;
	u32 pages; /* of data, of each CPU */
	u32 cpus;
	u64 npages;	    /* all: each CPU's head and data, then the tails */
	struct page **page; /* ki_array */
	u64 *tails;
};

struct ki_ring_cpu __percpu *ki_ring_cpus[KI_RINGS];
static struct ki_ring_buffers *ki_rings[KI_RINGS];
static u64 ki_ring_pages; /* of all */

static void forget(u32 first, u32 count);
static struct ki_slots ki_ring_slots = {.forget = forget, .limit = KI_LIMIT_RINGS};

int ki_ring_init(void)
{
	ki_slots_init(&ki_ring_slots, KI_RINGS);
	return 0;
}

bool ki_ring_own(const struct ki_session *s, u64 n)
{
	lockdep_assert_held(&ki_lock);
	return ki_slots_own(&ki_ring_slots, s, n, 1);
}

void ki_ring_info(struct ki_info *info)
{
	lockdep_assert_held(&ki_lock);
	info->rings = ki_ring_slots.used;
}

/* ---- memory ---- */

static u64 ring_pages(const struct ki_ring_buffers *r)
{
	return (u64)r->cpus * (1 + r->pages);
}

static void unmap_cpu(struct ki_ring_cpu *c)
{
	irq_work_sync(&c->work);
	vunmap(c->head);
}

static void free_ring(struct ki_ring_buffers *r)
{
	int cpu;

	if (r->cpu)
		for_each_possible_cpu (cpu)
			unmap_cpu(per_cpu_ptr(r->cpu, cpu));
	free_percpu(r->cpu);
	vunmap(r->tails);
	ki_pages_free(r->page, r->npages);
	if (r->account)
		ki_pages_give(r->account, &ki_ring_pages, r->npages);
	kfree(r);
}

static void forget(u32 first, u32 count)
{
	struct ki_ring_buffers *r = ki_rings[first];

	ki_ring_cpus[first] = NULL;
	ki_rings[first] = NULL;
	free_ring(r);
}

/*
 * What is called here may be instrumented; at one level it does not come into itself. A CPU that
 * goes has run its work for the last time, and freeing would wait for it: readers look again by
 * themselves when they have waited for long.
 */
void ki_do_wake(struct ki_ring_cpu *c, u64 tail);
notrace void ki_do_wake(struct ki_ring_cpu *c, u64 tail)
{
	bool *waking = &c->waking[interrupt_context_level()];
	unsigned long flags;

	if (*waking || !cpu_online(raw_smp_processor_id()))
		return;
	*waking = true;
	barrier();
	c->woken = tail;
	flags = ki_access_close();
	irq_work_queue(&c->work);
	ki_access_restore(flags);
	barrier();
	*waking = false;
}

static void wake_readers(struct irq_work *work)
{
	wake_up_all(container_of(work, struct ki_ring_cpu, work)->readers);
}

/* The pages of one CPU as one piece. */
static int map_cpu(const struct ki_ring_buffers *r, struct page **page, struct ki_ring_cpu *c)
{
	struct page **all = ki_array(r->pages + 2, sizeof(*all), GFP_KERNEL_ACCOUNT);
	void *at;

	if (!all)
		return -ENOMEM;
	memcpy(all, page, (r->pages + 1) * sizeof(*all));
	all[r->pages + 1] = page[1];
	at = vmap(all, r->pages + 2, VM_MAP, PAGE_KERNEL);
	ki_array_free(all);
	if (!at)
		return -ENOMEM;
	c->head = at;
	c->data = at + PAGE_SIZE;
	return 0;
}

static int set_up_cpu(const struct ki_ring_buffers *r, const struct ki_ring *req, u32 n,
		      struct ki_ring_cpu *c)
{
	int err = map_cpu(r, &r->page[(u64)n * (1 + r->pages)], c);

	if (err)
		return err;
	c->newest = req->flags & KI_RING_NEWEST;
	c->size = (u64)r->pages * PAGE_SIZE;
	c->mask = c->size - 1;
	c->tail = &r->tails[n];
	c->keep = c->newest ? &c->head->head : c->tail;
	c->wake = req->wake ? req->wake : c->size / 2;
	c->woken = U64_MAX;
	return 0;
}

static void begin_cpus(struct ki_ring_buffers *r)
{
	int cpu;

	for_each_possible_cpu (cpu) {
		struct ki_ring_cpu *c = per_cpu_ptr(r->cpu, cpu);

		init_irq_work(&c->work, wake_readers);
		c->readers = &r->readers;
	}
}

static int fill_ring(struct ki_ring_buffers *r, const struct ki_ring *req)
{
	u64 heads = ring_pages(r);
	int err, cpu, n = 0;

	r->page = ki_array(r->npages, sizeof(*r->page), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	r->cpu = alloc_percpu_gfp(struct ki_ring_cpu, GFP_KERNEL_ACCOUNT);
	if (r->cpu)
		begin_cpus(r);
	if (!r->page || !r->cpu)
		return -ENOMEM;
	err = ki_pages_take(r->page, r->npages);
	if (err)
		return err;
	r->tails = vmap(r->page + heads, r->npages - heads, VM_MAP, PAGE_KERNEL);
	if (!r->tails)
		return -ENOMEM;
	for_each_possible_cpu (cpu) {
		err = set_up_cpu(r, req, n++, per_cpu_ptr(r->cpu, cpu));
		if (err)
			return err;
	}
	return 0;
}

static int new_ring(struct ki_session *s, const struct ki_ring *req, struct ki_ring_buffers **out)
{
	struct ki_ring_buffers *r = kzalloc(sizeof(*r), GFP_KERNEL_ACCOUNT);
	int err;

	if (!r)
		return -ENOMEM;
	init_waitqueue_head(&r->readers);
	r->pages = req->pages;
	r->cpus = num_possible_cpus();
	r->npages = ring_pages(r) + PFN_UP(r->cpus * sizeof(u64));
	err = ki_pages_charge(s->account, &ki_ring_pages, r->npages);
	if (!err) {
		r->account = s->account;
		err = fill_ring(r, req);
	}
	if (err)
		free_ring(r);
	else
		*out = r;
	return err;
}

/* ---- the request ---- */

static bool is_in_order(const struct ki_ring *req)
{
	return !(req->flags & ~KI_RING_NEWEST) && !req->zero && !req->reason &&
	       is_power_of_2(req->pages) && req->pages <= KI_RING_PAGES &&
	       req->wake <= req->pages * PAGE_SIZE;
}

int ki_ring_take(struct ki_session *s, struct ki_ring *req)
{
	struct ki_ring_buffers *r = NULL;
	int err;

	lockdep_assert_held(&ki_lock);
	if (s->ring) /* another thread was quicker while this one waited */
		return -EEXIST;
	err = new_ring(s, req, &r);
	if (err) {
		req->reason = ki_pages_reason(err);
		return err;
	}
	err = ki_slots_take(&ki_ring_slots, s, 1, &req->number, &req->reason);
	if (err) {
		free_ring(r);
		return err;
	}
	ki_rings[req->number] = r;
	ki_ring_cpus[req->number] = r->cpu;
	req->cpus = r->cpus;
	req->stride = (u64)(1 + r->pages) * PAGE_SIZE;
	smp_store_release(&s->ring, r); /* mmap and poll take no lock */
	return 0;
}

int ki_ring_check(const struct ki_session *s, struct ki_ring *req)
{
	lockdep_assert_held(&ki_lock);
	if (is_in_order(req) && !s->ring)
		return 0;
	req->reason = KI_R_BAD_REQUEST;
	return s->ring ? -EEXIST : -EINVAL;
}

/* ---- what user space sees ---- */

int ki_ring_map(struct ki_session *s, struct vm_area_struct *vma)
{
	const struct ki_ring_buffers *r = smp_load_acquire(&s->ring);

	if (!r)
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	ki_vm_flags_fix(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	return ki_pages_map(vma, r->page, ring_pages(r));
}

int ki_ring_map_tails(struct ki_session *s, struct vm_area_struct *vma)
{
	const struct ki_ring_buffers *r = smp_load_acquire(&s->ring);

	if (!r || !(vma->vm_flags & VM_SHARED))
		return -EINVAL;
	if (vma->vm_flags & VM_EXEC)
		return -EACCES;
	ki_vm_flags_fix(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYEXEC);
	return ki_pages_map(vma, r->page + ring_pages(r), r->npages - ring_pages(r));
}

__poll_t ki_ring_poll(struct ki_session *s, struct file *file, struct poll_table_struct *wait)
{
	struct ki_ring_buffers *r = smp_load_acquire(&s->ring);
	int cpu;

	if (!r)
		return EPOLLERR;
	poll_wait(file, &r->readers, wait);
	smp_mb(); /* who writes a record does it the other way round: record.c */
	for_each_possible_cpu (cpu) {
		const struct ki_ring_cpu *c = per_cpu_ptr(r->cpu, cpu);

		if (READ_ONCE(c->head->head) - READ_ONCE(*c->tail) >= c->wake)
			return EPOLLIN | EPOLLRDNORM;
	}
	return 0;
}
