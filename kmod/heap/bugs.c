// SPDX-License-Identifier: GPL-2.0-only
/*
 * Bug rows: what a ud2 means, BUG or WARN, and in which line of which file.
 *
 * The handler looks through the tables of all modules, row by row, for the address. So rows need
 * no order: the table has a row for a patch where one is free. A free row's address is the row's
 * own, where no ud2 ever runs. What a row says is written before its address. When none is free the
 * table gets longer, and when all are, and the heap is empty, it has none.
 *
 * A WARN_ON_ONCE that has spoken is marked in its row. The mark is carried from the original to
 * the copy, and back when the patch is retired: from then on the original may go, with its module.
 */
#include <linux/bug.h>
#include <linux/mutex.h>

#include "heap/rows.h"
#include "reach/reach.h"

static struct bug_entry *ki_bugs;
static struct ki_bug_of *ki_bugs_of;
static u32 ki_nbugs;		   /* rows, free or taken */
static u32 ki_bugs_room;	   /* that have memory */
static DEFINE_MUTEX(ki_bugs_lock); /* inside ki_lock */

static unsigned long address_of(const struct bug_entry *b)
{
	return (unsigned long)&b->bug_addr_disp + b->bug_addr_disp;
}

static void set_address(struct bug_entry *b, unsigned long addr)
{
	WRITE_ONCE(b->bug_addr_disp, addr - (unsigned long)&b->bug_addr_disp);
}

/* What a row says beside its address; its file is relative to the row. */
static void copy_meaning(struct bug_entry *to, const struct bug_entry *from)
{
	struct bug_entry b = *from;

	b.bug_addr_disp = to->bug_addr_disp;
#ifdef CONFIG_DEBUG_BUGVERBOSE
	b.file_disp = (unsigned long)from + from->file_disp - (unsigned long)to;
#endif
	*to = b;
}

struct bug_entry *ki_bugs_find(struct module *owner, unsigned long addr)
{
	struct bug_entry *b = (void *)ki_symbol("__start___bug_table");
	struct bug_entry *end = (void *)ki_symbol("__stop___bug_table");

	if (owner) {
		b = owner->bug_table;
		end = b + owner->num_bugs;
	}
	for (; b < end; b++)
		if (address_of(b) == addr)
			return b;
	return NULL;
}

/* The mark of the original and of its copies in other patches. */
static u16 marks_of(const struct bug_entry *like)
{
	u16 marks = like->flags & BUGFLAG_DONE;
	u32 i;

	for (i = 0; i < ki_nbugs; i++)
		if (ki_bugs_of[i].like == like)
			marks |= ki_bugs[i].flags & BUGFLAG_DONE;
	return marks;
}

static void give_back_mark(u32 i)
{
	if (ki_bugs_of[i].like)
		ki_bugs_of[i].like->flags |= ki_bugs[i].flags & BUGFLAG_DONE;
	ki_bugs_of[i].like = NULL;
}

static void drop(u32 i)
{
	give_back_mark(i);
	set_address(&ki_bugs[i], (unsigned long)&ki_bugs[i].bug_addr_disp);
	ki_bugs_of[i].taken = false;
}

static void take(u32 i, unsigned long addr, struct bug_entry *like)
{
	u16 marks = marks_of(like);

	ki_bugs_of[i].like = like;
	ki_bugs_of[i].taken = true;
	copy_meaning(&ki_bugs[i], like);
	ki_bugs[i].flags |= marks;
	smp_wmb(); /* a reader that finds the address finds what belongs to it */
	set_address(&ki_bugs[i], addr);
}

static u32 next_free(u32 i)
{
	while (i < ki_nbugs && ki_bugs_of[i].taken)
		i++;
	return i;
}

static void show_rows(u32 n)
{
	ki_nbugs = n;
	smp_store_release(&ki_region_module()->num_bugs, n);
}

static bool take_room(u32 n)
{
	u32 had = ki_bugs_room;

	if (n > KI_BUG_ROWS ||
	    ki_reach_take(KI_REACH_BUGS, had * sizeof(*ki_bugs), n * sizeof(*ki_bugs)))
		return false;
	if (ki_reach_take(KI_REACH_BUGS_OF, had * sizeof(*ki_bugs_of), n * sizeof(*ki_bugs_of))) {
		ki_reach_give(KI_REACH_BUGS, had * sizeof(*ki_bugs), n * sizeof(*ki_bugs));
		return false;
	}
	ki_bugs_room = n;
	return true;
}

static bool add_rows(void)
{
	u32 i, n = ki_nbugs + KI_BUG_STEP;

	if (n > ki_bugs_room && !take_room(n))
		return false;
	for (i = ki_nbugs; i < n; i++)
		set_address(&ki_bugs[i], (unsigned long)&ki_bugs[i].bug_addr_disp);
	show_rows(n);
	return true;
}

/* Are so many free? */
static bool has_room(u32 need)
{
	u32 i, room = 0;

	for (i = next_free(0); i < ki_nbugs && room < need; i = next_free(i + 1))
		room++;
	return room == need;
}

bool ki_bugs_take(unsigned long base, const struct ki_bug_row *rows, u32 n, bool reserve)
{
	u32 k, i, need = n + (reserve ? 0 : KI_BUG_STEP / KI_HEAP_RESERVE);
	bool room;

	mutex_lock(&ki_bugs_lock);
	while (!(room = has_room(need)) && add_rows())
		;
	for (k = 0, i = 0; room && k < n; k++) {
		i = next_free(i);
		take(i, base + rows[k].off, rows[k].like);
	}
	mutex_unlock(&ki_bugs_lock);
	return room;
}

static void for_rows_in(unsigned long start, unsigned long end, void (*what)(u32 i))
{
	u32 i;

	mutex_lock(&ki_bugs_lock);
	for (i = 0; i < ki_nbugs; i++) {
		unsigned long addr = address_of(&ki_bugs[i]);

		if (addr >= start && addr < end)
			what(i);
	}
	mutex_unlock(&ki_bugs_lock);
}

void ki_bugs_retire(unsigned long start, unsigned long end)
{
	for_rows_in(start, end, give_back_mark);
}

void ki_bugs_drop(unsigned long start, unsigned long end)
{
	for_rows_in(start, end, drop);
}

void ki_bugs_start(struct module *region)
{
	ki_bugs = ki_reach_start(KI_REACH_BUGS);
	ki_bugs_of = ki_reach_start(KI_REACH_BUGS_OF);
	region->bug_table = ki_bugs;
}

void ki_bugs_hide(void)
{
	mutex_lock(&ki_bugs_lock);
	if (ki_nbugs && has_room(ki_nbugs))
		show_rows(0);
	mutex_unlock(&ki_bugs_lock);
}

void ki_bugs_reclaim(void)
{
	u32 had;

	mutex_lock(&ki_bugs_lock);
	had = ki_bugs_room;
	if (ki_nbugs < had) {
		ki_reach_give(KI_REACH_BUGS, ki_nbugs * sizeof(*ki_bugs), had * sizeof(*ki_bugs));
		ki_reach_give(KI_REACH_BUGS_OF, ki_nbugs * sizeof(*ki_bugs_of),
			      had * sizeof(*ki_bugs_of));
		ki_bugs_room = ki_nbugs;
	}
	mutex_unlock(&ki_bugs_lock);
}
