// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's text heap and its rows of the unwinder and of exceptions (kmod/heap/heap.c,
 * blocks.c, orc.c, extable.c, compiled in here), against a model that only knows what has been
 * asked for.
 *
 * Patches of random sizes come and go until the heap is full, of bytes, of the unwinder's rows or
 * of exception rows. Blocks must not overlap, and stand in one order along all three coordinates;
 * what is refused must not fit, or touch the reserve; and after every single store to one of the
 * tables that table must be sorted, and a search in it find what it must of the patches that are
 * there: the kernel searches it at any moment, without a lock. The heap grows and shrinks
 * meanwhile: it must be asked for no memory that it has, and what it has given back is overwritten.
 *
 * promise: The heap gives no byte or row twice, keeps its reserve and keeps its tables sorted.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kernel_types.h"

#include "heap_model.h"

/* ---- patches come and go ---- */

static void publish(const struct patch *p)
{
	struct ki_orc_row *orc = calloc(p->norc + 1, sizeof(*orc));
	struct ki_ex_row *ex = calloc(p->nex + 1, sizeof(*ex));
	u32 i;

	assert_true(orc && ex);
	for (i = 0; i < p->norc; i++)
		orc[i] = (struct ki_orc_row){row_offset(p, i, p->norc), orc_of(p, i)};
	for (i = 0; i < p->nex; i++)
		ex[i] = (struct ki_ex_row){row_offset(p, i, p->nex), 0, original_of(p, i)};
	ki_orc_put(p->at.orcs, start_of(p), orc, p->norc);
	ki_extable_put(p->at.exs, start_of(p), ex, p->nex);
	free(orc);
	free(ex);
}

static void bytes_are(const struct patch *p, u8 byte)
{
	const u8 *at = (const u8 *)start_of(p);
	u32 i, all = (p->end.units - p->at.units) * KI_HEAP_UNIT;

	for (i = 0; i < p->len; i++)
		assert_int_equal(at[i], byte);
	for (; i < all; i++)
		assert_int_equal(at[i], KI_INT3);
}

static u32 place_of(struct ki_extent at)
{
	u32 lo = 0, hi = npatches;

	while (lo < hi) {
		u32 mid = (lo + hi) / 2;

		if (patches[mid]->at.units < at.units)
			lo = mid + 1;
		else
			hi = mid;
	}
	return lo;
}

/* It stands in what was free, in the same order along all coordinates. */
static u32 put_in_place(struct patch *p)
{
	u32 i = place_of(p->at);
	struct ki_extent next = i < npatches ? patches[i]->at : heap_end;
	struct ki_extent before = i ? patches[i - 1]->end : (struct ki_extent){0};

	p->end = (struct ki_extent){p->at.units + DIV_ROUND_UP(p->len, KI_HEAP_UNIT),
				    p->at.orcs + p->norc, p->at.exs + p->nex};
	assert_true(fits(p->at, before));
	assert_true(fits(next, p->end));
	if (i == npatches && p->end.units == ki_extent_of_steps(steps).units)
		next = ki_extent_of_steps(steps);
	if (p->end.units == next.units)
		p->end = next; /* nothing else can be in between */
	memmove(&patches[i + 1], &patches[i], (npatches - i) * sizeof(*patches));
	npatches++;
	patches[i] = p;
	return i;
}

/* It is there: among the others, with its rows and bytes. */
static void settle(struct patch *p)
{
	u32 i;

	assert_int_equal((ki_heap_addr(p->block) - (unsigned long)heap_bytes) % KI_HEAP_UNIT, 0);
	p->at = p->block->at;
	assert_int_equal(ki_heap_addr(p->block), start_of(p));
	i = put_in_place(p);
	/* A search must not find it yet, but all others. */
	memmove(&patches[i], &patches[i + 1], (--npatches - i) * sizeof(*patches));
	publish(p);
	put_in_place(p);
	for (i = 0; i < p->len; i++)
		assert_int_equal(((u8 *)start_of(p))[i], KI_INT3);
	memset((void *)start_of(p), (u8)p->id, p->len);
	search_in(p);
}

static u32 filled;

static bool come(u32 len, u32 norc, u32 nex, bool reserve)
{
	struct ki_extent need = {DIV_ROUND_UP(len, KI_HEAP_UNIT), norc, nex};
	bool must = must_succeed(need, reserve);
	struct patch *p = calloc(1, sizeof(*p));
	int err;

	assert_non_null(p);
	*p = (struct patch){.len = len, .norc = norc, .nex = nex, .id = ++next_id};
	err = ki_heap_alloc(len, norc, nex, reserve, &p->block);
	assert_int_equal(err, must ? 0 : -ENOSPC);
	if (err) {
		free(p);
		return false;
	}
	settle(p);
	return true;
}

