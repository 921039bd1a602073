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
	if (ki_target_open_live(&c->t, &err) || ki_counters_take(c->t, counters, &c->first, &err) ||
	    ki_counter_map_open(c->t, &c->map, &err))
		die("open", &err);
	crew_plan(c);
}

void crew_close(struct crew *c)
{
	ki_plan_free(c->plan);
	ki_counter_map_close(c->map);
	ki_target_close(c->t);
}

void crew_plan(struct crew *c)
{
	ki_plan_free(c->plan);
	if (ki_plan_new(&c->plan))
		die("plan", NULL);
	c->used = c->functions = 0;
}

/* False: no counter is left for it. */
static bool add_place(struct crew *c, const struct ki_function *fn, const struct ki_spans *spans,
		      const struct ki_place *place)
{
	struct ki_code code;
	struct ki_err err = {0};
	uint32_t id;

	if (c->used == c->room)
		return false;
	ki_snippet_count(&code, c->first + c->used, place->flags_live);
	if (place->reason || ki_plan_add(c->plan, fn, spans, place, 0, &code, &id, &err))
		c->left_out++;
	else
		c->used++;
	return true;
}

static bool add_point(struct crew *c, const struct ki_function *fn, const struct ki_spans *spans,
		      const struct ki_point *pt)
{
	struct ki_place *places;
	struct ki_err err = {0};
	bool room = true;
	size_t n, i;

	if (ki_point_places(fn, spans, pt, &places, &n, &err))
		return true;
	for (i = 0; room && i < n; i++)
		room = add_place(c, fn, spans, &places[i]);
	free(places);
	return room;
}

static bool add_entry(struct crew *c, const struct ki_function *fn, const struct ki_spans *spans)
{
	return add_point(c, fn, spans, &(struct ki_point){.kind = KI_POINT_ENTRY});
}

static bool add_blocks(struct crew *c, const struct ki_function *fn, const struct ki_spans *spans)
{
	bool room = true;

	for (uint32_t b = 0; room && b < fn->nblocks; b++)
		room = add_point(c, fn, spans,
				 &(struct ki_point){.kind = KI_POINT_BLOCK, .block = b});
	return room;
}

static bool add_windows(struct crew *c, const struct ki_function *fn, const struct ki_spans *spans)
{
	bool room = true;

	for (size_t i = 0; room && i < spans->n; i++) {
		const struct ki_insn *in = &fn->insns[spans->v[i].first];

		room = add_place(c, fn, spans,
				 &(struct ki_place){
					 .addr = in->addr,
					 .flags_live = in->flags & KI_INSN_FLAGS_LIVE,
				 });
	}
	return room;
}

static bool add(struct crew *c, const struct ki_symbol *sym,
		bool (*what)(struct crew *c, const struct ki_function *fn,
			     const struct ki_spans *spans))
{
	struct ki_err err = {0};
	struct ki_function *fn;
	struct ki_spans spans;
	bool room;

	if (ki_function_analyze(c->t, sym, &fn, &err))
		die(sym->name, &err);
	if (ki_spans_find(fn, &spans, &err))
		die(sym->name, &err);
	room = fn->reason || what(c, fn, &spans);
	c->functions += room && !fn->reason;
	ki_spans_free(&spans);
	ki_function_free(fn);
	return room;
}

bool crew_add_entry(struct crew *c, const struct ki_symbol *sym)
{
	return add(c, sym, add_entry);
}

bool crew_add_windows(struct crew *c, const struct ki_symbol *sym)
{
	return add(c, sym, add_windows);
}

bool crew_add_blocks(struct crew *c, const struct ki_symbol *sym)
{
	return add(c, sym, add_blocks);
}

void crew_apply(struct crew *c)
{
	struct ki_err err = {0};

	if (ki_plan_apply(c->plan, c->t, true, &err))
		die("apply", &err);
	for (uint32_t i = 0; i < c->used; i++)
		c->refused += ki_plan_refusal(c->plan, i) != KI_R_OK;
}

void crew_remove(struct crew *c)
{
	struct ki_err err = {0};

	if (ki_plan_remove(c->plan, c->t, &err))
		die("remove", &err);
}

uint64_t crew_hits(const struct crew *c, uint32_t chunk)
{
	return ki_counter_read(c->map, c->first + chunk);
}

uint64_t crew_all_hits(const struct crew *c)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < c->used; i++)
		sum += crew_hits(c, i);
	return sum;
}
