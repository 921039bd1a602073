// SPDX-License-Identifier: GPL-2.0-only
/*
 * A heap that is full, and then in pieces.
 */
#include <stdlib.h>
#include <unistd.h>

#include "full/full.h"

#define FILLERS	    1024
#define FILLER_MOST 12 /* windows */
#define LARGE_MOST  32 /* chunks */

struct filling {
	struct cheap s[FILLERS];
	uint32_t n, at;
	uint32_t random; /* so many are of random sizes */
};

static struct places places; /* of all fillings */

/* False: there is no room. What a window cannot be had for is no matter. */
static bool add_session(struct filling *f, const struct want *w, uint32_t n)
{
	uint32_t reason;

	if (!n || f->n == FILLERS)
		die("filling", "too few places");
	f->at = w[n - 1].place + 1;
	cheap_open(&f->s[f->n], n);
	reason = cheap_put(&f->s[f->n], &places, w, n, 0);
	if (reason)
		cheap_close(&f->s[f->n]);
	else
		f->n++;
	return reason != KI_R_HEAP_FULL;
}

/* Windows that none has yet, with a chunk each. */
static bool add_many(struct filling *f, struct rng *r, uint32_t most, uint32_t units)
{
	uint32_t n = 0, windows = 1 + rng_below(r, most);
	struct want w[FILLER_MOST];

	for (; n < windows && f->at + n < places.n; n++)
		w[n] = (struct want){f->at + n, 1 + rng_below(r, units)};
	return add_session(f, w, n);
}

/* One window with so many chunks, which is a large patch with few rows in the kernel's tables. */
static bool add_large(struct filling *f, uint32_t chunks)
{
	struct want w[LARGE_MOST];
	uint32_t n;

	while (f->at < places.n && places.v[f->at].flags_live)
		f->at++;
	for (n = 0; n < chunks; n++)
		w[n] = (struct want){f->at, UNITS_MOST};
	return f->at < places.n && add_session(f, w, n);
}

/* To the last byte: smaller and smaller ones, also where no rows are left. */
static void fill(struct filling *f, struct rng *r)
{
	for (uint32_t n = FILLER_MOST; n; n /= 2)
		while (add_many(f, r, n, UNITS_MOST))
			;
	f->random = f->n;
	for (uint32_t n = LARGE_MOST; n; n /= 2)
		while (add_large(f, n))
			;
	for (uint32_t units = UNITS_MOST; units; units /= 2)
		while (add_many(f, r, 1, units))
			;
}

/* All that is buried has been given back: for some time nothing has changed. */
static void settle(void)
{
	uint64_t last = 0, used;

	for (int same = 0; same < 8; same++) {
		usleep(250000);
		used = state_info().heap_used;
		if (used != last)
			same = 0;
		last = used;
	}
}

/* Every other one of random size goes: there is room, but nowhere much. */
static void break_up(struct filling *f)
{
	uint32_t kept = 0;

	for (uint32_t i = 0; i < f->n; i++)
		if (i % 2 && i < f->random)
			cheap_close(&f->s[i]);
		else
			f->s[kept++] = f->s[i];
	f->n = kept;
}

struct filling *fill_and_break_up(struct rng *r)
{
	struct filling *f = calloc(1, sizeof(*f));
	struct ki_info info = state_info();
	uint64_t full;

	if (!places.n) {
		places_open(&places);
		places_random(&places, r, 300, 1500);
	}
	settle();
	fill(f, r);
	full = state_info().heap_used;
	break_up(f);
	settle();
	report("the heap is full, and then in pieces",
	       full > (info.heap_end - info.heap_start) / 10 * 9,
	       "%u sessions, %llu bytes, then %llu", f->n, (ull)full, (ull)state_info().heap_used);
	return f;
}

void empty_heap(struct filling *f)
{
	while (f->n)
		cheap_close(&f->s[--f->n]);
	free(f);
}