/* One whose distance from somewhere must trap. Not there: not in a block that was looked at. */
static bool come_filled(u32 len, u32 norc, u32 nex)
{
	unsigned long base = (unsigned long)heap_bytes - 0x4000000 + rnd(0x8000000), place;
	struct patch *p = calloc(1, sizeof(*p));
	u8 inner = (u8)(1 + rnd(7));
	u32 pad = 0;
	int err;

	assert_non_null(p);
	err = ki_heap_alloc_filled(&(struct ki_filled){len, base, inner}, norc, nex, &pad,
				   &p->block);
	if (err) {
		assert_int_equal(err, -ENOSPC);
		assert_int_equal(pad, 0);
		free(p);
		return false;
	}
	assert_true(pad < KI_HEAP_UNIT);
	place = ki_heap_addr(p->block) + pad;
	assert_int_equal(ki_fill_distance(place - base, inner), place - base);
	*p = (struct patch){p->block, .len = pad + len, .norc = norc, .nex = nex, .id = ++next_id};
	settle(p);
	filled++;
	return true;
}

static u32 laid, not_laid;

/* One that stands in pages of 2 MiB. */
static bool come_large(u32 len, u32 norc, u32 nex, bool paged)
{
	struct patch *p = calloc(1, sizeof(*p));
	size_t at, end;
	int err;

	assert_non_null(p);
	err = ki_heap_alloc_large(len, norc, nex, paged, &p->block);
	if (err) {
		assert_int_equal(err, -ENOSPC);
		not_laid++;
		free(p);
		return false;
	}
	assert_true(!paged || !(ki_heap_addr(p->block) % PAGE_SIZE));
	at = ki_heap_addr(p->block) - (unsigned long)heap_bytes;
	end = at + ki_heap_bytes(p->block);
	assert_int_equal(ki_heap_bytes_large(p->block), end - at);
	while (at < end) {
		assert_true(ki_reach_large_end(at) > at);
		at = ki_reach_large_end(at);
	}
	*p = (struct patch){p->block, .len = len, .norc = norc, .nex = nex, .id = ++next_id};
	settle(p);
	laid++;
	return true;
}

static void go(u32 i)
{
	struct patch *p = patches[i];

	bytes_are(p, (u8)p->id);
	npatches--;
	memmove(&patches[i], &patches[i + 1], (npatches - i) * sizeof(*patches));
	ki_heap_free(p->block);
	assert_int_equal(filled_from, start_of(p));
	assert_int_equal(filled_to, start_of(p) + (p->end.units - p->at.units) * KI_HEAP_UNIT);
	free(p);
	if (trim_asked && !rnd(20)) {
		trim_asked = false;
		readers = rnd(2);
		trim(NULL);
		assert_int_equal(trim_asked, readers && taken > steps);
		all_sorted();
	}
}

/* ---- phases: what the heap is full of ---- */

static const struct phase {
	const char *what;
	u32 len;     /* at most */
	u32 per_orc; /* bytes of a patch for one row, at least */
	u32 per_ex;
	u32 steps;
} phases[] = {
	{"small patches", 600, 24, 200, 12000},
	{"bytes run out", 4000, 60, 2000, 20000},
	{"the unwinder's rows run out", 4000, 4, 2000, 16000},
	{"exception rows run out", 4000, 60, 30, 16000},
	{"all sizes", 100000, 10, 150, 6000},
	{"small ones among what is left", 300, 10, 100, 12000},
};

static bool come_random(const struct phase *ph)
{
	u32 len = 2 + rnd(rnd(4) ? ph->len / 8 : ph->len);
	u32 norc = min(1 + rnd(len / ph->per_orc + 1), len);
	u32 nex = rnd(len / ph->per_ex + 1);

	if (!rnd(6))
		come_filled(len, norc, nex);
	if (!rnd(6))
		come_large(len, norc, nex, rnd(2));
	return come(len, norc, nex, !rnd(8));
}

static void run_phase(const struct phase *ph)
{
	u32 refused = 0, most = 0, i;
	bool growing = true;

	/* a tenth of what was before stays */
	for (i = npatches * 9 / 10; i; i--)
		go(rnd(npatches));
	for (i = 0; i < ph->steps; i++) {
		bool more = rnd(10) < (growing ? 8u : 3u);

		if (more && npatches < PATCHES_MAX - 2) {
			if (!come_random(ph)) {
				refused++;
				growing = rnd(30);
			}
		} else if (npatches) {
			go(rnd(npatches));
			growing |= !rnd(300);
		}
		most = max(most, npatches);
	}
	all_sorted();
	print_message("%s: %u steps, %u patches at most, %u refused, %u bytes used\n", ph->what,
		      ph->steps, most, refused, bytes_used());
}

static void make_tables(void)
{
	u32 i;

	ki_heap_most = MOST * KI_HEAP_STEP;
	assert_int_equal(ki_heap_init(), 0);
	ki_orc_start(&region);
	ki_extable_start(&region);
	for (i = 0; i < 256; i++)
		originals[i].fixup = (int)(i * 1000);
}

