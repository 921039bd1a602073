// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Edges: each is counted exactly. Most are as often taken as a block is executed: the only one that
 * leads to a block, or that leaves one, if whoever begins that comes to its end. The others have
 * probes of their own, on their side of their branch.
 */
#include "cover/live.h"

#include <errno.h>
#include <stdlib.h>

struct degrees {
	uint32_t *in, *out; /* of each block */
	bool plain;
};

static int count_degrees(const struct ki_function *fn, struct degrees *d)
{
	d->in = calloc(2 * (size_t)fn->nblocks + 1, sizeof(*d->in));
	if (!d->in)
		return -ENOMEM;
	d->out = d->in + fn->nblocks;
	d->plain = ki_cover_plain(fn);
	for (uint32_t i = 0; i < fn->nedges; i++) {
		const struct ki_edge *e = &fn->edges[i];

		if (ki_cover_is_call(e))
			continue;
		d->out[e->block]++;
		if (e->to_block != KI_NONE)
			d->in[e->to_block]++;
	}
	return 0;
}

static uint8_t rule_of(const struct ki_function *fn, const struct degrees *d,
		       const struct ki_edge *e)
{
	if (d->plain && e->to_block != KI_NONE && e->to_block && d->in[e->to_block] == 1 &&
	    !fn->blocks[e->to_block].entered)
		return KI_EDGE_TARGET;
	if (d->out[e->block] == 1 && ki_cover_straight(fn, &fn->blocks[e->block]))
		return KI_EDGE_SOURCE;
	return KI_EDGE_PROBE;
}

int ki_cover_edge_rules(const struct ki_function *fn, uint8_t *rules)
{
	struct degrees d = {0};
	int ret = count_degrees(fn, &d);

	for (uint32_t i = 0; !ret && i < fn->nedges; i++)
		if (!ki_cover_is_call(&fn->edges[i]))
			*rules++ = rule_of(fn, &d, &fn->edges[i]);
	free(d.in);
	return ret;
}

static int put_probe(struct ki_cover *c, const struct ki_ground *g, uint32_t number,
		     struct ki_err *err)
{
	const struct ki_point pt = {.kind = KI_POINT_EDGE, .edge = number};
	const struct cover_probe probe = {.of = (uint32_t)c->edges.n - 1, .edge = true};
	struct ki_place *place;
	size_t n;
	int ret = ki_point_places(g->fn, g->spans, &pt, &place, &n, err);

	if (ret)
		return ret;
	if (place->reason)
		ki_cover_leave_out(c, &probe, place->reason);
	else
		ret = ki_cover_put(c, g, place, probe, err);
	free(place);
	return ret;
}

static int choose(const struct ki_cover *c, const struct ki_function *fn, uint8_t *rules)
{
	if (!c->tree.narcs)
		return ki_cover_edge_rules(fn, rules);
	for (uint32_t f = fn->nblocks; f < c->chosen.nflows; f++)
		*rules++ = c->chosen.probe[f] ? KI_EDGE_PROBE : KI_EDGE_FLOW;
	return 0;
}

static int add_one(struct ki_cover *c, const struct ki_ground *g, uint32_t number, uint8_t rule,
		   struct ki_err *err)
{
	const struct ki_edge *e = &g->fn->edges[number];

	c->edges.v[c->edges.n++] = (struct cover_edge){
		.from = e->block, .to = e->to_block, .kind = e->kind, .rule = rule};
	return rule == KI_EDGE_PROBE ? put_probe(c, g, number, err) : 0;
}

int ki_cover_add_edges(struct ki_cover *c, const struct ki_ground *g, struct ki_err *err)
{
	const struct ki_function *fn = g->fn;
	uint8_t *rules = malloc((size_t)fn->nedges + 1), *rule = rules;
	int ret = 0;

	if (!rules || ki_vec_reserve(&c->edges, fn->nedges) || choose(c, fn, rules))
		ret = ki_err_set(err, -ENOMEM, fn->start, "coverage: out of memory");
	for (uint32_t i = 0; !ret && i < fn->nedges; i++)
		if (!ki_cover_is_call(&fn->edges[i]))
			ret = add_one(c, g, i, *rule++, err);
	free(rules);
	return ret;
}
