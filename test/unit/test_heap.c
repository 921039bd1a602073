// SPDX-License-Identifier: GPL-2.0-only
/*
 * The driver's text heap and its rows of the unwinder and of exceptions (kmod/heap.c, orc.c,
 * extable.c, compiled in here), against a model that only knows what has been asked for.
 *
 * Patches of random sizes come and go until the heap is full, of bytes, of the unwinder's rows or
 * of exception rows. Blocks must not overlap, and stand in one order along all three coordinates;
 * what is refused must not fit, or touch the reserve; and after every single store to one of the
 * tables that table must be sorted, and a search in it find what it must of the patches that are
 * there: the kernel searches it at any moment, without a lock.
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

/* ---- the kernel ---- */

#define KI_COMPAT_H		 /* nothing of it is needed but where a module's text is: everywhere */
#define KI_MODULE_TEXT(mod)	 0ul
#define KI_MODULE_TEXT_SIZE(mod) ULONG_MAX
#define THIS_MODULE		 NULL
#define CONFIG_UNWINDER_ORC

#define __stringify_1(x)   #x
#define __stringify(x)	   __stringify_1(x)
#define DIV_ROUND_UP(n, d) (((n) + (d)-1) / (d))
#define U32_MAX		   UINT32_MAX
#define ARRAY_SIZE(a)	   (sizeof(a) / sizeof(*(a)))
#define min(a, b)	   ((a) < (b) ? (a) : (b))
#define max(a, b)	   ((a) > (b) ? (a) : (b))
#define pr_err(...)	   fail_msg(__VA_ARGS__)
#define smp_wmb()

static void stored(const void *where);
#define WRITE_ONCE(x, value)                                                                       \
	do {                                                                                       \
		(x) = (__typeof__(x))(value);                                                      \
		stored(&(x));                                                                      \
	} while (0)

#include "../../kmod/heap.c"
#define address_of  address_of_orc
#define set_address set_address_orc
#include "../../kmod/orc.c"
#undef address_of
#undef set_address
#include "../../kmod/extable.c"
#include "../../kmod/fill.c"

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

static unsigned long filled_from, filled_to;

void ki_text_fill_heap(unsigned long addr, size_t len)
{
	assert_in_range(addr, (unsigned long)ki_returned, (unsigned long)ki_heap_end);
	assert_true(len <= (unsigned long)ki_heap_end - addr);
	memset((void *)addr, KI_INT3, len);
	filled_from = addr;
	filled_to = addr + len;
}

void ki_text_flush_heap(void)
{
}

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
	return (unsigned long)ki_heap_start + p->at.units * KI_HEAP_UNIT;
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

/* The last row that is not behind the address. */
static const struct orc_entry *find_orc(unsigned long addr)
{
	u32 lo = 0, hi = ki_orc_count;

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

	got = bsearch(&addr, ki_ex, ki_ex_count, sizeof(*ki_ex), compare_ex);
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

#define IN(where, array)                                                                           \
	((const char *)(where) >= (const char *)(array) &&                                         \
	 (const char *)(where) < (const char *)(array) + sizeof(array))

static void orc_sorted_at(size_t i)
{
	assert_true(!i || address_of_orc(&ki_orc_ip[i - 1]) <= address_of_orc(&ki_orc_ip[i]));
	assert_true(i + 1 >= ki_orc_count ||
		    address_of_orc(&ki_orc_ip[i]) <= address_of_orc(&ki_orc_ip[i + 1]));
}

static void ex_sorted_at(size_t i)
{
	assert_true(!i || address_of(&ki_ex[i - 1]) <= address_of(&ki_ex[i]));
	assert_true(i + 1 >= ki_ex_count || address_of(&ki_ex[i]) <= address_of(&ki_ex[i + 1]));
}

static void stored(const void *where)
{
	if (!ki_orc_count || !ki_ex_count)
		return; /* the tables are being made */
	if (IN(where, ki_orc_ip))
		orc_sorted_at((size_t)((const int *)where - ki_orc_ip));
	else if (IN(where, ki_ex))
		ex_sorted_at((size_t)((const struct exception_table_entry *)where - ki_ex));
	if (npatches && !(++stores % 16))
		search_in(patches[rnd(npatches)]);
}

static void all_sorted(void)
{
	u32 i;

	for (i = 0; i < ki_orc_count; i++)
		orc_sorted_at(i);
	for (i = 0; i < ki_ex_count; i++)
		ex_sorted_at(i);
}

/* ---- what is free ---- */

static const struct ki_extent heap_end = {KI_HEAP_UNITS, KI_HEAP_ORCS, KI_HEAP_EXS};

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
			 keep = {need.units + KI_HEAP_UNITS / part, need.orcs + KI_HEAP_ORCS / part,
				 need.exs + KI_HEAP_EXS / part};
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

	assert_int_equal((ki_heap_addr(p->block) - (unsigned long)ki_heap_start) % KI_HEAP_UNIT, 0);
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
	unsigned long base = (unsigned long)ki_heap_start - 0x4000000 + rnd(0x8000000), place;
	struct patch *p = calloc(1, sizeof(*p));
	u8 inner = (u8)(1 + rnd(7));
	u32 pad = 0;
	int err;

	assert_non_null(p);
	err = ki_heap_alloc_filled(len, norc, nex, base, inner, &pad, &p->block);
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

/* The module's own rows, before the heap and behind it. */
static void make_tables(void)
{
	static int own_ip[4];
	static struct orc_entry own[4];
	static struct exception_table_entry own_ex[2];
	struct module mod = {.arch = {own_ip, own, 4}, .extable = own_ex, .num_exentries = 2};
	unsigned long start = (unsigned long)ki_heap_start, end = (unsigned long)ki_heap_end;
	unsigned long at[4] = {start - KI_RETURNS - 64, start - KI_RETURNS - 32, end, end + 32};
	u32 i;

	for (i = 0; i < 4; i++)
		own_ip[i] = (int)(at[i] - (unsigned long)&own_ip[i]);
	own_ex[0].insn = (int)(at[1] - (unsigned long)&own_ex[0].insn);
	own_ex[1].insn = (int)(at[3] - (unsigned long)&own_ex[1].insn);
	assert_int_equal(ki_heap_init(), 0);
	assert_int_equal(ki_orc_prepare(&mod, start, end), 0);
	assert_int_equal(ki_extable_prepare(&mod, start, end), 0);
	all_sorted();
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

static void patches_come_and_go(void **state)
{
	size_t i;

	(void)state;
	make_tables();
	fill_evenly();
	for (i = 0; i < sizeof(phases) / sizeof(*phases); i++)
		run_phase(&phases[i]);
	while (npatches)
		go(rnd(npatches));
	assert_int_equal(bytes_used(), 0);
	assert_false(come(KI_HEAP_SIZE, 1, 0, false));
	assert_true(come(KI_HEAP_SIZE, KI_HEAP_ORCS, KI_HEAP_EXS, true));
	go(0);
	ki_heap_exit();
	print_message(
		"%llu stores, %llu searches; refused for want of bytes %u, the unwinder's rows "
		"%u, exception rows %u, room in one piece %u\n",
		(unsigned long long)stores, (unsigned long long)searches, refusals.units,
		refusals.orcs, refusals.exs, refusals.scattered);
	assert_true(stores > 1000000 && searches > 50000);
	assert_true(refusals.scattered > 1000);
	assert_true(filled > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(patches_come_and_go),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