/* Patches of one size fill one coordinate up to the reserve, and with that to the end. */
static void fill_evenly(void)
{
	static const struct {
		u32 len, norc, nex;
	} sizes[] = {
		{1024, 32, 2}, /* 4,096 of each do it */
		{512, 64, 2},
		{512, 32, 4},
	};
	const u32 n = 4096;
	size_t i;

	for (i = 0; i < sizeof(sizes) / sizeof(*sizes); i++) {
		while (come(sizes[i].len, sizes[i].norc, sizes[i].nex, false))
			;
		assert_int_equal(npatches, n - n / 32);
		while (come(sizes[i].len, sizes[i].norc, sizes[i].nex, true))
			;
		assert_int_equal(npatches, n);
		while (npatches)
			go(rnd(npatches));
	}
	assert_true(refusals.units == 2 && refusals.orcs == 2 && refusals.exs == 2);
}

/* The heap becomes larger and smaller, with and without patches that stay. */
static void grow_and_shrink(void)
{
	u32 round, n;

	for (round = 0; round < 30; round++) {
		for (n = rnd(4000); n && come(2 + rnd(2000), 1 + rnd(2), rnd(2), false); n--)
			;
		for (n = rnd(3) ? 0 : rnd(20); npatches > n;)
			go(rnd(2) ? npatches - 1 : rnd(npatches));
		readers = rnd(2);
		pieces = rnd(2);
		trim(NULL);
		all_sorted();
	}
}

/* In an empty heap the first one finds such a page, as long as memory is not in pieces. */
static void in_one_page(void)
{
	pieces = true;
	assert_false(come_large(1000, 10, 1, false));
	pieces = false;
	assert_true(come_large(1000, 10, 1, false));
	assert_int_equal(larges, 1);
	assert_int_equal(start_of(patches[0]) - (unsigned long)heap_bytes, KI_LARGE_FROM);
	assert_false(come_large(PMD_SIZE + 1, 1, 0, false));
	assert_true(come(1000, 10, 1, false));
	assert_true(come_large(1000000, 10, 1, true));
	assert_int_equal(larges, 1);
	while (npatches)
		go(rnd(npatches));
	readers = false;
	trim(NULL);
	assert_int_equal(taken, 0);
	assert_int_equal(larges, 0);
}

/* A byte that would have to trap is the same for all of the heap: what came for it goes. */
static void grow_in_vain(void)
{
	const struct ki_filled far = {64, (unsigned long)heap_bytes - 0x1000000, 1 << 3};
	struct ki_block *block;
	u32 pad;

	trim_asked = readers = false;
	assert_int_equal(steps, 0);
	assert_int_equal(ki_heap_alloc_filled(&far, 1, 0, &pad, &block), -ENOSPC);
	assert_true(steps > 1);
	assert_true(trim_asked);
	trim(NULL);
	assert_int_equal(taken, 0);
}

static void patches_come_and_go(void **state)
{
	size_t i;

	(void)state;
	make_tables();
	fill_evenly();
	for (i = 0; i < sizeof(phases) / sizeof(*phases); i++)
		run_phase(&phases[i]);
	grow_and_shrink();
	while (npatches)
		go(rnd(npatches));
	assert_int_equal(bytes_used(), 0);
	pieces = readers = false;
	trim(NULL);
	in_one_page();
	grow_in_vain();
	assert_false(come(MOST * KI_HEAP_STEP, 1, 0, false));
	assert_false(come(MOST * KI_HEAP_STEP + 1, 1, 0, true));
	assert_true(come(MOST * KI_HEAP_STEP, heap_end.orcs, heap_end.exs, true));
	ki_heap_free(patches[--npatches]->block);
	free(patches[npatches]);
	readers = true;
	trim(NULL);
	assert_int_equal(steps, 0);
	assert_int_equal(names, 0);
	assert_int_equal(taken, MOST);
	ki_heap_exit();
	assert_int_equal(taken, 0);
	print_message(
		"%llu stores, %llu searches; refused for want of bytes %u, the unwinder's rows "
		"%u, exception rows %u, room in one piece %u\n",
		(unsigned long long)stores, (unsigned long long)searches, refusals.units,
		refusals.orcs, refusals.exs, refusals.scattered);
	assert_true(stores > 1000000 && searches > 50000);
	assert_true(refusals.scattered > 1000);
	assert_true(filled > 1000);
	print_message("%u stand in pages of 2 MiB, of which %u came; %u find none\n", laid,
		      in_large, not_laid);
	assert_true(laid > 1000 && not_laid > 100 && in_large > 5);
	print_message("%u steps came, %u times some went\n", grown, shrunk);
	assert_true(grown > 20 && shrunk > 10);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patches_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
