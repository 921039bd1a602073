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

#include "account/limit.h"
#include "data/stacks.h"

struct ki_stacks_table *ki_stacks_tables[KI_STACKS_TABLES];
static u64 ki_stacks_pages; /* of all */

static void forget(u32 first, u32 count);
static struct ki_slots ki_stacks_slots = {.forget = forget, .limit = KI_LIMIT_STACKS};

int ki_stacks_init(void)
{
	ki_slots_init(&ki_stacks_slots, KI_STACKS_TABLES);
	return 0;
}

bool ki_stacks_own(const struct ki_session *s, u64 n)
{
	lockdep_assert_held(&ki_lock);
	return ki_slots_own(&ki_stacks_slots, s, n, 1);
}

/* ---- memory ---- */

static void free_table(struct ki_stacks_table *t)
{
	ki_sheet_free(&t->sheet);
	free_percpu(t->scratch);
	kfree(t);
}

static void forget(u32 first, u32 count)
{
	struct ki_stacks_table *t = ki_stacks_tables[first];

	ki_stacks_tables[first] = NULL;
	free_table(t);
}

static int fill_table(struct ki_stacks_table *t, struct ki_account *a, u64 bytes)
{
	int err = ki_sheet_new(&t->sheet, a, &ki_stacks_pages, 1 + PFN_UP(bytes));

	if (err)
		return err;
	t->head = t->sheet.at;
	t->rows = (u8 *)t->head + PAGE_SIZE;
	t->scratch = alloc_percpu_gfp(struct ki_stack_scratch, GFP_KERNEL_ACCOUNT);
	return t->scratch ? 0 : -ENOMEM;
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
	err = fill_table(t, s->account, (u64)req->rows * t->stride);
	if (err)
		free_table(t);
	else
		*out = t;
	return err;
}

/* ---- the request ---- */

int ki_stacks_check(const struct ki_session *s, struct ki_stacks *req)
{
	lockdep_assert_held(&ki_lock);
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
	req->bytes = t->sheet.n * PAGE_SIZE;
	smp_store_release(&s->stacks, t); /* mmap takes no lock */
	return 0;
}

int ki_stacks_map(struct ki_session *s, struct vm_area_struct *vma)
{
	const struct ki_stacks_table *t = smp_load_acquire(&s->stacks);

	return t ? ki_sheet_map(vma, &t->sheet) : -EINVAL;
}
