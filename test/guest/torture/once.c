// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything once: all windows of every function, some thousand windows at a time, in an order
 * that the seed makes. And everything hot at once: all blocks of the functions that are called
 * most.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "torture/torture.h"

#define ONCE_WINDOWS 6000
#define HOT_COUNTERS 32000

int once(uint64_t seed, double seconds)
{
	const struct ki_symbol **syms;
	unsigned long functions = 0, windows = 0, batches = 0;
	uint64_t hits = 0, before;
	double end = now() + seconds;
	size_t n, i = 0;
	struct crew c;

	crew_open(&c, ONCE_WINDOWS);
	syms = shuffled(c.t, &seed, &n);
	while (i < n && now() < end) {
		size_t from = i;

		crew_plan(&c);
		while (i < n && crew_add_windows(&c, syms[i]))
			i++;
		if (i == from)
			i++; /* larger than a batch: as much of it as there is room for */
		before = crew_all_hits(&c);
		crew_apply(&c);
		sleep_ms(200);
		hits += crew_all_hits(&c) - before;
		crew_remove(&c);
		functions += c.functions;
		windows += ki_plan_windows(c.plan);
		batches++;
	}
	printf("once: %zu of %zu symbols: %lu functions with code to splice, %lu windows in %lu batches, %llu refused, %llu left out, %llu hits\n",
	       i, n, functions, windows, batches, (unsigned long long)c.refused,
	       (unsigned long long)c.left_out, (unsigned long long)hits);
	free(syms);
	crew_close(&c);
	return hits ? 0 : 1;
}

struct heat {
	const struct ki_symbol *sym;
	uint64_t calls;
};

static int hottest_first(const void *a, const void *b)
{
	uint64_t x = ((const struct heat *)a)->calls, y = ((const struct heat *)b)->calls;

	return (x < y) - (x > y);
}

/* Count calls of the symbols from *at on, as many as there are counters for. */
static void measure(struct crew *c, struct heat *v, size_t n, size_t *at, double seconds)
{
	uint32_t *chunk = calloc(n, sizeof(*chunk)); /* 1 + its chunk */
	uint64_t *before = calloc(c->room, sizeof(*before));
	size_t from = *at;

	if (!chunk || !before)
		die("memory", NULL);
	crew_plan(c);
	for (; *at < n; ++*at) {
		uint32_t used = c->used;

		if (!crew_add_entry(c, v[*at].sym))
			break;
		if (c->used > used)
			chunk[*at] = c->used;
	}
	for (uint32_t i = 0; i < c->used; i++)
		before[i] = crew_hits(c, i);
	crew_apply(c);
	sleep_ms(seconds * 1000);
	for (size_t i = from; i < *at; i++)
		if (chunk[i])
			v[i].calls = crew_hits(c, chunk[i] - 1) - before[chunk[i] - 1];
	crew_remove(c);
	free(chunk);
	free(before);
}

static struct heat *find_hottest(struct crew *c, size_t *n, double seconds)
{
	uint64_t seed = 1;
	const struct ki_symbol **syms = shuffled(c->t, &seed, n);
	struct heat *v = calloc(*n, sizeof(*v));
	size_t at = 0;

	if (!v)
		die("memory", NULL);
	for (size_t i = 0; i < *n; i++)
		v[i].sym = syms[i];
	while (at < *n)
		measure(c, v, *n, &at, seconds);
	qsort(v, *n, sizeof(*v), hottest_first);
	free(syms);
	return v;
}

int hot(unsigned int functions, double seconds)
{
	uint64_t before, hits;
	struct heat *v;
	struct crew c;
	size_t n, i;

	crew_open(&c, HOT_COUNTERS);
	v = find_hottest(&c, &n, seconds / 8);
	crew_plan(&c);
	for (i = 0; i < n && i < functions && v[i].calls; i++)
		if (!crew_add_blocks(&c, v[i].sym))
			break;
	before = crew_all_hits(&c);
	c.refused = 0;
	crew_apply(&c);
	printf("hot: all blocks of %zu functions, the last of them called %llu times: %u counters in %zu windows, %llu refused\n",
	       i, i ? (unsigned long long)v[i - 1].calls : 0, c.used, ki_plan_windows(c.plan),
	       (unsigned long long)c.refused);
	fflush(stdout);
	sleep_ms(seconds * 500);
	hits = crew_all_hits(&c) - before;
	crew_remove(&c);
	printf("hot: %llu hits, the hottest function: %s\n", (unsigned long long)hits,
	       v[0].sym->name);
	free(v);
	crew_close(&c);
	return hits ? 0 : 1;
}
