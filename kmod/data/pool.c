// SPDX-License-Identifier: GPL-2.0-only
/*
 * The blocks of threads' words.
 *
 * The taker of one is in the middle of a switch between threads and can neither allocate nor wake a
 * task. So there are always more than are needed: at first twice as many as there are threads,
 * and KI_BLOCKS_MORE. When less than a quarter is free, the taker raises an interrupt on its own
 * CPU (irq_work, which needs nothing but that). The interrupt has a piece of work make more until
 * half are free. All blocks together take at most 1/KI_SHARE of the machine's memory. What is made
 * stays until no session has words any more.
 */
#include <linux/irq_work.h>
#include <linux/mm.h>
#include <linux/mutex.h>
#include <linux/sched.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "array.h"
#include "data/threads.h"
#include "symbols.h"
#include "yield.h"

#define KI_SHARE       64
#define KI_BLOCKS_MORE 256
#define KI_BLOCKS_MAX  65536 /* 512 MiB */
#define KI_SLAB	       64    /* blocks that are made at once */

struct ki_slab {
	struct list_head list;
	u64 *words;
	struct ki_thread threads[KI_SLAB];
};

DEFINE_RAW_SPINLOCK(ki_pool_lock);
static struct ki_thread *ki_free_blocks; /* this and the next two: under ki_pool_lock */
static u32 ki_nfree;
static u32 ki_nblocks;
static u32 ki_limit;

static DEFINE_MUTEX(ki_slabs_lock);
static LIST_HEAD(ki_slabs);

static void grow(struct work_struct *unused);
static DECLARE_WORK(ki_grow_work, grow);

static void on_low(struct irq_work *unused)
{
	schedule_work(&ki_grow_work);
}

static DEFINE_IRQ_WORK(ki_low, on_low);

notrace struct ki_thread *ki_pool_take(void)
{
	struct ki_thread *t = ki_free_blocks;

	if (t) {
		ki_free_blocks = t->next;
		ki_nfree--;
	}
	if (ki_nfree < ki_nblocks / 4 && ki_nblocks < ki_limit)
		irq_work_queue(&ki_low);
	return t;
}

notrace void ki_pool_give(struct ki_thread *t)
{
	WRITE_ONCE(t->next, ki_free_blocks);
	ki_free_blocks = t;
	ki_nfree++;
}

static int add_slab(void)
{
	struct ki_slab *s = kzalloc(sizeof(*s), GFP_KERNEL_ACCOUNT);
	u32 i;

	if (s)
		s->words = ki_array(KI_SLAB * KI_THREAD_WORDS, sizeof(u64),
				    GFP_KERNEL_ACCOUNT | __GFP_ZERO);
	if (!s || !s->words) {
		kfree(s);
		return -ENOMEM;
	}
	list_add(&s->list, &ki_slabs);
	raw_spin_lock_irq(&ki_pool_lock);
	ki_nblocks += KI_SLAB;
	for (i = 0; i < KI_SLAB; i++) {
		s->threads[i].words = s->words + i * KI_THREAD_WORDS;
		ki_pool_give(&s->threads[i]);
	}
	raw_spin_unlock_irq(&ki_pool_lock);
	return 0;
}

static void grow(struct work_struct *unused)
{
	mutex_lock(&ki_slabs_lock);
	while (READ_ONCE(ki_nfree) < ki_nblocks / 2 && ki_nblocks < ki_limit && !add_slab())
		;
	mutex_unlock(&ki_slabs_lock);
}

/* As many as there are, about: no task walks over them for that. */
static u32 count_threads(void)
{
	return READ_ONCE(*(int *)ki_symbol("nr_threads")) + num_possible_cpus(); /* the idle ones */
}

int ki_pool_start(void)
{
	u32 want = 2 * count_threads() + KI_BLOCKS_MORE;
	int err = 0;

	ki_limit = min_t(u64, KI_BLOCKS_MAX,
			 totalram_pages() / (KI_THREAD_WORDS * sizeof(u64) / PAGE_SIZE) / KI_SHARE);
	mutex_lock(&ki_slabs_lock);
	do
		err = add_slab();
	while (!err && ki_nblocks < want && ki_nblocks < ki_limit);
	mutex_unlock(&ki_slabs_lock);
	if (err)
		ki_pool_stop();
	return err;
}

void ki_pool_stop(void)
{
	struct ki_slab *s, *next;

	irq_work_sync(&ki_low);
	cancel_work_sync(&ki_grow_work);
	list_for_each_entry_safe (s, next, &ki_slabs, list) {
		ki_array_free(s->words);
		kfree(s);
		ki_yield();
	}
	INIT_LIST_HEAD(&ki_slabs);
	ki_free_blocks = NULL;
	ki_nfree = ki_nblocks = 0;
}

void ki_pool_each(void (*each)(struct ki_thread *t, void *arg), void *arg)
{
	struct ki_slab *s;
	u32 i;

	mutex_lock(&ki_slabs_lock);
	list_for_each_entry (s, &ki_slabs, list) {
		for (i = 0; i < KI_SLAB; i++) {
			each(&s->threads[i], arg);
			ki_yield();
		}
	}
	mutex_unlock(&ki_slabs_lock);
}
