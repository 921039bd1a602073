// SPDX-License-Identifier: GPL-2.0-only
/*
 * A session with a plan of counters.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "torture/torture.h"

void die(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "torture: %s: %s\n", what, err ? err->msg : strerror(errno));
	exit(1);
}

void sleep_ms(unsigned int ms)
{
	struct timespec ts = {ms / 1000, ms % 1000 * 1000000L};

	while (nanosleep(&ts, &ts) && errno == EINTR)
		;
}

double now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return ts.tv_sec + ts.tv_nsec / 1e9;
}

uint64_t rng(uint64_t *state) /* splitmix64 */
{
	uint64_t z = *state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return z ^ z >> 31;
}

const struct ki_symbol **shuffled(struct ki_target *t, uint64_t *seed, size_t *n)
{
	size_t all, i;
	const struct ki_symbol *syms = ki_target_symbols(t, &all);
	const struct ki_symbol **v = malloc(all * sizeof(*v));

	if (!v)
		die("memory", NULL);
	*n = 0;
	for (i = 0; i < all; i++)
		if (!syms[i].alias)
			v[(*n)++] = &syms[i];
	for (i = *n; i > 1; i--) {
		size_t k = rng(seed) % i;
		const struct ki_symbol *other = v[k];

		v[k] = v[i - 1];
		v[i - 1] = other;
	}
	return v;
}

void crew_open(struct crew *c, uint32_t counters)
{
	struct ki_err err = {0};

	*c = (struct crew){.room = counters};
	c->owner = calloc(counters, sizeof(*c->owner));
	c->before = calloc(counters, sizeof(*c->before));
	if (!c->owner || !c->before)
		die("memory", NULL);
	if (ki_target_new_live(&c->t, &err) || ki_counters_take(c->t, counters, &c->first, &err) ||
	    ki_counter_map_new(c->t, &c->map, &err))
		die("open", &err);
	crew_plan(c);
}

void crew_close(struct crew *c)
{
	ki_plan_free(c->plan);
	ki_counter_map_free(c->map);
	ki_target_free(c->t);
	free(c->owner);
	free(c->before);
}

void crew_plan(struct crew *c)
{
	ki_plan_free(c->plan);
	if (ki_plan_new(&c->plan))
		die("plan", NULL);
	ki_plan_batch(c->plan, c->room);
	c->used = c->functions = 0;
}

/* ---- what a function gets: false if the library refuses it ---- */

/* Count a place with the next counter; it is used up by whoever is content with it. */
static bool count_place(struct crew *c, const struct ki_function *fn, const struct ki_spans *spans,
			const struct ki_place *place)
{
	struct ki_err err = {0};
	struct ki_code code;
	uint32_t id;

	ki_snippet_count(&code, c->first + c->used, place->flags_live);
	if (!place->reason &&
	    !ki_plan_add(c->plan, &(struct ki_insertion){fn, spans, place, 0}, &code, &id, &err))
		return true;
	c->left_out++;
	return false;
}

static bool count_point(struct crew *c, const struct ki_function *fn, const struct ki_spans *spans,
			const struct ki_point *pt)
{
	struct ki_place *places;
	struct ki_err err = {0};
	bool any = false;
	size_t n, i;

	if (ki_point_places(fn, spans, pt, &places, &n, &err))
		die(fn->symbol->name, &err);
	for (i = 0; i < n; i++)
		any |= count_place(c, fn, spans, &places[i]);
	free(places);
	return any;
}

static void next_counter(struct crew *c, size_t owner)
{
	c->owner[c->used] = owner;
	c->before[c->used] = crew_hits(c, c->used);
	c->used++;
}

void crew_entry(struct crew *c, size_t i, const struct ki_function *fn,
		const struct ki_spans *spans)
{
	if (count_point(c, fn, spans, &(struct ki_point){.kind = KI_POINT_ENTRY}))
		next_counter(c, i);
}

void crew_blocks(struct crew *c, size_t i, const struct ki_function *fn,
		 const struct ki_spans *spans)
{
	bool any = false;

	for (uint32_t b = 0; b < fn->nblocks; b++)
		any |= count_point(c, fn, spans,
				   &(struct ki_point){.kind = KI_POINT_BLOCK, .block = b});
	if (any)
		next_counter(c, i);
}

void crew_windows(struct crew *c, size_t i, const struct ki_function *fn,
		  const struct ki_spans *spans)
{
	for (size_t k = 0; k < spans->n; k++) {
		const struct ki_insn *in = &fn->insns[spans->v[k].first];
		const struct ki_place place = {
			.addr = in->addr,
			.flags_live = in->flags & KI_INSN_FLAGS_LIVE,
		};

		if (count_place(c, fn, spans, &place))
			next_counter(c, i);
	}
}

/* ---- many functions ---- */

struct adding {
	struct crew *c;
	crew_what *what;
	crew_full *full;
	void *arg;
	bool stopped;
};

static int add_function(void *arg, size_t i, const struct ki_function *fn)
{
	struct adding *a = arg;
	struct crew *c = a->c;
	struct ki_err err = {0};
	struct ki_spans spans;

	c->at = i;
	if (fn->reason)
		return 0;
	if (ki_spans_find(fn, &spans, &err))
		die(fn->symbol->name, &err);
	if (spans.n > c->room)
		die("a function with more windows than there are counters", NULL);
	if (c->used + spans.n > c->room)
		a->stopped = !a->full || !a->full(a->arg);
	if (!a->stopped) {
		a->what(c, i, fn, &spans);
		c->functions++;
	}
	ki_spans_free(&spans);
	return a->stopped ? -ECANCELED : 0;
}

bool crew_add(struct crew *c, const struct ki_symbol *const *syms, size_t n, crew_what *what,
	      crew_full *full, void *arg)
{
	struct adding a = {.c = c, .what = what, .full = full, .arg = arg};
	struct ki_err err = {0};

	if (ki_functions_analyze(c->t,
				 &(struct ki_functions_job){
					 .syms = syms, .n = n, .take = add_function, .arg = &a},
				 &err) &&
	    !a.stopped)
		die("analyze", &err);
	return !a.stopped;
}

void crew_apply(struct crew *c)
{
	struct ki_err err = {0};

	if (ki_plan_apply(c->plan, c->t, true, &err))
		die("apply", &err);
	for (size_t i = 0; i < ki_plan_chunks(c->plan); i++)
		c->refusals[ki_plan_refusal(c->plan, i)]++;
}

void crew_remove(struct crew *c)
{
	struct ki_err err = {0};

	if (ki_plan_remove(c->plan, c->t, &err))
		die("remove", &err);
}

uint64_t crew_hits(const struct crew *c, uint32_t counter)
{
	return ki_counter_read(c->map, c->first + counter) - c->before[counter];
}

uint64_t crew_all_hits(const struct crew *c)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->used; i++)
		sum += crew_hits(c, i);
	return sum;
}

uint64_t crew_refused(const struct crew *c, const char *who)
{
	uint64_t sum = 0;

	for (uint32_t r = KI_R_OK + 1; r < KI_R_COUNT; r++) {
		sum += c->refusals[r];
		if (who && c->refusals[r])
			printf("%s: refused by the driver: %llu times %s\n", who,
			       (unsigned long long)c->refusals[r], ki_reason_tag(r));
	}
	return sum;
}
