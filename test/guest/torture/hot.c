// SPDX-License-Identifier: GPL-2.0-only
/*
 * Everything hot at once: all blocks of the functions that are called most. Which these are is
 * measured first, by a counter at the entry of every function, as many at once as there are
 * counters; where fewer than HOT_ALL are wanted, at every so many of them, which the seed chooses.
 * Then a function has one counter for all its blocks.
 */
#include <stdio.h>
#include <stdlib.h>

#include "torture/torture.h"

#define HOT_COUNTERS 30000
#define HOT_ALL	     2000

struct heat {
	const struct ki_symbol *sym;
	uint64_t calls;
};

struct survey {
	struct crew c;
	struct heat *v;
	double seconds;
	double began, measured, installed;
};

static int hottest_first(const void *a, const void *b)
{
	uint64_t x = ((const struct heat *)a)->calls, y = ((const struct heat *)b)->calls;

	return (x < y) - (x > y);
}

static bool measure(void *arg)
{
	struct survey *s = arg;
	struct crew *c = &s->c;

	crew_apply(c);
	sleep_ms(s->seconds * 1000);
	for (uint32_t i = 0; i < c->used; i++)
		s->v[c->owner[i]].calls += crew_hits(c, i);
	crew_remove(c);
	crew_plan(c);
	return true;
}

/* Once more, where too few were called: the host may not have let the loads run. */
static void survey(struct survey *s, const struct ki_symbol **syms, size_t all, unsigned int wanted)
{
	size_t called = 0;

	for (int tries = 0; tries < 5 && called < wanted; tries++) {
		crew_add(&s->c, syms, all, crew_entry, measure, s);
		measure(s);
		called = 0;
		for (size_t i = 0; i < all; i++)
			called += s->v[i].calls != 0;
	}
}

/* The hottest first; those never called are left out. */
static const struct ki_symbol **find_hottest(struct survey *s, unsigned int wanted, uint64_t seed,
					     size_t *n)
{
	size_t all, i;
	const struct ki_symbol **syms = shuffled(s->c.t, &seed, &all);

	if (wanted < HOT_ALL)
		all = all * wanted / HOT_ALL;
	s->v = calloc(all, sizeof(*s->v));
	if (!s->v)
		die("memory", NULL);
	for (i = 0; i < all; i++)
		s->v[i].sym = syms[i];
	survey(s, syms, all, wanted);
	qsort(s->v, all, sizeof(*s->v), hottest_first);
	for (i = 0; i < all && s->v[i].calls; i++)
		syms[i] = s->v[i].sym;
	*n = i;
	return syms;
}

static uint32_t count_reached(const struct crew *c)
{
	uint32_t reached = 0;

	for (uint32_t i = 0; i < c->used; i++)
		reached += crew_hits(c, i) != 0;
	return reached;
}

static int report(const struct survey *s, size_t called, unsigned int wanted, double seconds)
{
	const struct crew *c = &s->c;
	uint64_t hits = crew_all_hits(c), refused = crew_refused(c, "hot");
	uint32_t reached = count_reached(c);

	printf("hot: measured in %.0f s, installed in %.0f s\n", s->measured - s->began,
	       s->installed - s->measured);
	printf("hot: %zu functions were called; all blocks of %u, the last of them called %llu times: %zu blocks in %zu windows, %llu refused\n",
	       called, c->functions, (unsigned long long)s->v[c->functions - 1].calls,
	       ki_plan_chunks(c->plan), ki_plan_windows(c->plan), (unsigned long long)refused);
	printf("hot: %llu hits in %.0f s, %u functions were reached, the hottest: %s\n",
	       (unsigned long long)hits, seconds, reached, s->v[0].sym->name);
	return c->functions < wanted || reached < wanted / 2 ||
	       refused > ki_plan_chunks(c->plan) / 1000 + 20;
}

int hot(unsigned int functions, double seconds, uint64_t seed)
{
	struct survey s = {.seconds = seconds / 8, .began = now()};
	const struct ki_symbol **syms;
	size_t called;
	int ret;

	crew_open(&s.c, HOT_COUNTERS);
	syms = find_hottest(&s, functions, seed, &called);
	s.measured = now();
	crew_add(&s.c, syms, called < functions ? called : functions, crew_blocks, NULL, NULL);
	if (!s.c.functions)
		die("hot: nothing was called", NULL);
	crew_apply(&s.c);
	s.installed = now();
	sleep_ms(seconds * 500);
	for (int more = 0; more < 120 && count_reached(&s.c) < functions / 2; more++)
		sleep_ms(1000);
	ret = report(&s, called, functions, now() - s.installed);
	crew_remove(&s.c);
	free(syms);
	free(s.v);
	crew_close(&s.c);
	return ret;
}
