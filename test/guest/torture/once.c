// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything once: all windows of every function that can be touched, some hundred functions at a
 * time, in an order that the seed makes. All must be taken by the driver, but for a few that the
 * kernel itself has changed since they were read.
 */
#include <stdio.h>
#include <stdlib.h>

#include "torture/torture.h"

#define ONCE_WINDOWS 16000 /* of a batch */
#define ONCE_RUN_MS  200
#define ONCE_REFUSED 10000 /* one in so many chunks may be refused, and 20 of few */

struct once {
	struct crew c;
	double end, in, out; /* seconds of installing and of taking out */
	unsigned long functions, windows, reached, batches;
	uint64_t chunks, hits;
};

/* What has been gathered goes in, runs, and goes out. */
static bool turn(void *arg)
{
	struct once *o = arg;
	struct crew *c = &o->c;
	double began = now();

	crew_apply(c);
	o->in += now() - began;
	sleep_ms(ONCE_RUN_MS);
	for (uint32_t i = 0; i < c->used; i++)
		o->reached += crew_hits(c, i) != 0;
	o->hits += crew_all_hits(c);
	began = now();
	crew_remove(c);
	o->out += now() - began;
	o->functions += c->functions;
	o->windows += ki_plan_windows(c->plan);
	o->chunks += ki_plan_chunks(c->plan);
	o->batches++;
	crew_plan(c);
	return !o->end || now() < o->end;
}

static int report(const struct once *o, size_t done, size_t n)
{
	uint64_t refused = crew_refused(&o->c, "once");

	printf("once: %zu of %zu symbols: %lu functions that can be touched, %lu windows in %lu batches, %llu refused, %llu left out, %lu reached, %llu hits\n",
	       done, n, o->functions, o->windows, o->batches, (unsigned long long)refused,
	       (unsigned long long)o->c.left_out, o->reached, (unsigned long long)o->hits);
	printf("once: %.0f s of it installing, %.0f s taking out\n", o->in, o->out);
	return !o->hits || o->c.left_out || (!o->end && done < n) ||
	       refused > o->chunks / ONCE_REFUSED + 20;
}

int once(uint64_t seed, double seconds, size_t from)
{
	struct once o = {.end = seconds ? now() + seconds : 0};
	const struct ki_symbol **syms;
	size_t n, done;
	int ret;

	crew_open(&o.c, ONCE_WINDOWS);
	syms = shuffled(o.c.t, &seed, &n);
	if (from > n)
		from = n;
	if (crew_add(&o.c, syms + from, n - from, crew_windows, turn, &o)) {
		turn(&o);
		done = n;
	} else {
		done = from + o.c.at;
	}
	if (from)
		printf("once: from symbol %zu on\n", from);
	ret = report(&o, done, n);
	free(syms);
	crew_close(&o.c);
	return ret;
}
