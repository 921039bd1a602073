// SPDX-License-Identifier: GPL-2.0-only
/*
 * Rows of the unwinder: what the stack is like at an address.
 *
 * A trace that begins inside a patch (an interrupt came there) goes on only if the unwinder
 * finds a row for it. The unwinder takes the last row that is not behind the address, from two
 * parallel arrays of the module. Those that the module was loaded with are replaced, once, by
 * larger ones that hold its own rows and between them one for ki_returned, and the heap's.
 *
 * An address in the arrays is relative to itself and has 32 bits, so the arrays are the module's
 * own data. A row that says nothing is all zero: a trace ends there.
 */
#include <linux/sched.h>

#include "compat.h"
#include "rows.h"

#ifdef CONFIG_UNWINDER_ORC

static int ki_orc_ip[KI_OWN_ORCS + 1 + KI_HEAP_ORCS];
static struct orc_entry ki_orc[KI_OWN_ORCS + 1 + KI_HEAP_ORCS];
static u32 ki_orc_count;
static u32 ki_orc_base; /* where the heap's rows begin */

/* Nothing is on the stack but the return address. */
static const struct orc_entry ki_bare = {
	.sp_offset = 8,
	.sp_reg = ORC_REG_SP,
	.type = KI_ORC_CALL,
};

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

void ki_orc_find(struct module *owner, unsigned long addr, struct orc_entry *out)
{
	struct ki_orc_table t = kernel_table();
	u32 lo = 0, hi;

	if (owner)
		t = (struct ki_orc_table){owner->arch.orc_unwind_ip, owner->arch.orc_unwind,
					  owner->arch.num_orcs};
	hi = t.n;
	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (address_of(&t.ip[mid]) <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
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
		i = ki_orc_base + first + k;
		ki_orc[i] = rows[k].entry;
		smp_wmb(); /* whoever finds the address finds what belongs to it */
		set_address(i, base + rows[k].off);
	}
}

void ki_orc_clear(u32 first, u32 n, unsigned long end)
{
	while (n--) {
		set_address(ki_orc_base + first + n, end);
		cond_resched();
	}
}

void ki_orc_lower(u32 first, u32 n, unsigned long end)
{
	u32 k;

	for (k = 0; k < n; k++) {
		set_address(ki_orc_base + first + k, end);
		cond_resched();
	}
}

int ki_orc_prepare(struct module *mod, unsigned long heap_start, unsigned long heap_end)
{
	const int *own = mod->arch.orc_unwind_ip;
	u32 n = mod->arch.num_orcs, below = 0, i;

	if (n > KI_OWN_ORCS)
		return -ENOEXEC;
	while (below < n && address_of(&own[below]) < heap_start)
		below++;
	for (i = 0; i < n; i++) {
		u32 to = i < below ? i : i + 1 + KI_HEAP_ORCS;

		ki_orc[to] = mod->arch.orc_unwind[i];
		set_address(to, address_of(&own[i]));
	}
	ki_orc[below] = ki_bare;
	set_address(below, (unsigned long)ki_returned);
	ki_orc_base = below + 1;
	ki_orc_clear(0, KI_HEAP_ORCS, heap_end);
	ki_orc_count = n + 1 + KI_HEAP_ORCS;
	return 0;
}

void ki_orc_hide(struct module *mod)
{
	WRITE_ONCE(mod->arch.num_orcs, 0);
}

void ki_orc_point(struct module *mod)
{
	WRITE_ONCE(mod->arch.orc_unwind_ip, ki_orc_ip);
	WRITE_ONCE(mod->arch.orc_unwind, ki_orc);
}

void ki_orc_show(struct module *mod)
{
	WRITE_ONCE(mod->arch.num_orcs, ki_orc_count);
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

int ki_orc_prepare(struct module *mod, unsigned long heap_start, unsigned long heap_end)
{
	return 0;
}

void ki_orc_hide(struct module *mod)
{
}

void ki_orc_point(struct module *mod)
{
}

void ki_orc_show(struct module *mod)
{
}

#endif
