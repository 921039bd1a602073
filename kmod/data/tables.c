// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables: banks of pages, which user space maps read-only. One for each CPU, or one for all.
 *
 * A table is a run of one slot, and goes the way that rings go (ring.c): when its session has ended
 * and no task can be in a chunk of it, or in the helper. What a row begins with is copied once,
 * when the table is made, so nothing here ever believes user space later on.
 */
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/slab.h>
#include <linux/vmalloc.h>

#include "array.h"
#include "compat.h"
#include "account/limit.h"
#include "account/pages.h"
#include "data/table.h"

#define KI_TABLE_SHIFT 40 /* each table's mapping has that many bits of offsets */

struct ki_table_rows {
	u64 owner;		    /* a session's serial */
	struct ki_account *account; /* to which its pages are charged; NULL: not yet */
	struct ki_table_cpu __percpu *cpu;
	u32 banks;
	u64 bank_pages;	    /* the head's, too */
	struct page **page; /* of all banks */
	void **bank;	    /* each as one piece */
	u64 *init;	    /* NULL: zeros */
};

struct ki_table_cpu __percpu *ki_table_cpus[KI_TABLES];
static struct ki_table_rows *ki_tables[KI_TABLES];
static DEFINE_MUTEX(ki_table_lock); /* of that; inside ki_lock, and inside mmap_lock */
static u64 ki_table_pages;	    /* of all */

static void forget(u32 first, u32 count);
static struct ki_slots ki_table_slots = {.forget = forget, .limit = KI_LIMIT_TABLES};

int ki_tables_init(void)
{
	ki_slots_init(&ki_table_slots, KI_TABLES);
	return 0;
}

bool ki_table_own(const struct ki_session *s, u32 number, struct ki_table_shape *out)
{
	const struct ki_table_cpu *c;

	lockdep_assert_held(&ki_lock);
	if (!ki_slots_own(&ki_table_slots, s, number, 1))
		return false;
	c = per_cpu_ptr(ki_table_cpus[number], 0);
	*out = (struct ki_table_shape){.keys = c->keys, .values = c->values, .shared = c->shared};
	return true;
}

/* ---- memory ---- */

static u64 all_pages(const struct ki_table_rows *t)
{
	return t->banks * t->bank_pages;
}

static void free_table(struct ki_table_rows *t)
{
	u32 i;

	for (i = 0; t->bank && i < t->banks; i++)
		vunmap(t->bank[i]);
	ki_array_free(t->bank);
	free_percpu(t->cpu);
	ki_pages_free(t->page, all_pages(t));
	ki_array_free(t->init);
	if (t->account)
		ki_pages_give(t->account, &ki_table_pages, all_pages(t));
	kfree(t);
}

static void forget(u32 first, u32 count)
{
	struct ki_table_rows *t = ki_tables[first];

	ki_table_cpus[first] = NULL;
	mutex_lock(&ki_table_lock);
	ki_tables[first] = NULL;
	mutex_unlock(&ki_table_lock);
	free_table(t);
}

static int map_banks(struct ki_table_rows *t)
{
	u32 i;

	for (i = 0; i < t->banks; i++) {
		t->bank[i] = vmap(t->page + i * t->bank_pages, t->bank_pages, VM_MAP, PAGE_KERNEL);
		if (!t->bank[i])
			return -ENOMEM;
	}
	return 0;
}

static void set_up_cpus(struct ki_table_rows *t, const struct ki_table_request *req)
{
	u32 n = 0;
	int cpu;

	for_each_possible_cpu (cpu) {
		void *bank = t->bank[t->banks == 1 ? 0 : n++];

		*per_cpu_ptr(t->cpu, cpu) =
			(struct ki_table_cpu){.rows = bank + PAGE_SIZE,
					      .head = bank,
					      .init = t->init,
					      .mask = req->rows - 1,
					      .probes = min_t(u32, req->rows, KI_TABLE_PROBES),
					      .words = 1 + req->keys + req->values,
					      .keys = req->keys,
					      .values = req->values,
					      .shared = req->flags & KI_TABLE_SHARED};
	}
}

