// SPDX-License-Identifier: GPL-2.0-only
/*
 * Blocks: the heap's bytes and rows, cut and joined again. Its lock, ki_heap_lock, is held.
 *
 * Rows. The unwinder and the fault handler search sorted arrays, in any context, without a lock.
 * So the arrays must be sorted at every moment, and the rows of a patch that runs must stay where
 * they are. Both are so because the heap is cut along three coordinates at once: bytes, rows of
 * the unwinder, exception rows. A block has a piece of each, blocks are in the same order on all
 * three, and
 *
 *	every row of a block, live or free, holds an address from the block's start to its end.
 *
 * Then what is done to the rows of one block never makes a search for an address in another go
 * wrong: all rows before a patch's compare as smaller, all after as larger, whatever they hold.
 * Within a block rows are raised to its end from the last to the first. They are lowered from
 * there to a patch's addresses, or to a nearer end, from the first to the last. So the array is
 * sorted after each store.
 *
 * A freed block's rows still hold addresses of the old patch. That is right until its bytes are
 * used again: then the rows that the new patch does not take would lie inside it. So before a
 * free block is cut its stale rows are raised to its end. How many there are is remembered:
 * raising them when they are freed would cost a pass over the whole heap each time a patch next
 * to a large free block goes.
 *
 * A free block of units has a class, the logarithm of what it can hold. A search looks at a few
 * blocks of the class that may do, then at the larger ones. It looks at all only before it gives
 * up.
 */
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "heap/blocks.h"
#include "reach/reach.h"
#include "yield.h"

#define KI_HEAP_CLASSES ((int)ilog2(KI_HEAP_UNITS) + 1) /* logarithms of 1..KI_HEAP_UNITS */
#define KI_HEAP_TRIES	16				/* blocks of a class that are looked at */

static LIST_HEAD(ki_blocks);
static struct list_head ki_classes[KI_HEAP_CLASSES];
static struct ki_extent ki_free; /* in all free blocks */

/* After the last block; never free, never freed. */
static struct ki_block ki_heap_stop = {.live = true};

static struct ki_block *after(struct ki_block *b)
{
	return list_next_entry(b, in_heap);
}

static struct ki_extent extent(struct ki_block *b)
{
	const struct ki_extent *to = &after(b)->at;

	return (struct ki_extent){to->units - b->at.units, to->orcs - b->at.orcs,
				  to->exs - b->at.exs};
}

unsigned long ki_heap_addr(const struct ki_block *b)
{
	return (unsigned long)ki_reach_start(KI_REACH_HEAP) + b->at.units * KI_HEAP_UNIT;
}

bool ki_extent_holds(struct ki_extent have, struct ki_extent need)
{
	return have.units >= need.units && have.orcs >= need.orcs && have.exs >= need.exs;
}

static void account(struct ki_extent e, int sign)
{
	ki_free.units += sign * e.units;
	ki_free.orcs += sign * e.orcs;
	ki_free.exs += sign * e.exs;
}

static u32 class_of(u32 units, u32 orcs)
{
	u32 n = min(units, orcs);

	return n ? ilog2(n) : 0;
}

static void add_free(struct ki_block *b)
{
	struct ki_extent e = extent(b);

	b->live = false;
	account(e, 1);
	list_add(&b->in_class, &ki_classes[class_of(e.units, e.orcs)]);
}

static void del_free(struct ki_block *b)
{
	account(extent(b), -1);
	list_del(&b->in_class);
}

static struct ki_block *find_in_class(u32 class, struct ki_extent need, u32 tries)
{
	struct ki_block *b;

	list_for_each_entry (b, &ki_classes[class], in_class) {
		if (ki_extent_holds(extent(b), need))
			return b;
		if (!--tries)
			break;
		ki_yield();
	}
	return NULL;
}

static struct ki_block *find_free(struct ki_extent need)
{
	struct ki_block *b = NULL;
	u32 c;

	for (c = class_of(max(need.units, need.orcs), U32_MAX); !b && c < KI_HEAP_CLASSES; c++)
		b = find_in_class(c, need, KI_HEAP_TRIES);
	for (c = 0; !b && c < KI_HEAP_CLASSES; c++)
		b = find_in_class(c, need, U32_MAX);
	return b;
}

static void raise_stale_rows(struct ki_block *b)
{
	unsigned long end = ki_heap_addr(after(b));

	ki_orc_clear(b->at.orcs, b->stale.orcs, end);
	ki_extable_clear(b->at.exs, b->stale.exs, end);
	b->stale = (struct ki_extent){};
}

/* Make a free block one that is in use; what it has too much becomes `rest`. True: rest is used. */
static bool cut(struct ki_block *b, struct ki_extent need, struct ki_block *rest)
{
	bool split = extent(b).units > need.units;

	del_free(b);
	raise_stale_rows(b);
	b->live = true;
	if (!split)
		return false; /* with all its rows, also those it does not need */
	rest->at = (struct ki_extent){b->at.units + need.units, b->at.orcs + need.orcs,
				      b->at.exs + need.exs};
	list_add(&rest->in_heap, &b->in_heap);
	add_free(rest);
	return true;
}

