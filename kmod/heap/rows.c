// SPDX-License-Identifier: GPL-2.0-only
/*
 * What the kernel's tables say of patches: collected while a patch is linked, published before
 * any task runs it, and gone when its memory is given back.
 *
 * The tables themselves are arrays of the heap's own description (region.c). They become longer
 * and shorter at their end, while readers may be in them. Readers take the number of rows once and
 * hold nothing up (RCU). What is new is right before it is counted. What goes is counted no more
 * before it goes, and all readers that may have the old number have left.
 */
#include <linux/mm.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>

#include "array.h"
#include "heap/rows.h"
#include "reach/reach.h"

/* Memory of one step of the heap. */
static const struct {
	enum ki_reach what;
	size_t bytes;
} ki_step_parts[] = {
	{KI_REACH_HEAP, KI_HEAP_STEP},
	{KI_REACH_ORC_IPS, KI_HEAP_ORCS / KI_HEAP_STEPS * sizeof(int)},
	{KI_REACH_ORCS, KI_HEAP_ORCS / KI_HEAP_STEPS * sizeof(struct orc_entry)},
	{KI_REACH_EXS, KI_HEAP_EXS / KI_HEAP_STEPS * sizeof(struct exception_table_entry)},
	{KI_REACH_ORIGINS, KI_HEAP_UNITS / KI_HEAP_STEPS * sizeof(u32)},
};

/*
 * Where the stack is found from %rsp, it lies `pushed` bytes further. Where it is found through
 * a word at %rsp, that word is no longer there: such a row becomes one that says nothing.
 */
static void move_stack(struct orc_entry *e, u32 pushed)
{
	if (e->sp_reg == ORC_REG_SP)
		e->sp_offset += pushed;
	else if (pushed && e->sp_reg == ORC_REG_SP_INDIRECT)
		memset(e, 0, sizeof(*e));
}

void ki_rows_start(struct ki_rows *r)
{
	r->norc = r->nex = r->nbug = 0;
}

int ki_rows_room(struct ki_rows *r)
{
	r->orc = ki_array(r->norc + 1, sizeof(*r->orc), GFP_KERNEL);
	if (r->nex)
		r->ex = ki_array(r->nex, sizeof(*r->ex), GFP_KERNEL);
	if (r->nbug)
		r->bug = ki_array(r->nbug, sizeof(*r->bug), GFP_KERNEL);
	return r->orc && (r->ex || !r->nex) && (r->bug || !r->nbug) ? 0 : -ENOMEM;
}

void ki_rows_free(struct ki_rows *r)
{
	ki_array_free(r->orc);
	ki_array_free(r->ex);
	ki_array_free(r->bug);
}

void ki_rows_stack(struct ki_rows *r, u32 off, unsigned long addr, u32 pushed)
{
	struct orc_entry e;

	if (r->found_at != addr) /* chunk, copy and jump of one instruction ask for it each */
		ki_orc_find(r->owner, addr, &r->found);
	r->found_at = addr;
	e = r->found;
	move_stack(&e, pushed);
	if (r->norc && !memcmp(&r->last, &e, sizeof(e)))
		return;
	r->last = e;
	if (r->orc)
		r->orc[r->norc] = (struct ki_orc_row){.off = off, .entry = e};
	r->norc++;
}

void ki_rows_code(struct ki_rows *r, u32 off, unsigned long addr, u32 pushed, u64 words, u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (!i || ((words >> i) & 1) != ((words >> (i - 1)) & 1))
			ki_rows_stack(r, off + i, addr, pushed + ((words >> i) & 1) * 8);
}

void ki_rows_depth(struct ki_rows *r, u32 off, unsigned long addr, u32 pushed, const u8 *depth,
		   u32 len)
{
	u32 i;

	for (i = 0; i < len; i++)
		if (!i || depth[i] != depth[i - 1])
			ki_rows_stack(r, off + i, addr, pushed + depth[i] * 8);
}

void ki_rows_copy(struct ki_rows *r, u32 off, unsigned long addr, const u8 *code,
		  unsigned long fixup)
{
	const struct exception_table_entry *ex = ki_extable_find(r->owner, addr);
	struct bug_entry *bug = NULL;

	if (code[0] == 0x0f && code[1] == 0x0b) /* ud2 */
		bug = ki_bugs_find(r->owner, addr);
	if (ex && r->ex)
		r->ex[r->nex] = (struct ki_ex_row){off, fixup, ex};
	if (bug && r->bug)
		r->bug[r->nbug] = (struct ki_bug_row){off, bug};
	r->nex += ex != NULL;
	r->nbug += bug != NULL;
}

