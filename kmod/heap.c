// SPDX-License-Identifier: GPL-2.0-only
/*
 * The text heap: memory for patches, inside the module's own text, and with it the rows that the
 * kernel's tables have of patches.
 *
 * The kernel then regards patches as module text: is_module_text_address holds, /proc/kallsyms
 * names them, and they are within reach of a rel32 of the kernel and of every module.
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
 * wrong: all rows before a patch's compare as smaller, all behind as larger, whatever they hold.
 * Within a block rows are raised to its end from the last to the first, and lowered from there to
 * a patch's addresses, or to a nearer end, from the first to the last, so that the array is sorted
 *after each store.
 *
 * A freed block's rows still hold addresses of the old patch. That is right until its bytes are
 * used again: then the rows that the new patch does not take would lie inside it. So before a
 * free block is cut its stale rows are raised to its end. How many there are is remembered:
 * raising them when they are freed would cost a pass over the whole heap each time a patch next
 * to a large free block goes.
 *
 * A free block of units has a class, the logarithm of what it can hold; a search looks at a few
 * blocks of the class that may do, then at the larger ones, and at all only before it gives up.
 *
 * The section is reserved by an assembler directive as writable data without contents, because
 * objtool refuses such a section of code; after the final link objcopy makes it code (kmod.mk).
 * Unused heap holds int3. Before the heap lies ki_returned (returns.c), all int3.
 *
 * A part of each coordinate is only for rebuilding patches when chunks are taken out, so that
 * taking out cannot fail for lack of space.
 */
#include <linux/log2.h>
#include <linux/sched.h>
#include <linux/slab.h>

#include "compat.h"
#include "rows.h"

#define KI_HEAP_CLASSES ((int)ilog2(KI_HEAP_UNITS) + 1) /* logarithms of 1..KI_HEAP_UNITS */
#define KI_HEAP_SMALL	16				/* units and rows of a small patch, amply */
#define KI_HEAP_TRIES	16				/* blocks of a class that are looked at */

asm(".pushsection .ki_heap,\"aw\",@nobits\n"
    ".balign 4096\n"
    ".globl ki_returned\n"
    "ki_returned: .skip " __stringify(KI_RETURNS) "\n"
						  ".globl ki_heap_start\n"
						  "ki_heap_start: .skip " __stringify(
							  KI_HEAP_SIZE) "\n"
									".globl ki_heap_end\n"
									"ki_heap_end:\n"
									".popsection\n");
extern u8 ki_heap_start[], ki_heap_end[];

static DEFINE_MUTEX(ki_heap_lock); /* inside ki_lock; text_mutex is not taken inside it */
static LIST_HEAD(ki_blocks);
static struct list_head ki_classes[KI_HEAP_CLASSES];
static struct ki_extent ki_free; /* in all free blocks */

/* Behind the last block; never free, never freed. */
static struct ki_block ki_heap_stop = {
	.at = {KI_HEAP_UNITS, KI_HEAP_ORCS, KI_HEAP_EXS},
	.live = true,
};

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
	return (unsigned long)ki_heap_start + b->at.units * KI_HEAP_UNIT;
}

static bool holds(struct ki_extent have, struct ki_extent need)
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
		if (holds(extent(b), need))
			return b;
		if (!--tries)
			break;
		cond_resched();
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

/* Where in a free block `need` fits as wished: units before it and *pad; or false. */
static bool fits_filled(struct ki_block *b, struct ki_extent need, u32 len, unsigned long base,
			u8 inner, u32 *front, u32 *pad)
{
	struct ki_extent e = extent(b);
	u64 d = ki_fill_distance(ki_heap_addr(b) - base, inner);
	u64 skip = base + d - ki_heap_addr(b);

	if (skip >= (u64)e.units * KI_HEAP_UNIT)
		return false;
	*front = skip / KI_HEAP_UNIT;
	*pad = skip % KI_HEAP_UNIT;
	need.units = DIV_ROUND_UP(*pad + len, KI_HEAP_UNIT);
	e.orcs -= (u64)e.orcs * *front / e.units;
	e.exs -= (u64)e.exs * *front / e.units;
	e.units -= *front;
	return holds(e, need);
}

static struct ki_block *find_filled(struct ki_extent need, u32 len, unsigned long base, u8 inner,
				    u32 *front, u32 *pad)
{
	u32 c, tries = KI_HEAP_TRIES;
	struct ki_block *b;

	for (c = KI_HEAP_CLASSES; c--;)
		list_for_each_entry (b, &ki_classes[c], in_class) {
			if (fits_filled(b, need, len, base, inner, front, pad))
				return b;
			if (!--tries)
				return NULL;
		}
	return NULL;
}

static bool leaves_reserve(struct ki_extent need)
{
	struct ki_extent keep = {KI_HEAP_UNITS / KI_HEAP_RESERVE, KI_HEAP_ORCS / KI_HEAP_RESERVE,
				 KI_HEAP_EXS / KI_HEAP_RESERVE};

	keep.units += need.units;
	keep.orcs += need.orcs;
	keep.exs += need.exs;
	return holds(ki_free, keep);
}

