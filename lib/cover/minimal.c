// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Counts that tell others (tree.c), in a measurement.
 *
 * They do so only if they are read while nobody is in the middle of anything, which still.c does,
 * with counters of each CPU. Functions for which there are none have a probe in each block; so has
 * one in which control may go where no edge shows it. A probe that the driver refuses leaves open
 * what it would have told.
 */
#include <errno.h>
#include <stdlib.h>

#include "cover/live.h"

/* Where probes can be: blocks have been looked at. */
static int find_possible(struct ki_tree *t, const struct ki_ground *g,
			 const struct ki_place *blocks, struct ki_err *err)
{
	uint32_t f = 0;
	int ret = 0;

	for (; f < g->fn->nblocks; f++)
		t->possible[f] = !blocks[f].reason;
	for (uint32_t i = 0; !ret && f < t->nflows; i++) {
		const struct ki_point pt = {.kind = KI_POINT_EDGE, .edge = i};
		struct ki_place *place;
		size_t n;

		if (ki_cover_is_call(&g->fn->edges[i]))
			continue;
		ret = ki_point_places(g->fn, g->spans, &pt, &place, &n, err);
		if (ret)
			break;
		t->possible[f++] = !place->reason;
		free(place);
	}
	return ret;
}

static uint32_t count_probes(const struct ki_tree *t)
{
	uint32_t n = 0;

	for (uint32_t f = 0; f < t->nflows; f++)
		n += t->probe[f];
	return n;
}

/* How many there are when each edge that no block tells has its own; UINT32_MAX: no memory. */
static uint32_t count_without(const struct ki_function *fn, const struct ki_tree *t)
{
	uint8_t *rules = malloc((size_t)fn->nedges + 1);
	uint32_t n = 0;

	if (!rules || (t->nflows > fn->nblocks && ki_cover_edge_rules(fn, rules)))
		n = UINT32_MAX;
	for (uint32_t f = 0; n != UINT32_MAX && f < t->nflows; f++)
		n += t->possible[f] && (f < fn->nblocks || rules[f - fn->nblocks] == KI_EDGE_PROBE);
	free(rules);
	return n;
}

static int choose(struct ki_cover *c, const struct ki_ground *g, const struct ki_cfg *cfg,
		  struct ki_err *err)
{
	struct ki_tree *t = &c->chosen;
	int ret;

	ki_tree_free(t);
	ret = ki_tree_new(g->fn, cfg, c->o.mode == KI_COVER_EDGES, t);
	if (!ret)
		ret = find_possible(t, g, c->places.v, err);
	if (!ret)
		ret = ki_tree_choose(g->fn, cfg, t);
	return ret ? ki_err_set(err, ret, g->fn->start, "coverage: out of memory") : 0;
}

/* From here on the function's probes are those of the tree. */
static int take(struct ki_cover *c, const struct ki_function *fn, uint32_t probes, uint8_t *rules)
{
	const struct ki_tree *t = &c->chosen;

	if (ki_vec_reserve(&c->arcs, t->nflows))
		return -ENOMEM;
	c->tree = (struct cover_tree){
		.first_arc = (uint32_t)c->arcs.n,
		.narcs = t->nflows,
		.nvertices = t->nvertices,
		.first_slot = c->next_slot,
		.nslots = probes,
	};
	for (uint32_t f = 0; f < t->nflows; f++)
		c->arcs.v[c->arcs.n++] = t->arcs[f];
	for (uint32_t b = 0; b < fn->nblocks; b++)
		rules[b] = t->probe[b] ? KI_RULE_PROBE : KI_RULE_FLOW;
	return 0;
}

int ki_cover_minimize(struct ki_cover *c, const struct ki_ground *g, uint8_t *rules,
		      struct ki_err *err)
{
	struct ki_cfg *cfg;
	uint32_t probes;
	int ret;

	if (!g->fn->nblocks || !ki_cover_plain(g->fn))
		return 0;
	ret = ki_cfg_new(g->fn, &cfg, err);
	if (ret)
		return ret;
	ret = choose(c, g, cfg, err);
	ki_cfg_free(cfg);
	if (ret)
		return ret;
	probes = count_probes(&c->chosen);
	if (probes > count_without(g->fn, &c->chosen) || !ki_cover_has_counters(c, probes))
		return 0;
	ret = take(c, g->fn, probes, rules);
	return ret ? ki_err_set(err, ret, g->fn->start, "coverage: out of memory") : 0;
}

/* ---- reading ---- */

/* Why the function's flows are not all known: the first refusal. */
static uint16_t reason_of(const struct ki_cover *c, const struct cover_function *f,
			  const struct ki_cover_block *blocks)
{
	for (uint32_t b = 0; b < f->nblocks; b++)
		if (blocks[b].how == KI_COVER_UNKNOWN && blocks[b].reason)
			return blocks[b].reason;
	for (uint32_t e = f->first_edge; e < f->first_edge + f->nedges; e++)
		if (c->edges.v[e].rule == KI_EDGE_NONE)
			return c->edges.v[e].reason;
	return KI_R_INDIRECT_EDGE; /* an edge that can have no probe */
}

static void set_block(struct ki_cover_block *b, bool known, uint64_t value, uint16_t reason)
{
	if (b->how == KI_COVER_PROBED)
		return;
	b->how = known ? KI_COVER_IMPLIED : KI_COVER_UNKNOWN;
	b->count = known ? value : 0;
	b->reason = known ? KI_R_OK : b->reason ? b->reason : reason;
}

static void set_edge(struct ki_cover_edge *e, bool known, uint64_t value)
{
	if (e->how == KI_COVER_PROBED)
		return;
	e->how = known ? KI_COVER_IMPLIED : KI_COVER_UNKNOWN;
	e->count = known ? value : 0;
}

int ki_cover_follow(const struct ki_cover *c, const struct cover_function *f,
		    struct ki_cover_block *blocks, struct ki_cover_edge *edges)
{
	const uint32_t n = f->tree.narcs;
	uint64_t *values = calloc(n, sizeof(*values));
	bool *known = calloc(n, sizeof(*known));
	uint16_t reason;
	int ret = values && known ? 0 : -ENOMEM;

	blocks += f->first_block;
	edges += f->first_edge;
	for (uint32_t i = 0; !ret && i < n; i++) {
		bool block = i < f->nblocks;

		known[i] = (block ? blocks[i].how : edges[i - f->nblocks].how) == KI_COVER_PROBED;
		values[i] = block ? blocks[i].count : edges[i - f->nblocks].count;
	}
	if (!ret)
		ret = ki_tree_solve(c->arcs.v + f->tree.first_arc, n, f->tree.nvertices, known,
				    values);
	reason = ret ? KI_R_OK : reason_of(c, f, blocks);
	for (uint32_t i = 0; !ret && i < n; i++) {
		if (i < f->nblocks)
			set_block(&blocks[i], known[i], values[i], reason);
		else
			set_edge(&edges[i - f->nblocks], known[i], values[i]);
	}
	free(values);
	free(known);
	return ret;
}
