// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text heap: memory for patches, and with it the rows that the kernel's tables have of patches.
 *
 * The kernel regards it as module text (region.c): is_module_text_address holds, /proc/kallsyms
 * names patches, and they are within reach (reach.c) of a rel32 of the kernel and of every module.
 *
 * The heap has memory from its beginning to `ki_heap_stop`, in steps. When a patch finds no room
 * the heap grows by a step, as long as it may and there is memory. (Parameter heap is the limit;
 * it lowers no heap that is larger already.) After the first step it grows by a page of 2 MiB if
 * one is free (large.c). Layouts are put into such pages, others where there is room. Free steps at
 * its end go a few seconds later. Unused heap holds int3.
 *
 * A part of each coordinate is only for rebuilding patches when chunks are taken out, so that
 * taking out cannot fail for lack of space.
 */
#include <linux/moduleparam.h>
#include <linux/slab.h>
#include <linux/workqueue.h>

#include "heap/blocks.h"
#include "reach/reach.h"
#include "user.h"

#define KI_HEAP_SMALL  16			     /* units and rows of a small patch, amply */
#define KI_HEAP_FILLED (4 * 0x100000 / KI_HEAP_STEP) /* steps: each `inner` fits somewhere */
#define KI_HEAP_REST   (5 * HZ)			     /* before free steps go */

static unsigned long ki_heap_most = KI_HEAP_SIZE;
module_param_named(heap, ki_heap_most, ulong, 0644);
MODULE_PARM_DESC(heap, "bytes of the text heap at most, in steps of 1 MiB");

static DEFINE_MUTEX(ki_heap_lock);	/* inside ki_lock; text_mutex is not taken inside it */
static DEFINE_MUTEX(ki_heap_size_lock); /* the heap grows or shrinks; outside ki_heap_lock and
					   text_mutex */
static unsigned long ki_heap_start;
static u32 ki_heap_steps;  /* that have memory */
static bool ki_heap_short; /* there was none for another one */
static void trim(struct work_struct *unused);
static DECLARE_DELAYED_WORK(ki_heap_trim, trim);

unsigned long ki_heap_reach(void)
{
	return READ_ONCE(ki_heap_steps) * KI_HEAP_STEP;
}

static u32 steps_most(void)
{
	return min_t(unsigned long, READ_ONCE(ki_heap_most), KI_HEAP_SIZE) / KI_HEAP_STEP;
}

/* Not on this CPU alone: a real-time task may have it for long. */
static void trim_after(unsigned long delay)
{
	queue_delayed_work(system_unbound_wq, &ki_heap_trim, delay);
}

/* The heap ends there, and new readers are told so; trim gives the memory back. */
static void hide_from(u32 steps)
{
	if (!steps)
		ki_names_hide();
	ki_rows_hide(steps);
}

/*
 * One step more than `had`, or a large page; large: only that. 0 also if another task has done it.
 */
static int grow(u32 had, bool large)
{
	struct ki_block *more;
	int err = -ENOSPC;
	u32 to = had;

	mutex_lock(&ki_heap_size_lock);
	more = kzalloc(sizeof(*more), GFP_KERNEL);
	if (ki_heap_steps != had)
		err = 0;
	else if (!more)
		err = -ENOMEM;
	else if (had < steps_most())
		err = had || !ki_names_make() ? ki_rows_grow(had, steps_most(), large, &to)
					      : -ENOMEM;
	if (!err && ki_heap_steps == had) {
		mutex_lock(&ki_heap_lock);
		if (ki_blocks_lengthen(to, more))
			more = NULL;
		WRITE_ONCE(ki_heap_steps, to);
		mutex_unlock(&ki_heap_lock);
	} else if (err == -ENOMEM && !had) {
		hide_from(0);
		trim_after(1);
	}
	if (!large)
		ki_heap_short = err == -ENOMEM;
	kfree(more);
	mutex_unlock(&ki_heap_size_lock);
	return err;
}

