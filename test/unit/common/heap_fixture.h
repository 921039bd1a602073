/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The driver's heap, compiled in (test_heap.c), and what it needs of the kernel and of the rest of
 * the driver: memory that comes and goes, as reach.c and rows.c have it.
 */
#ifndef HEAP_FIXTURE_H
#define HEAP_FIXTURE_H

/* ---- the kernel ---- */

#define KI_COMPAT_H
#define CONFIG_UNWINDER_ORC

#define __stringify_1(x)   #x
#define __stringify(x)	   __stringify_1(x)
#define DIV_ROUND_UP(n, d) (((n) + (d)-1) / (d))
#define U32_MAX		   UINT32_MAX
#define ARRAY_SIZE(a)	   (sizeof(a) / sizeof(*(a)))
#define min(a, b)	   ((a) < (b) ? (a) : (b))
#define max(a, b)	   ((a) > (b) ? (a) : (b))
#define min_t(t, a, b)	   ((t)(a) < (t)(b) ? (t)(a) : (t)(b))
#define max3(a, b, c)	   max(max(a, b), c)
#define round_down(n, to)  ((n) / (to) * (to))
#define round_up(n, to)	   (((n) + (to)-1) / (to) * (to))
#define PAGE_SIZE	   0x1000ul
#define PMD_SIZE	   0x200000ul
#define READ_ONCE(x)	   (x)
#define smp_wmb()
#define smp_store_release(p, v) (*(p) = (v))

#define module_param_named(name, value, type, mode)
#define MODULE_PARM_DESC(name, text)
#define HZ 100
struct work_struct {
	int unused;
};
#define DECLARE_DELAYED_WORK(name, f)	void (*name)(struct work_struct *) = f
#define system_unbound_wq		0
#define queue_delayed_work(q, w, delay) ((void)(q), (void)(delay), (void)*(w), trim_asked = true)
#define cancel_delayed_work_sync(w)	((void)*(w))
static bool trim_asked;

static void stored(const void *where);
#define WRITE_ONCE(x, value)                                                                       \
	do {                                                                                       \
		(x) = (__typeof__(x))(value);                                                      \
		stored(&(x));                                                                      \
	} while (0)

#include "../../../kmod/heap/blocks.c"
#include "../../../kmod/heap/heap.c"
#define address_of  address_of_orc
#define set_address set_address_orc
#include "../../../kmod/heap/orc.c"
#undef address_of
#undef set_address
#include "../../../kmod/heap/extable.c"
#include "../../../kmod/text/fill.c"

bool ki_quiesced(u64 since)
{
	return since;
}

u64 ki_quiesce_count(void)
{
	return 0;
}

unsigned long ki_symbol(const char *name)
{
	(void)name;
	return 0;
}

/* ---- memory ---- */

u8 ki_returned[KI_RETURNS];
static u8 heap_bytes[KI_HEAP_SIZE] __attribute__((aligned(4096)));
static int orc_ips[KI_HEAP_ORCS];
static struct orc_entry orcs[KI_HEAP_ORCS];
static struct exception_table_entry exs[KI_HEAP_EXS];
static struct module region;
static u32 steps, names, grown, shrunk;
static u32 taken;    /* steps that have memory */
static bool readers; /* somebody still reads what has been hidden */
static bool staged;  /* bytes of the heap are not written yet */
static u64 larges;   /* pages of 2 MiB: bit n is the n-th after the first step */
static u32 in_large; /* that have come */
static bool pieces;  /* no memory is in one */

void *ki_reach_start(enum ki_reach what)
{
	switch (what) {
	case KI_REACH_HEAP:
		return heap_bytes;
	case KI_REACH_ORC_IPS:
		return orc_ips;
	case KI_REACH_ORCS:
		return orcs;
	default:
		assert_int_equal(what, KI_REACH_EXS);
		return exs;
	}
}

#define STEP_ORCS (KI_HEAP_ORCS / KI_HEAP_STEPS)
#define STEP_EXS  (KI_HEAP_EXS / KI_HEAP_STEPS)