static int fill_table(struct ki_table_rows *t, const struct ki_table_request *req, const u64 *init)
{
	int err;

	if (init) {
		t->init = kmemdup(init, req->values * sizeof(u64), GFP_KERNEL_ACCOUNT);
		if (!t->init)
			return -ENOMEM;
	}
	t->page = ki_array(all_pages(t), sizeof(*t->page), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	t->bank = ki_array(t->banks, sizeof(*t->bank), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	t->cpu = alloc_percpu_gfp(struct ki_table_cpu, GFP_KERNEL_ACCOUNT);
	if (!t->page || !t->bank || !t->cpu)
		return -ENOMEM;
	err = ki_pages_take(t->page, all_pages(t));
	if (!err)
		err = map_banks(t);
	if (!err)
		set_up_cpus(t, req);
	return err;
}

static int new_table(struct ki_session *s, const struct ki_table_request *req, const u64 *init,
		     struct ki_table_rows **out)
{
	struct ki_table_rows *t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	u64 bytes = (u64)req->rows * (1 + req->keys + req->values) * sizeof(u64);
	int err;

	if (!t)
		return -ENOMEM;
	t->banks = req->flags & KI_TABLE_SHARED ? 1 : num_possible_cpus();
	t->bank_pages = 1 + DIV_ROUND_UP_ULL(bytes, PAGE_SIZE);
	err = ki_pages_charge(s->account, &ki_table_pages, all_pages(t));
	if (!err) {
		t->account = s->account;
		t->owner = s->serial;
		err = fill_table(t, req, init);
	}
	if (err)
		free_table(t);
	else
		*out = t;
	return err;
}

/* ---- the request ---- */

int ki_table_check(struct ki_table_request *req)
{
	if (!(req->flags & ~KI_TABLE_SHARED) && !req->reason && req->keys &&
	    req->keys <= KI_TABLE_KEYS && req->values && req->values <= KI_TABLE_VALUES &&
	    is_power_of_2(req->rows) && req->rows <= KI_TABLE_ROWS)
		return 0;
	req->reason = KI_R_BAD_REQUEST;
	return -EINVAL;
}

int ki_table_take(struct ki_session *s, struct ki_table_request *req, const u64 *init)
{
	struct ki_table_rows *t = NULL;
	int err;

	lockdep_assert_held(&ki_lock);
	err = new_table(s, req, init, &t);
	if (err) {
		req->reason = ki_pages_reason(err);
		return err;
	}
	err = ki_slots_take(&ki_table_slots, s, 1, &req->number, &req->reason);
	if (err) {
		free_table(t);
		return err;
	}
	ki_table_cpus[req->number] = t->cpu;
	req->banks = t->banks;
	req->stride = t->bank_pages * PAGE_SIZE;
	req->offset = (u64)(1 + req->number) << KI_TABLE_SHIFT;
	mutex_lock(&ki_table_lock);
	ki_tables[req->number] = t;
	mutex_unlock(&ki_table_lock);
	return 0;
}

bool ki_table_is_mapping(u64 offset)
{
	return offset >> KI_TABLE_SHIFT;
}

static int map_rows(const struct ki_table_rows *t, const struct ki_session *s,
		    struct vm_area_struct *vma)
{
	if (!t || t->owner != s->serial)
		return -EINVAL;
	if (vma->vm_flags & (VM_WRITE | VM_EXEC))
		return -EACCES;
	ki_vm_flags_fix(vma, VM_DONTEXPAND | VM_DONTDUMP, VM_MAYWRITE | VM_MAYEXEC);
	return ki_pages_map(vma, t->page, all_pages(t));
}

int ki_table_map(struct ki_session *s, struct vm_area_struct *vma, u64 offset)
{
	u64 number = (offset >> KI_TABLE_SHIFT) - 1;
	int err;

	if (offset & ((1ull << KI_TABLE_SHIFT) - 1) || number >= KI_TABLES)
		return -EINVAL;
	mutex_lock(&ki_table_lock);
	err = map_rows(ki_tables[number], s, vma);
	mutex_unlock(&ki_table_lock);
	return err;
}