/*
 * Cut a free block in two: its first `units`, with their share of the rows, and the rest. The rows
 * of the first hold its old end, and are lowered to the new one.
 */
static void split_free(struct ki_block *b, u32 units, struct ki_block *rest)
{
	struct ki_extent e = extent(b);
	u32 orcs = (u64)e.orcs * units / e.units, exs = (u64)e.exs * units / e.units;

	del_free(b);
	raise_stale_rows(b);
	rest->at = (struct ki_extent){b->at.units + units, b->at.orcs + orcs, b->at.exs + exs};
	list_add(&rest->in_heap, &b->in_heap);
	ki_orc_lower(b->at.orcs, orcs, ki_heap_addr(rest));
	ki_extable_lower(b->at.exs, exs, ki_heap_addr(rest));
	add_free(b);
	add_free(rest);
}

/* What is left of a free block without so many first units and their share of the rows. */
static struct ki_extent extent_after(struct ki_block *b, u32 units)
{
	struct ki_extent e = extent(b);

	e.orcs -= (u64)e.orcs * units / e.units;
	e.exs -= (u64)e.exs * units / e.units;
	e.units -= units;
	return e;
}

/* Where in a free block `need` fits as asked: units before it and *pad; or false. */
static bool fits_filled(struct ki_block *b, struct ki_extent need, const struct ki_filled *as,
			u32 *front, u32 *pad)
{
	struct ki_extent e = extent(b);
	u64 d = ki_fill_distance(ki_heap_addr(b) - as->base, as->inner);
	u64 skip = as->base + d - ki_heap_addr(b);

	if (skip >= (u64)e.units * KI_HEAP_UNIT)
		return false;
	*front = skip / KI_HEAP_UNIT;
	*pad = skip % KI_HEAP_UNIT;
	need.units = DIV_ROUND_UP(*pad + as->len, KI_HEAP_UNIT);
	return ki_extent_holds(extent_after(b, *front), need);
}

/* After so many units: the end of the large pages, one after the other, that are there. */
static u32 large_end(u32 units)
{
	size_t at = units * KI_HEAP_UNIT, end = ki_reach_large_end(at);

	while (end != at) {
		at = end;
		end = ki_reach_large_end(at);
	}
	return at / KI_HEAP_UNIT;
}

/* Where in a free block `need` fits into large pages: units before it; or false. */
static bool fits_large(struct ki_block *b, struct ki_extent need, bool paged, u32 *front)
{
	const u32 step = KI_HEAP_STEP / KI_HEAP_UNIT;
	u32 at = b->at.units, stop = at + extent(b).units, end;

	while (at < stop) {
		end = min(large_end(at), stop);
		if (paged && end != at)
			at = round_up(at, (u32)PAGE_SIZE / KI_HEAP_UNIT);
		*front = at - b->at.units;
		if (at + need.units <= end && ki_extent_holds(extent_after(b, *front), need))
			return true;
		at = end <= at ? round_down(at + step, step) : end;
	}
	return false;
}

static struct ki_block *find_large(struct ki_extent need, bool paged, u32 *front)
{
	struct ki_block *b;
	u32 c;

	for (c = class_of(need.units, need.orcs); c < KI_HEAP_CLASSES; c++)
		list_for_each_entry (b, &ki_classes[c], in_class) {
			if (fits_large(b, need, paged, front))
				return b;
			ki_yield();
		}
	return NULL;
}

static struct ki_block *find_filled(struct ki_extent need, const struct ki_filled *as, u32 *front,
				    u32 *pad)
{
	u32 c, tries = KI_HEAP_TRIES;
	struct ki_block *b;

	for (c = KI_HEAP_CLASSES; c--;)
		list_for_each_entry (b, &ki_classes[c], in_class) {
			if (fits_filled(b, need, as, front, pad))
				return b;
			if (!--tries)
				return NULL;
		}
	return NULL;
}

bool ki_blocks_leave_reserve(struct ki_extent need)
{
	const struct ki_extent *all = &ki_heap_stop.at;

	need.units += all->units / KI_HEAP_RESERVE;
	need.orcs += all->orcs / KI_HEAP_RESERVE;
	need.exs += all->exs / KI_HEAP_RESERVE;
	return ki_extent_holds(ki_free, need);
}

struct ki_block *ki_blocks_take(struct ki_extent need, struct ki_block **rest)
{
	struct ki_block *b = find_free(need);

	if (b && cut(b, need, *rest))
		*rest = NULL;
	return b;
}

/* As cut, after so many first units, which stay free. */
static struct ki_block *cut_after(struct ki_block *b, u32 front, struct ki_extent need,
				  struct ki_block **rest)
{
	if (front) {
		split_free(b, front, rest[0]);
		b = rest[0];
		rest[0] = NULL;
	}
	if (cut(b, need, rest[1]))
		rest[1] = NULL;
	return b;
}