size_t ki_reach_large_end(size_t at)
{
	size_t n = (at - KI_LARGE_FROM) / PMD_SIZE;

	return at < KI_LARGE_FROM || at >= KI_HEAP_SIZE || !(larges >> n & 1)
		       ? at
		       : KI_LARGE_FROM + (n + 1) * PMD_SIZE;
}

u64 ki_reach_larges(enum ki_small *why)
{
	*why = KI_SMALL_NOT;
	return larges;
}

/* Memory for a step, or for a page of 2 MiB. False: only that was wanted. */
static bool take_steps(u32 most, bool large)
{
	bool one = !pieces && taken % KI_LARGE_STEPS && taken + KI_LARGE_STEPS <= most;
	u32 n = one ? KI_LARGE_STEPS : 1;

	if (large && taken && !one)
		return false;
	memset(heap_bytes + taken * KI_HEAP_STEP, KI_INT3, n * KI_HEAP_STEP);
	memset(orcs + taken * STEP_ORCS, 0, n * STEP_ORCS * sizeof(*orcs));
	memset(exs + taken * STEP_EXS, 0, n * STEP_EXS * sizeof(*exs));
	if (one)
		larges |= 1ull << taken / KI_LARGE_STEPS;
	in_large += one;
	taken += n;
	return true;
}

int ki_rows_grow(u32 from, u32 most, bool large, u32 *to)
{
	bool hidden = from < taken;
	unsigned long end;

	assert_int_equal(from, steps);
	assert_true(from < most);
	assert_true(names);
	if (!hidden && !take_steps(most, large))
		return -ENOSPC;
	*to = hidden ? from + 1 : taken;
	end = (unsigned long)heap_bytes + *to * KI_HEAP_STEP;
	ki_orc_clear(from * STEP_ORCS, (*to - from) * STEP_ORCS, end);
	ki_extable_clear(from * STEP_EXS, (*to - from) * STEP_EXS, end);
	ki_orc_count(&region, *to * STEP_ORCS);
	ki_extable_count(&region, *to * STEP_EXS);
	steps = *to;
	grown++;
	return 0;
}

void ki_rows_hide(u32 from)
{
	assert_true(from < steps);
	ki_orc_count(&region, from * STEP_ORCS);
	ki_extable_count(&region, from * STEP_EXS);
	steps = from;
	shrunk++;
}

bool ki_rows_reclaim(u32 shown, bool wait)
{
	u32 keep = (u32)(ki_reach_large_end(shown * KI_HEAP_STEP) / KI_HEAP_STEP);
	u32 n = taken - keep;

	assert_int_equal(shown, steps);
	if (readers && !wait && taken > shown)
		return false;
	assert_false(staged);
	assert_true(keep <= taken);
	memset(heap_bytes + keep * KI_HEAP_STEP, 0x55, n * KI_HEAP_STEP);
	memset(orc_ips + keep * STEP_ORCS, 0x55, n * STEP_ORCS * sizeof(*orc_ips));
	memset(exs + keep * STEP_EXS, 0x55, n * STEP_EXS * sizeof(*exs));
	taken = keep;
	larges &= (1ull << keep / KI_LARGE_STEPS) - 1;
	return true;
}

int ki_names_make(void)
{
	assert_false(names);
	names = 1;
	return 0;
}

void ki_names_hide(void)
{
	names = 0;
}

void ki_names_reclaim(void)
{
	assert_false(names);
}

static unsigned long filled_from, filled_to;

void ki_text_fill_heap(unsigned long addr, size_t len)
{
	assert_in_range(addr, (unsigned long)heap_bytes,
			(unsigned long)heap_bytes + steps * KI_HEAP_STEP);
	assert_true(len <= (unsigned long)heap_bytes + steps * KI_HEAP_STEP - addr);
	memset((void *)addr, KI_INT3, len);
	filled_from = addr;
	filled_to = addr + len;
	staged = true;
}

void ki_text_flush_heap(void)
{
	staged = false;
}

#endif