static void shorten(void)
{
	u32 had, n;

	mutex_lock(&ki_heap_lock);
	had = ki_heap_steps;
	n = ki_blocks_steps_needed(had);
	if (n < had)
		ki_blocks_shorten(n);
	WRITE_ONCE(ki_heap_steps, n);
	mutex_unlock(&ki_heap_lock);
	if (n < had)
		hide_from(n);
}

/*
 * What was hidden gives its memory back; false: a reader may still be in it. What is still to be
 * written there is written first: free blocks are filled some time before the bytes stand there.
 */
static bool reclaim(bool wait)
{
	ki_text_flush_heap();
	if (!ki_rows_reclaim(ki_heap_steps, wait))
		return false;
	if (!ki_heap_steps)
		ki_names_reclaim();
	return true;
}

static void trim(struct work_struct *unused)
{
	(void)unused;
	mutex_lock(&ki_heap_size_lock);
	shorten();
	if (!reclaim(false))
		trim_after(1);
	mutex_unlock(&ki_heap_size_lock);
}

/* Steps that are free now go if they are so in a while. */
static void rest_free_steps(void)
{
	mutex_lock(&ki_heap_lock);
	if (ki_blocks_steps_needed(ki_heap_steps) < ki_heap_steps)
		trim_after(KI_HEAP_REST);
	mutex_unlock(&ki_heap_lock);
}

bool ki_heap_is_full(void)
{
	bool full;

	mutex_lock(&ki_heap_lock);
	full = (ki_heap_short || ki_heap_steps >= steps_most()) &&
	       !ki_blocks_leave_reserve((struct ki_extent){KI_HEAP_SMALL, KI_HEAP_SMALL, 0});
	mutex_unlock(&ki_heap_lock);
	return full;
}

/* Could it ever be there? */
static bool may_fit(struct ki_extent need)
{
	return ki_extent_holds(ki_extent_of_steps(max(steps_most(), READ_ONCE(ki_heap_steps))),
			       need);
}

/* As ki_heap_alloc, from the memory that is there; *steps: of how many steps that is. */
static struct ki_block *alloc_now(struct ki_extent need, bool reserve, struct ki_block **rest,
				  u32 *steps)
{
	struct ki_block *b = NULL;

	mutex_lock(&ki_heap_lock);
	*steps = ki_heap_steps;
	if (reserve || ki_blocks_leave_reserve(need))
		b = ki_blocks_take(need, rest);
	mutex_unlock(&ki_heap_lock);
	return b;
}

int ki_heap_alloc(u32 len, u32 norc, u32 nex, bool reserve, struct ki_block **out)
{
	struct ki_extent need = {DIV_ROUND_UP(len, KI_HEAP_UNIT), norc, nex};
	/* The reserve is for taking out, which may not fail for what the caller may have. */
	struct ki_block *rest = kzalloc(sizeof(*rest), reserve ? GFP_KERNEL : KI_GFP);
	int err = 0;
	u32 steps;

	*out = NULL;
	if (!rest)
		return -ENOMEM;
	if (!may_fit(need))
		err = -ENOSPC;
	while (!err && !(*out = alloc_now(need, reserve, &rest, &steps)))
		err = grow(steps, false);
	kfree(rest);
	return err;
}

static struct ki_block *alloc_large_now(struct ki_extent need, bool paged, struct ki_block **rest,
					u32 *steps)
{
	struct ki_block *b = NULL;

	mutex_lock(&ki_heap_lock);
	*steps = ki_heap_steps;
	if (ki_blocks_leave_reserve(need))
		b = ki_blocks_take_large(need, paged, rest);
	mutex_unlock(&ki_heap_lock);
	return b;
}

