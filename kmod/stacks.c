// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of stacks: the memory, and what user space sees of it.
 *
 * It is that of a ring (ring.c, pages.c): one piece for the kernel, read-only for user space; a run
 * of one slot, which goes when no task can be in a chunk or a helper any more.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "compat.h"
#include "limit.h"
#include "pages.h"
#include "stacks.h"

struct ki_stacks_table *ki_stacks_tables[KI_STACKS_TABLES];
static u64 ki_stacks_pages; /* of all */

static void forget(u32 first, u32 count);
static struct ki_slots ki_stacks_slots = {.forget = forget, .limit = KI_LIMIT_STACKS};

int ki_stacks_init(void)
{
	return ki_slots_init(&ki_stacks_slots, KI_STACKS_TABLES);
}

void ki_stacks_exit(void)
{
	ki_slots_exit(&ki_stacks_slots);
}

bool ki_stacks_own(const struct ki_session *s, u64 n)
{
	return ki_slots_own(&ki_stacks_slots, s, n, 1);
}

/* ---- memory ---- */

static void free_table(struct ki_stacks_table *t)
{
	vunmap(t->head);
	ki_pages_free(t->page, t->npages);
	free_percpu(t->scratch);
	if (t->account)
		ki_pages_give(t->account, &ki_stacks_pages, t->npages);
	kfree(t);
}

static void forget(u32 first, u32 count)
{
	struct ki_stacks_table *t = ki_stacks_tables[first];

	ki_stacks_tables[first] = NULL;
	free_table(t);
}

static int fill_table(struct ki_stacks_table *t)
{
	int err;

	t->page = kvcalloc(t->npages, sizeof(*t->page), GFP_KERNEL_ACCOUNT);
	t->scratch = alloc_percpu_gfp(struct ki_stack_scratch, GFP_KERNEL_ACCOUNT);
	if (!t->page || !t->scratch)
		return -ENOMEM;
	err = ki_pages_take(t->page, t->npages);
	if (err)
		return err;
	t->head = vmap(t->page, t->npages, VM_MAP, PAGE_KERNEL);
	if (!t->head)
		return -ENOMEM;
	t->rows = (u8 *)t->head + PAGE_SIZE;
	return 0;
}

static int new_table(struct ki_session *s, const struct ki_stacks *req,
		     struct ki_stacks_table **out)
{
	struct ki_stacks_table *t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	int err;

	if (!t)
		return -ENOMEM;
	t->seed = get_random_u64();
	t->mask = req->rows - 1;
	t->frames = req->frames;
	t->stride = sizeof(struct ki_stack_row) + req->frames * sizeof(u64);
	t->npages = 1 + PFN_UP((u64)req->rows * t->stride);
	err = ki_pages_charge(s->account, &ki_stacks_pages, t->npages);
	if (!err) {
		t->account = s->account;
		err = fill_table(t);
	}
	if (err)
		free_table(t);
	else
		*out = t;
	return err;
}

/* ---- the request ---- */

int ki_stacks_check(const struct ki_session *s, struct ki_stacks *req)
{
	if (!req->zero && !req->zero2 && !req->reason && req->frames &&
	    req->frames <= KI_STACK_FRAMES && is_power_of_2(req->rows) &&
	    req->rows <= KI_STACKS_ROWS && !s->stacks)
		return 0;
	req->reason = KI_R_BAD_REQUEST;
	return s->stacks ? -EEXIST : -EINVAL;
}

int ki_stacks_take(struct ki_session *s, struct ki_stacks *req)
{
	struct ki_stacks_table *t = NULL;
	int err;

	lockdep_assert_held(&ki_lock);
	if (s->stacks) /* another thread was quicker while this one waited */
		return -EEXIST;
	err = new_table(s, req, &t);
	if (err) {
		req->reason = ki_pages_reason(err);
		return err;
	}
	err = ki_slots_take(&ki_stacks_slots, s, 1, &req->number, &req->reason);
	if (err) {
		free_table(t);
		return err;
	}
	ki_stacks_tables[req->number] = t;
	req->stride = t->stride;
	req->bytes = t->npages * PAGE_SIZE;
	smp_store_release(&s->stacks, t); /* mmap takes no lock */
	return 0;
}

int ki_stacks_map(struct ki_session *s, struct vm_area_struct *vma)
{
	const struct ki_stacks_table *t = smp_load_acquire(&s->stacks);

	if (!t)
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	ki_vm_flags_fix(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	return ki_pages_map(vma, t->page, t->npages);
}
