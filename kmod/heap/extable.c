// SPDX-License-Identifier: GPL-2.0-only
/*
 * Exception rows: where an instruction that faults goes on.
 *
 * The handler finds the row by the address of the instruction, in an array of the module that the
 * instruction lies in, sorted by address. The copy of an instruction that has a row gets one like
 * it: the same kind, and the fixup of the original. The fault then leaves the patch for good, as a
 * branch does, by way of chunks on its taken side if there are any. Or, if the page could be
 * brought in, it comes back to the copy, perhaps much later (quiesce.c).
 */
#include <linux/extable.h>
#include <linux/sched.h>
#include <asm/extable.h>

#include "heap/rows.h"
#include "reach/reach.h"
#include "yield.h"

static struct exception_table_entry *ki_ex;

static unsigned long address_of(const struct exception_table_entry *e)
{
	return (unsigned long)&e->insn + e->insn;
}

static void set_address(u32 i, unsigned long addr)
{
	WRITE_ONCE(ki_ex[i].insn, addr - (unsigned long)&ki_ex[i].insn);
}

unsigned long ki_extable_fixup(const struct exception_table_entry *e)
{
	return (unsigned long)&e->fixup + e->fixup;
}

/* What a row says beside its address; its fixup is relative to the row. */
static void copy_meaning(struct exception_table_entry *to, const struct exception_table_entry *from,
			 unsigned long fixup)
{
	*to = (struct exception_table_entry){
		.insn = to->insn,
		.fixup = (fixup ? fixup : ki_extable_fixup(from)) - (unsigned long)&to->fixup,
		.data = from->data,
	};
}

static const struct exception_table_entry *search(const struct exception_table_entry *t, u32 n,
						  unsigned long addr)
{
	u32 lo = 0, hi = n;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (address_of(&t[mid]) < addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo < n && address_of(&t[lo]) == addr ? &t[lo] : NULL;
}

const struct exception_table_entry *ki_extable_find(struct module *owner, unsigned long addr)
{
	static const struct exception_table_entry *from, *to;

	if (owner)
		return search(owner->extable, owner->num_exentries, addr);
	if (!from) {
		to = (void *)ki_symbol("__stop___ex_table");
		from = (void *)ki_symbol("__start___ex_table");
	}
	return search(from, to - from, addr);
}

void ki_extable_put(u32 first, unsigned long base, const struct ki_ex_row *rows, u32 n)
{
	u32 i, k;

	for (k = 0; k < n; k++) {
		i = first + k;
		copy_meaning(&ki_ex[i], rows[k].like, rows[k].fixup);
		smp_wmb(); /* a reader that finds the address finds what belongs to it */
		set_address(i, base + rows[k].off);
	}
}

/* The address before the end: at the end itself the next block may have a row that is meant. */
void ki_extable_clear(u32 first, u32 n, unsigned long end)
{
	while (n--) {
		set_address(first + n, end - 1);
		ki_yield();
	}
}

void ki_extable_lower(u32 first, u32 n, unsigned long end)
{
	u32 k;

	for (k = 0; k < n; k++) {
		set_address(first + k, end - 1);
		ki_yield();
	}
}

void ki_extable_start(struct module *region)
{
	ki_ex = ki_reach_start(KI_REACH_EXS);
	region->extable = ki_ex;
}

void ki_extable_count(struct module *region, u32 n)
{
	smp_store_release(&region->num_exentries, n);
}
