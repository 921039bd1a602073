// SPDX-License-Identifier: GPL-2.0-only
/*
 * Tables of strings: the memory, and what user space sees of it, as tables of stacks have it
 * (stacks.c).
 */
#include <linux/cpumask.h>
#include <linux/log2.h>
#include <linux/mm.h>
#include <linux/random.h>
#include <linux/slab.h>

#include "account/limit.h"
#include "array.h"
#include "data/texts.h"

#define LEVELS 4

struct ki_texts_table *ki_texts_tables[KI_TEXTS_TABLES];
static u64 ki_texts_pages; /* of all */

static void forget(u32 first, u32 count);
static struct ki_slots ki_texts_slots = {.forget = forget, .limit = KI_LIMIT_STACKS};

int ki_texts_init(void)
{
	ki_slots_init(&ki_texts_slots, KI_TEXTS_TABLES);
	return 0;
}

bool ki_texts_own(const struct ki_session *s, u64 n)
{
	lockdep_assert_held(&ki_lock);
	return ki_slots_own(&ki_texts_slots, s, n, 1);
}

/* ---- memory ---- */

static void free_scratch(struct ki_texts_table *t)
{
	int cpu;

	for_each_possible_cpu (cpu)
		if (t->scratch)
			ki_array_free(t->scratch[cpu]);
	ki_array_free(t->scratch);
}

static void free_table(struct ki_texts_table *t)
{
	ki_sheet_free(&t->sheet);
	free_scratch(t);
	ki_texts_memory_free(t);
	kfree(t);
}

static void forget(u32 first, u32 count)
{
	struct ki_texts_table *t = ki_texts_tables[first];

	ki_texts_tables[first] = NULL;
	free_table(t);
}

static int take_scratch(struct ki_texts_table *t)
{
	int cpu;

	t->scratch = ki_array(nr_cpu_ids, sizeof(*t->scratch), GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!t->scratch)
		return -ENOMEM;
	for_each_possible_cpu (cpu) {
		t->scratch[cpu] = ki_array(1, LEVELS * (t->most + KI_TEXTS_PAD),
					   GFP_KERNEL_ACCOUNT | __GFP_ZERO);
		if (!t->scratch[cpu])
			return -ENOMEM;
	}
	return 0;
}

static int fill_table(struct ki_texts_table *t, struct ki_account *a, u32 piece)
{
	u64 rows = (u64)t->mask + 1;
	int err = ki_sheet_new(&t->sheet, a, &ki_texts_pages,
			       1 + PFN_UP(rows * sizeof(u64) + t->size));

	if (!err && piece)
		err = ki_texts_memory(t, piece);
	if (err)
		return err;
	t->head = t->sheet.at;
	t->head->used = sizeof(u64); /* nothing stands at 0 */
	t->rows = (u64 *)((u8 *)t->head + PAGE_SIZE);
	t->heap = (u8 *)(t->rows + rows);
	return take_scratch(t);
}

static int new_table(struct ki_session *s, const struct ki_texts *req, struct ki_texts_table **out)
{
	struct ki_texts_table *t = kzalloc(sizeof(*t), GFP_KERNEL_ACCOUNT);
	int err;

	if (!t)
		return -ENOMEM;
	t->seed = get_random_u64();
	t->mask = req->rows - 1;
	t->most = req->most - 1;
	t->size = req->heap;
	err = fill_table(t, s->account, req->scratch);
	if (err)
		free_table(t);
	else
		*out = t;
	return err;
}

/* ---- the request ---- */

int ki_texts_check(const struct ki_session *s, struct ki_texts *req)
{
	lockdep_assert_held(&ki_lock);
	if (!req->zero && !req->reason && req->most >= 2 && req->most <= KI_TEXTS_MOST &&
	    is_power_of_2(req->rows) && req->rows >= 512 && req->rows <= KI_TEXTS_ROWS &&
	    req->scratch <= KI_TEXTS_PIECE && req->heap && !(req->heap % 4096) &&
	    req->heap <= KI_TEXTS_HEAP && !s->texts)
		return 0;
	req->reason = KI_R_BAD_REQUEST;
	return s->texts ? -EEXIST : -EINVAL;
}

int ki_texts_take(struct ki_session *s, struct ki_texts *req)
{
	struct ki_texts_table *t = NULL;
	int err;

	lockdep_assert_held(&ki_lock);
	if (s->texts) /* another thread was quicker while this one waited */
		return -EEXIST;
	err = new_table(s, req, &t);
	if (err) {
		req->reason = ki_pages_reason(err);
		return err;
	}
	err = ki_slots_take(&ki_texts_slots, s, 1, &req->number, &req->reason);
	if (err) {
		free_table(t);
		return err;
	}
	ki_texts_tables[req->number] = t;
	req->bytes = t->sheet.n * PAGE_SIZE;
	smp_store_release(&s->texts, t); /* mmap takes no lock */
	return 0;
}

int ki_texts_map(struct ki_session *s, struct vm_area_struct *vma)
{
	const struct ki_texts_table *t = smp_load_acquire(&s->texts);

	return t ? ki_sheet_map(vma, &t->sheet) : -EINVAL;
}
