/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A model of the heap of patches: what is in it, what the kernel finds there, what is free.
 */
#ifndef HEAP_MODEL_H
#define HEAP_MODEL_H

#include "heap_fixture.h"

/* ---- the model ---- */

struct patch {
	struct ki_block *block;
	struct ki_extent at, end; /* [at, end) of each coordinate */
	u32 len, norc, nex;
	u32 id; /* of its rows */
};

#define PATCHES_MAX 40000
#define ROWS_MAX    40000

static struct patch *patches[PATCHES_MAX]; /* in order of address */
static u32 npatches;
static u32 next_id;
static u64 seed = 88172645463325252ull;
static u64 stores, searches;

/* Exception rows to be copied; all that is asked of them is their fixup. */
static struct exception_table_entry originals[256];

static u32 rnd(u32 n)
{
	seed ^= seed << 13;
	seed ^= seed >> 7;
	seed ^= seed << 17;
	return (u32)(seed >> 20) % n;
}

static u32 row_offset(const struct patch *p, u32 row, u32 rows)
{
	return (u32)((u64)row * p->len / rows);
}

static unsigned long start_of(const struct patch *p)
{
	return (unsigned long)heap_bytes + p->at.units * KI_HEAP_UNIT;
}

static struct orc_entry orc_of(const struct patch *p, u32 row)
{
	return (struct orc_entry){(short)p->id, (short)(p->id >> 16), (u16)row, 0, 0};
}

static const struct exception_table_entry *original_of(const struct patch *p, u32 row)
{
	return &originals[(p->id + row) % 256];
}

/* ---- what the kernel does: search ---- */

/* The last row that is not after the address. */
static const struct orc_entry *find_orc(unsigned long addr)
{
	u32 lo = 0, hi = region.arch.num_orcs;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (address_of_orc(&ki_orc_ip[mid]) <= addr)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo ? &ki_orc[lo - 1] : NULL;
}

static void search_orc(const struct patch *p, u32 off)
{
	const struct orc_entry *got = find_orc(start_of(p) + off);
	struct orc_entry want;
	u32 row = p->norc;

	if (!row)
		return;
	while (row_offset(p, row - 1, p->norc) > off)
		row--;
	want = orc_of(p, row - 1);
	assert_non_null(got);
	assert_memory_equal(got, &want, sizeof(want));
}

static int compare_ex(const void *key, const void *row)
{
	unsigned long addr = *(const unsigned long *)key, at = address_of(row);

	return addr < at ? -1 : addr > at;
}

static void search_ex(const struct patch *p, u32 off)
{
	const struct exception_table_entry *got, *want = NULL;
	unsigned long addr = start_of(p) + off;
	u32 row;

	got = bsearch(&addr, ki_ex, region.num_exentries, sizeof(*ki_ex), compare_ex);
	for (row = 0; row < p->nex && !want; row++)
		if (row_offset(p, row, p->nex) == off)
			want = original_of(p, row);
	assert_true(!got == !want);
	if (got)
		assert_int_equal((unsigned long)&got->fixup + (unsigned long)got->fixup,
				 (unsigned long)&want->fixup + (unsigned long)want->fixup);
}

/* Rows that say nothing stand at a block's last byte, where nothing begins that could fault. */
static void search_in(const struct patch *p)
{
	search_orc(p, rnd(p->len));
	search_ex(p, rnd(p->len - 1));
	if (p->nex)
		search_ex(p, row_offset(p, rnd(p->nex), p->nex));
	searches++;
}

/* ---- after each store ---- */

#define IN(where, array, n)                                                                        \
	((const char *)(where) >= (const char *)(array) &&                                         \
	 (const char *)(where) < (const char *)((array) + (n)))

static void orc_sorted_at(size_t i)
{
	assert_true(!i || address_of_orc(&ki_orc_ip[i - 1]) <= address_of_orc(&ki_orc_ip[i]));
	assert_true(i + 1 >= region.arch.num_orcs ||
		    address_of_orc(&ki_orc_ip[i]) <= address_of_orc(&ki_orc_ip[i + 1]));
}

static void ex_sorted_at(size_t i)
{
	assert_true(!i || address_of(&ki_ex[i - 1]) <= address_of(&ki_ex[i]));
	assert_true(i + 1 >= region.num_exentries ||
		    address_of(&ki_ex[i]) <= address_of(&ki_ex[i + 1]));
}

static void stored(const void *where)
{
	if (IN(where, ki_orc_ip, region.arch.num_orcs))
		orc_sorted_at((size_t)((const int *)where - ki_orc_ip));
	else if (IN(where, ki_ex, region.num_exentries))
		ex_sorted_at((size_t)((const struct exception_table_entry *)where - ki_ex));
	if (npatches && !(++stores % 16))
		search_in(patches[rnd(npatches)]);
}

static void all_sorted(void)
{
	u32 i;

	for (i = 0; i < region.arch.num_orcs; i++)
		orc_sorted_at(i);
	for (i = 0; i < region.num_exentries; i++)
		ex_sorted_at(i);
}

/* ---- what is free ---- */

#define MOST 4 /* steps that it may have here */
static const struct ki_extent heap_end = {MOST * (KI_HEAP_UNITS / KI_HEAP_STEPS), MOST *STEP_ORCS,
					  MOST *STEP_EXS};

/* Between patch i - 1 and patch i. */
static struct ki_extent gap(u32 i)
{
	struct ki_extent from = i ? patches[i - 1]->end : (struct ki_extent){0};
	struct ki_extent to = i < npatches ? patches[i]->at : heap_end;

	return (struct ki_extent){to.units - from.units, to.orcs - from.orcs, to.exs - from.exs};
}

static bool fits(struct ki_extent have, struct ki_extent need)
{
	return have.units >= need.units && have.orcs >= need.orcs && have.exs >= need.exs;
}

/* How often something was refused because of what. */
static struct {
	u32 units, orcs, exs, scattered;
} refusals;

static void note_refusal(struct ki_extent sum, struct ki_extent keep)
{
	if (sum.units < keep.units)
		refusals.units++;
	else if (sum.orcs < keep.orcs)
		refusals.orcs++;
	else if (sum.exs < keep.exs)
		refusals.exs++;
	else
		refusals.scattered++;
}

/* Does the request fit anywhere, and is the reserve left? */
static bool must_succeed(struct ki_extent need, bool reserve)
{
	u32 part = reserve ? UINT32_MAX : 32, i;
	struct ki_extent sum = {0},
			 keep = {need.units + heap_end.units / part,
				 need.orcs + heap_end.orcs / part, need.exs + heap_end.exs / part};
	bool anywhere = false;

	for (i = 0; i <= npatches; i++) {
		struct ki_extent g = gap(i);

		sum.units += g.units;
		sum.orcs += g.orcs;
		sum.exs += g.exs;
		anywhere |= fits(g, need);
	}
	if (anywhere && fits(sum, keep))
		return true;
	note_refusal(sum, keep);
	return false;
}

static u32 bytes_used(void)
{
	struct ki_info info;

	ki_heap_info(&info);
	return (u32)info.heap_used;
}

#endif
