// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is inserted now, by whom, and what it costs: instructions are counted by the code itself;
 * as a share of the CPUs' time they are an estimate, by how fast a loop like that code runs.
 */
#include <math.h>
#include <string.h>

#include "live_inside.h"

/* A share is of at least so long. */
#define LOOK_SECONDS 0.5

/* How many instructions have been spent since the last look. */
static void look(struct live *l, struct batch *b, double now)
{
	double seconds = now - b->looked;

	if (seconds < LOOK_SECONDS)
		return;
	for (size_t i = 0; i < b->curves.n; i++) {
		struct curve *c = &b->curves.v[i];
		double spent;

		if (!c->first)
			continue;
		spent = ki_measure_spent(b->m, ki_measure_part(b->m, c->number));
		c->share = (spent - c->spent) / (seconds * l->speed * l->cpus);
		c->spent = spent;
	}
	b->looked = now;
}

static bool is_counter(const struct ki_metric *m)
{
	return !strcmp(m->name, "calls") || !strcmp(m->name, "exits") ||
	       !strcmp(m->name, "returns") || !strcmp(m->name, "count");
}

/* With a predicate hits are those that it let in; what was spent is of all that came by. */
static double hit_cost(const struct batch *b, const struct curve *c, double hits)
{
	uint32_t part = ki_measure_part(b->m, c->number);
	double spent = ki_measure_spent(b->m, part);

	return hits > 0 ? spent / hits : ki_measure_pass_cost(b->m, part).most;
}

static void put_row(struct ki_json *j, const struct client *owner, const struct batch *b,
		    const struct curve *c, double now)
{
	double hits = is_counter(c->metric) ? (double)ki_measure_hits(b->m, c->number) : NAN;

	ki_json_open(j, NULL, '{');
	ki_json_str(j, "client", owner->hidden ? "export" : owner->id);
	ki_json_double(j, "since", now - b->since);
	ki_json_str(j, "metric", c->metric->name);
	ki_json_str(j, "point", c->point);
	ki_json_str(j, "predicate", c->predicate);
	ki_json_double(j, "hits", hits);
	ki_json_double(j, "cost_instructions", hit_cost(b, c, hits));
	ki_json_double(j, "share", c->first ? c->share : 0);
	ki_json_close(j);
}

static size_t put_rows(struct live *l, struct ki_json *j, struct client *mine, json_t *own)
{
	double now = engine_now();
	size_t n = 0;

	for (struct client *c = l->engine->clients.first; c; c = c->next) {
		const struct owner *o = c->own;

		for (struct batch *b = o ? o->batches : NULL; b; b = b->next) {
			look(l, b, now);
			for (size_t i = 0; i < b->curves.n; i++) {
				if (b->curves.v[i].gone)
					continue;
				put_row(j, c, b, &b->curves.v[i], now);
				if (c == mine)
					json_array_append_new(own, json_integer((json_int_t)n));
				n++;
			}
		}
	}
	return n;
}

static void put_driver(struct live *l, struct ki_json *j)
{
	struct ki_info info;

	if (live_info(l, &info))
		return;
	ki_json_u64(j, "windows", info.windows);
	ki_json_u64(j, "heap_used", info.heap_used);
	ki_json_u64(j, "heap_size", info.heap_end - info.heap_start);
	ki_json_u64(j, "sessions", info.sessions);
	live_put_others(l, &info, j);
}

void live_inserted(struct source *s, struct client *mine, struct reply *r)
{
	struct live *l = live_of(s);
	json_t *own = json_array(), *number;
	struct doc d;
	size_t i;

	if (!own || doc_begin(&d)) {
		json_decref(own);
		reply_no_memory(r);
		return;
	}
	ki_json_open(&d.j, NULL, '{');
	ki_json_open(&d.j, "rows", '[');
	put_rows(l, &d.j, mine, own);
	ki_json_close(&d.j);
	put_driver(l, &d.j);
	ki_json_open(&d.j, "mine", '[');
	json_array_foreach(own, i, number)
		ki_json_u64(&d.j, NULL, (uint64_t)json_integer_value(number));
	ki_json_close(&d.j);
	ki_json_close(&d.j);
	doc_reply(&d, r);
	json_decref(own);
}