struct ki_block *ki_blocks_take_filled(struct ki_extent need, const struct ki_filled *as, u32 *pad,
				       struct ki_block **rest)
{
	u32 front = 0;
	struct ki_block *b = find_filled(need, as, &front, pad);

	if (!b)
		return NULL;
	need.units = DIV_ROUND_UP(*pad + as->len, KI_HEAP_UNIT);
	return cut_after(b, front, need, rest);
}

struct ki_block *ki_blocks_take_large(struct ki_extent need, bool paged, struct ki_block **rest)
{
	u32 front = 0;
	struct ki_block *b = find_large(need, paged, &front);

	return b ? cut_after(b, front, need, rest) : NULL;
}

bool ki_blocks_is_large(struct ki_block *b)
{
	return large_end(b->at.units) >= after(b)->at.units;
}

/* b swallows the block after it. */
static void join(struct ki_block *b)
{
	struct ki_block *gone = after(b);
	struct ki_extent e = extent(b);

	/* All of b's rows are below its new end. */
	b->stale = (struct ki_extent){0, e.orcs + gone->stale.orcs, e.exs + gone->stale.exs};
	list_del(&gone->in_heap);
	kfree(gone);
}

void ki_blocks_give(struct ki_block *b)
{
	struct ki_block *before;

	b->stale = extent(b);
	if (!after(b)->live) {
		del_free(after(b));
		join(b);
	}
	before = list_prev_entry(b, in_heap);
	if (&before->in_heap != &ki_blocks && !before->live) {
		del_free(before);
		join(before);
		b = before;
	}
	add_free(b);
}

u32 ki_blocks_bytes(struct ki_block *b)
{
	return extent(b).units * KI_HEAP_UNIT;
}

u32 ki_blocks_used(void)
{
	return (ki_heap_stop.at.units - ki_free.units) * KI_HEAP_UNIT;
}

struct ki_extent ki_extent_of_steps(u32 n)
{
	return (struct ki_extent){n * (KI_HEAP_UNITS / KI_HEAP_STEPS),
				  n * (KI_HEAP_ORCS / KI_HEAP_STEPS),
				  n * (KI_HEAP_EXS / KI_HEAP_STEPS)};
}

/* The last block if it is free, or NULL. */
static struct ki_block *free_tail(void)
{
	struct ki_block *b = list_prev_entry(&ki_heap_stop, in_heap);

	return &b->in_heap == &ki_blocks || b->live ? NULL : b;
}

/* Memory up to step n is there: the last block is free, and longer, or `more` becomes it. */
bool ki_blocks_lengthen(u32 n, struct ki_block *more)
{
	struct ki_block *tail = free_tail();

	if (tail) {
		struct ki_extent e = extent(tail);

		del_free(tail);
		tail->stale = (struct ki_extent){0, e.orcs, e.exs}; /* they hold the old end */
	} else {
		more->at = ki_heap_stop.at;
		list_add_tail(&more->in_heap, &ki_heap_stop.in_heap);
	}
	ki_heap_stop.at = ki_extent_of_steps(n);
	add_free(tail ? tail : more);
	return !tail;
}

/* How many steps are left if the free end goes. */
u32 ki_blocks_steps_needed(u32 steps)
{
	const struct ki_block *tail = free_tail();
	struct ki_extent one = ki_extent_of_steps(1);
	u32 n;

	if (!tail)
		return steps;
	n = max3(DIV_ROUND_UP(tail->at.units, one.units), DIV_ROUND_UP(tail->at.orcs, one.orcs),
		 DIV_ROUND_UP(tail->at.exs, one.exs));
	return n && tail->at.units == n * one.units ? n + 1 : n; /* some bytes with the rows */
}

/* The last block is free, and becomes shorter, or none. */
void ki_blocks_shorten(u32 n)
{
	struct ki_block *tail = free_tail();
	struct ki_extent to = ki_extent_of_steps(n);
	unsigned long end = (unsigned long)ki_reach_start(KI_REACH_HEAP) + n * KI_HEAP_STEP;

	del_free(tail);
	raise_stale_rows(tail);
	ki_orc_lower(tail->at.orcs, to.orcs - tail->at.orcs, end);
	ki_extable_lower(tail->at.exs, to.exs - tail->at.exs, end);
	ki_heap_stop.at = to;
	if (n) {
		add_free(tail);
		return;
	}
	list_del(&tail->in_heap);
	kfree(tail);
}

void ki_blocks_init(void)
{
	int i;

	for (i = 0; i < KI_HEAP_CLASSES; i++)
		INIT_LIST_HEAD(&ki_classes[i]);
	list_add_tail(&ki_heap_stop.in_heap, &ki_blocks);
}

void ki_blocks_exit(void)
{
	struct ki_block *b, *next;

	list_for_each_entry_safe (b, next, &ki_blocks, in_heap)
		if (b != &ki_heap_stop)
			kfree(b);
}