bool ki_heap_holds(unsigned long addr)
{
	return addr - (unsigned long)ki_returned < KI_RETURNS + KI_HEAP_SIZE;
}

bool ki_heap_is_full(void)
{
	bool full;

	mutex_lock(&ki_heap_lock);
	full = !leaves_reserve((struct ki_extent){KI_HEAP_SMALL, KI_HEAP_SMALL, 0});
	mutex_unlock(&ki_heap_lock);
	return full;
}

int ki_heap_alloc(u32 len, u32 norc, u32 nex, bool reserve, struct ki_block **out)
{
	struct ki_extent need = {DIV_ROUND_UP(len, KI_HEAP_UNIT), norc, nex};
	struct ki_block *rest, *b = NULL;

	rest = kzalloc(sizeof(*rest), GFP_KERNEL);
	if (!rest)
		return -ENOMEM;
	mutex_lock(&ki_heap_lock);
	if (reserve || leaves_reserve(need))
		b = find_free(need);
	if (b && cut(b, need, rest))
		rest = NULL;
	mutex_unlock(&ki_heap_lock);
	kfree(rest);
	*out = b;
	return b ? 0 : -ENOSPC;
}

int ki_heap_alloc_filled(u32 len, u32 norc, u32 nex, unsigned long base, u8 inner, u32 *pad,
			 struct ki_block **out)
{
	struct ki_extent need = {DIV_ROUND_UP(len, KI_HEAP_UNIT) + 1, norc, nex};
	struct ki_block *rest[2], *b = NULL;
	u32 front = 0;
	int err;

	rest[0] = kzalloc(sizeof(*rest[0]), GFP_KERNEL);
	rest[1] = kzalloc(sizeof(*rest[1]), GFP_KERNEL);
	err = rest[0] && rest[1] ? -ENOSPC : -ENOMEM;
	mutex_lock(&ki_heap_lock);
	if (err == -ENOSPC && leaves_reserve(need))
		b = find_filled(need, len, base, inner, &front, pad);
	if (b && front) {
		split_free(b, front, rest[0]);
		b = rest[0];
		rest[0] = NULL;
	}
	*pad = b ? *pad : 0;
	need.units = DIV_ROUND_UP(*pad + len, KI_HEAP_UNIT);
	if (b && cut(b, need, rest[1]))
		rest[1] = NULL;
	mutex_unlock(&ki_heap_lock);
	kfree(rest[0]);
	kfree(rest[1]);
	*out = b;
	return b ? 0 : err;
}

/* b swallows the block behind it. */
static void join(struct ki_block *b)
{
	struct ki_block *gone = after(b);
	struct ki_extent e = extent(b);

	/* All of b's rows are below its new end. */
	b->stale = (struct ki_extent){0, e.orcs + gone->stale.orcs, e.exs + gone->stale.exs};
	list_del(&gone->in_heap);
	kfree(gone);
}

void ki_heap_free(struct ki_block *b)
{
	struct ki_block *before;

	/* Nobody cuts or joins a live block, so its bounds are fixed. */
	ki_text_fill_heap(ki_heap_addr(b), ki_heap_addr(after(b)) - ki_heap_addr(b));
	mutex_lock(&ki_heap_lock);
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
	mutex_unlock(&ki_heap_lock);
}

u32 ki_heap_bytes(struct ki_block *b)
{
	u32 units;

	mutex_lock(&ki_heap_lock);
	units = b ? extent(b).units : 0;
	mutex_unlock(&ki_heap_lock);
	return units * KI_HEAP_UNIT;
}

void ki_heap_info(struct ki_info *info)
{
	info->heap_start = (unsigned long)ki_heap_start;
	info->heap_end = (unsigned long)ki_heap_end;
	mutex_lock(&ki_heap_lock);
	info->heap_used = (KI_HEAP_UNITS - ki_free.units) * KI_HEAP_UNIT;
	mutex_unlock(&ki_heap_lock);
}

static bool in_module_text(unsigned long addr)
{
	unsigned long start = KI_MODULE_TEXT(THIS_MODULE);

	return addr >= start && addr < start + KI_MODULE_TEXT_SIZE(THIS_MODULE);
}

int ki_heap_init(void)
{
	struct ki_block *all;
	int i;

	if (!in_module_text((unsigned long)ki_returned)) {
		pr_err("kerninst: the heap is not in the module's text: the module was not finished with objcopy\n");
		return -ENOEXEC;
	}
	all = kzalloc(sizeof(*all), GFP_KERNEL);
	if (!all)
		return -ENOMEM;
	for (i = 0; i < KI_HEAP_CLASSES; i++)
		INIT_LIST_HEAD(&ki_classes[i]);
	list_add_tail(&all->in_heap, &ki_blocks);
	list_add_tail(&ki_heap_stop.in_heap, &ki_blocks);
	add_free(all);
	ki_text_fill_heap((unsigned long)ki_returned, KI_RETURNS + KI_HEAP_SIZE);
	ki_text_flush_heap();
	return 0;
}

void ki_heap_exit(void)
{
	struct ki_block *b, *next;

	list_for_each_entry_safe (b, next, &ki_blocks, in_heap)
		if (b != &ki_heap_stop)
			kfree(b);
}