bool ki_rows_publish(const struct ki_rows *r, const struct ki_block *b, bool reserve)
{
	unsigned long base = ki_heap_addr(b);

	lockdep_assert_held(&ki_lock);
	if (r->nbug && !ki_bugs_take(base, r->bug, r->nbug, reserve))
		return false;
	ki_orc_put(b->at.orcs, base, r->orc, r->norc);
	ki_extable_put(b->at.exs, base, r->ex, r->nex);
	return true;
}

void ki_patch_free(const struct ki_patch *p)
{
	ki_name_drop(p);
	if (p->bugs)
		ki_bugs_drop(p->addr, p->addr + p->len);
	ki_heap_free(p->block);
}

static u32 ki_steps_taken;	     /* have memory, shown to the kernel or just hidden from it */
static unsigned long ki_rows_hidden; /* when rows were hidden last */
static bool ki_rows_hiding;	     /* they have not been reclaimed since */

static void show_steps(u32 n)
{
	ki_orc_count(ki_region_module(), n * (KI_HEAP_ORCS / KI_HEAP_STEPS));
	ki_extable_count(ki_region_module(), n * (KI_HEAP_EXS / KI_HEAP_STEPS));
}

static void give_parts(size_t n, u32 from, u32 to)
{
	while (n--)
		ki_reach_give(ki_step_parts[n].what, from * ki_step_parts[n].bytes,
			      to * ki_step_parts[n].bytes);
}

/* Memory for the steps up to `to`. The heap's own, the first of the parts, may be there. */
static int take_parts(u32 to, bool heap)
{
	size_t i;

	for (i = heap ? 1 : 0; i < ARRAY_SIZE(ki_step_parts); i++) {
		int err = ki_reach_take(ki_step_parts[i].what,
					ki_steps_taken * ki_step_parts[i].bytes,
					to * ki_step_parts[i].bytes);

		if (err) {
			give_parts(i, ki_steps_taken, to);
			return err;
		}
	}
	ki_steps_taken = to;
	return 0;
}

/* Memory for one step after those that have some, or for as many as a large page has. */
static int take_steps(u32 most, bool large)
{
	u32 from = ki_steps_taken;
	size_t at = from * KI_HEAP_STEP;

	BUILD_BUG_ON(KI_LARGE_FROM != KI_HEAP_STEP);
	if (from && (from - 1) % KI_LARGE_STEPS == 0 && from + KI_LARGE_STEPS <= most &&
	    ki_reach_take_large(at))
		return take_parts(from + KI_LARGE_STEPS, true);
	return large && from ? -ENOSPC : take_parts(from + 1, false);
}

int ki_rows_grow(u32 from, u32 most, bool large, u32 *to)
{
	const u32 orcs = KI_HEAP_ORCS / KI_HEAP_STEPS, exs = KI_HEAP_EXS / KI_HEAP_STEPS;
	bool hidden = from < ki_steps_taken; /* that have memory still */
	int err = from < most ? 0 : -ENOSPC;
	unsigned long end;

	if (!err && !hidden)
		err = take_steps(most, large);
	if (err)
		return err;
	*to = hidden ? from + 1 : ki_steps_taken;
	end = (unsigned long)ki_reach_start(KI_REACH_HEAP) + *to * KI_HEAP_STEP;
	ki_orc_clear(from * orcs, (*to - from) * orcs, end);
	ki_extable_clear(from * exs, (*to - from) * exs, end);
	show_steps(*to);
	return 0;
}

void ki_rows_hide(u32 from)
{
	show_steps(from);
	if (!from)
		ki_bugs_hide();
	ki_rows_hidden = start_poll_synchronize_rcu();
	ki_rows_hiding = true;
}

/* So many steps keep their memory if so many are shown: a large page goes as a whole. */
static u32 steps_kept(u32 shown)
{
	if ((shown - 1) % KI_LARGE_STEPS == 0)
		return shown; /* none is half shown */
	return ki_reach_large_end(shown * KI_HEAP_STEP) / KI_HEAP_STEP;
}

bool ki_rows_reclaim(u32 shown, bool wait)
{
	u32 keep = steps_kept(shown);

	if (!ki_rows_hiding)
		return true;
	if (wait)
		cond_synchronize_rcu(ki_rows_hidden);
	else if (!poll_state_synchronize_rcu(ki_rows_hidden))
		return false;
	if (keep < ki_steps_taken)
		give_parts(ARRAY_SIZE(ki_step_parts), keep, ki_steps_taken);
	ki_steps_taken = min(keep, ki_steps_taken);
	ki_bugs_reclaim();
	ki_rows_hiding = false;
	return true;
}

int ki_rows_init(void)
{
	struct module *region = ki_region_module();

	ki_orc_start(region);
	ki_extable_start(region);
	ki_bugs_start(region);
	ki_origin_start();
	return 0;
}