/* Two, for what is left before and after a block. */
static int new_rests(struct ki_block **rest)
{
	rest[0] = kzalloc(sizeof(*rest[0]), KI_GFP);
	rest[1] = kzalloc(sizeof(*rest[1]), KI_GFP);
	return rest[0] && rest[1] ? 0 : -ENOMEM;
}

static void free_rests(struct ki_block **rest)
{
	kfree(rest[0]);
	kfree(rest[1]);
}

int ki_heap_alloc_large(u32 len, u32 norc, u32 nex, bool paged, struct ki_block **out)
{
	struct ki_extent need = {DIV_ROUND_UP(len, KI_HEAP_UNIT), norc, nex};
	struct ki_block *rest[2];
	int err = new_rests(rest);
	u32 steps;

	*out = NULL;
	if (!err && !may_fit(need))
		err = -ENOSPC;
	while (!err && !(*out = alloc_large_now(need, paged, rest, &steps)))
		err = grow(steps, true);
	free_rests(rest);
	return err;
}

static struct ki_block *alloc_filled_now(struct ki_extent need, const struct ki_filled *as,
					 u32 *pad, struct ki_block **rest, u32 *steps)
{
	struct ki_block *b = NULL;

	mutex_lock(&ki_heap_lock);
	*steps = ki_heap_steps;
	if (ki_blocks_leave_reserve(need))
		b = ki_blocks_take_filled(need, as, pad, rest);
	mutex_unlock(&ki_heap_lock);
	return b;
}

int ki_heap_alloc_filled(const struct ki_filled *as, u32 norc, u32 nex, u32 *pad,
			 struct ki_block **out)
{
	struct ki_extent need = {DIV_ROUND_UP(as->len, KI_HEAP_UNIT) + 1, norc, nex};
	struct ki_block *rest[2];
	int err = new_rests(rest);
	u32 steps;

	*out = NULL;
	while (!err && !(*out = alloc_filled_now(need, as, pad, rest, &steps)))
		if (steps >= KI_HEAP_FILLED || grow(steps, false))
			err = -ENOSPC;
	if (err) {
		*pad = 0;
		rest_free_steps(); /* it has grown in vain */
	}
	free_rests(rest);
	return err;
}

u32 ki_heap_bytes(struct ki_block *b)
{
	u32 bytes;

	mutex_lock(&ki_heap_lock);
	bytes = b ? ki_blocks_bytes(b) : 0;
	mutex_unlock(&ki_heap_lock);
	return bytes;
}

u32 ki_heap_bytes_large(struct ki_block *b)
{
	u32 bytes;

	mutex_lock(&ki_heap_lock);
	bytes = b && ki_blocks_is_large(b) ? ki_blocks_bytes(b) : 0;
	mutex_unlock(&ki_heap_lock);
	return bytes;
}

void ki_heap_free(struct ki_block *b)
{
	/* No caller cuts or joins a live block, so its bounds are fixed. */
	ki_text_fill_heap(ki_heap_addr(b), ki_heap_bytes(b));
	mutex_lock(&ki_heap_lock);
	ki_blocks_give(b);
	mutex_unlock(&ki_heap_lock);
	rest_free_steps();
}

void ki_heap_info(struct ki_info *info)
{
	enum ki_small why;

	info->heap_start = ki_heap_start;
	mutex_lock(&ki_heap_lock);
	info->heap_end = ki_heap_start + (u64)max(steps_most(), ki_heap_steps) * KI_HEAP_STEP;
	info->heap_used = ki_blocks_used();
	mutex_unlock(&ki_heap_lock);
	info->large_start = ki_heap_start + KI_LARGE_FROM;
	info->large = ki_reach_larges(&why);
}

int ki_heap_init(void)
{
	ki_heap_start = (unsigned long)ki_reach_start(KI_REACH_HEAP);
	ki_blocks_init();
	return 0;
}

void ki_heap_exit(void)
{
	cancel_delayed_work_sync(&ki_heap_trim);
	shorten();
	reclaim(true);
	ki_blocks_exit();
}
