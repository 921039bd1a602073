// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of the unwinder: what the stack is like at an address.
 *
 * A trace that begins inside a patch (an interrupt came there) goes on only if the unwinder
 * finds a row for it. The unwinder takes the last row that is not after the address, from two
 * parallel arrays of the module that the address is in: for the heap, of its own (region.c).
 *
 * An address in the arrays is relative to itself and has 32 bits. A row that says nothing is all
 * zero: a trace ends there.
 */
#include <linux/sched.h>

#include "compat.h"
#include "heap/rows.h"
#include "reach/reach.h"
#include "yield.h"

#ifdef CONFIG_UNWINDER_ORC

static int *ki_orc_ip;
static struct orc_entry *ki_orc;

/* Original rows: the kernel's, or a module's. */
struct ki_orc_table {
	const int *ip;
	const struct orc_entry *entry;
	u32 n;
};

static unsigned long address_of(const int *ip)
{
	return (unsigned long)ip + *ip;
}

static void set_address(u32 i, unsigned long addr)
{
	WRITE_ONCE(ki_orc_ip[i], addr - (unsigned long)&ki_orc_ip[i]);
}

static struct ki_orc_table kernel_table(void)
{
	static struct ki_orc_table t;

	if (!t.ip) {
		const int *end = (const int *)ki_symbol("__stop_orc_unwind_ip");

		t.entry = (const struct orc_entry *)ki_symbol("__start_orc_unwind");
		t.ip = (const int *)ki_symbol("__start_orc_unwind_ip");
		t.n = t.ip && t.entry && end ? end - t.ip : 0;
	}
	return t;
}

#define KI_ORC_NEAR 16 /* rows */

static u32 ki_orc_last; /* the row after the one that was found last, of any table */

/* Instructions are asked for one after the other: mostly a few rows after the last one's. */
static void narrow(const struct ki_orc_table *t, unsigned long addr, u32 *lo, u32 *hi)
{
	u32 last = READ_ONCE(ki_orc_last);

	if (!last || last > t->n || address_of(&t->ip[last - 1]) > addr)
		return;
	*lo = last;
	if (t->n - last > KI_ORC_NEAR && address_of(&t->ip[last + KI_ORC_NEAR]) > addr)
		*hi = last + KI_ORC_NEAR;
}

void ki_orc_find(struct module *owner, unsigned long addr, struct orc_entry *out)
{
	struct ki_orc_table t = kernel_table();
	u32 lo = 0, hi;

	if (owner)
		t = (struct ki_orc_table){owner->arch.orc_unwind_ip, owner->arch.orc_unwind,
					  owner->arch.num_orcs};
	hi = t.n;
	narrow(&t, addr, &lo, &hi);
	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (address_of(&t.ip[mid]) <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	WRITE_ONCE(ki_orc_last, lo);
	memset(out, 0, sizeof(*out));
#ifndef KI_TEST_NO_ORC
	if (lo)
		*out = t.entry[lo - 1];
#endif
}

void ki_orc_put(u32 first, unsigned long base, const struct ki_orc_row *rows, u32 n)
{
	u32 i, k;

	for (k = 0; k < n; k++) {
		i = first + k;
		ki_orc[i] = rows[k].entry;
		smp_wmb(); /* a reader that finds the address finds what belongs to it */
		set_address(i, base + rows[k].off);
	}
}

void ki_orc_clear(u32 first, u32 n, unsigned long end)
{
	while (n--) {
		set_address(first + n, end);
		ki_yield();
	}
}

void ki_orc_lower(u32 first, u32 n, unsigned long end)
{
	u32 k;

	for (k = 0; k < n; k++) {
		set_address(first + k, end);
		ki_yield();
	}
}

void ki_orc_start(struct module *region)
{
	ki_orc_ip = ki_reach_start(KI_REACH_ORC_IPS);
	ki_orc = ki_reach_start(KI_REACH_ORCS);
	region->arch.orc_unwind_ip = ki_orc_ip;
	region->arch.orc_unwind = ki_orc;
}

void ki_orc_count(struct module *region, u32 n)
{
	smp_store_release(&region->arch.num_orcs, n);
}

#else /* another unwinder: it needs no rows */

void ki_orc_find(struct module *owner, unsigned long addr, struct orc_entry *out)
{
	memset(out, 0, sizeof(*out));
}

void ki_orc_put(u32 first, unsigned long base, const struct ki_orc_row *rows, u32 n)
{
}

void ki_orc_clear(u32 first, u32 n, unsigned long end)
{
}

void ki_orc_lower(u32 first, u32 n, unsigned long end)
{
}

void ki_orc_start(struct module *region)
{
}

void ki_orc_count(struct module *region, u32 n)
{
}

#endif
