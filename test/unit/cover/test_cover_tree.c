// SPDX-License-Identifier: GPL-2.0-only
/*
 * Counts that tell others: for every function of the C library, random walks through its graph.
 * What is computed from the blocks and edges with probes must be what was walked, and fewer probes
 * are to be needed than without.
 *
 * A walk does what a thread may do: it begins at the entry, or where other code jumps to, or in the
 * middle of a block where it has slept since before there were probes; takes any edge; and may end
 * for ever in the middle of a block that has a call or an instruction that may fault.
 *
 * promise: N2: Counters only off a spanning tree give exact counts of all blocks and edges.
 *   [coverage_witness.sh]
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common_walk.h"
#include "cover/tree.h"

#define WALKS 8
#define STEPS 5000
#define WAYS  64

struct census {
	unsigned long functions, blocks, probes, flows, without, known, hit, open, refused;
	uint64_t random;
	bool edges;
};

/* One function: of each flow how often it was walked, and what is said of it. */
struct room {
	const struct ki_function *fn;
	struct ki_tree tree;
	uint32_t *flow_of; /* of each edge */
	uint64_t *walked, *now, *said;
	bool *known;
};

static bool is_call(const struct ki_edge *e)
{
	return e->kind == KI_EDGE_CALL || e->kind == KI_EDGE_CALL_INDIRECT;
}

static uint32_t next(struct census *c, struct room *r, const struct ki_block *at)
{
	const struct ki_function *fn = r->fn;
	uint32_t ways[WAYS], n = 0, way;

	for (uint32_t e = at->first_edge; e < at->first_edge + at->nedges && n < WAYS; e++)
		if (!is_call(&fn->edges[e]))
			ways[n++] = e;
	if (!n)
		return KI_NONE;
	way = ways[walk_draw(&c->random, n)];
	if (c->edges)
		r->now[r->flow_of[way]]++;
	return fn->edges[way].to_block;
}

/* A walk that has not ended in time is none: its thread would still be there. */
static void walk(struct census *c, struct room *r)
{
	const struct ki_function *fn = r->fn;
	uint32_t b = walk_draw(&c->random, fn->nblocks);
	bool sleeper = walk_may_stop(fn, &fn->blocks[b]) && walk_draw(&c->random, 4) == 0;

	memset(r->now, 0, r->tree.nflows * sizeof(*r->now));
	if (!sleeper && (!fn->blocks[b].entered || walk_draw(&c->random, 2)))
		b = 0;
	for (int i = 0; i < STEPS && b != KI_NONE; i++, sleeper = false) {
		r->now[b] += !sleeper;
		if (!sleeper && walk_may_stop(fn, &fn->blocks[b]) && walk_draw(&c->random, 8) == 0)
			b = KI_NONE;
		else
			b = next(c, r, &fn->blocks[b]);
	}
	for (uint32_t f = 0; b == KI_NONE && f < r->tree.nflows; f++)
		r->walked[f] += r->now[f];
}

/* refuse: of so many probes one is not there. */
static void check(struct census *c, struct room *r, uint32_t refuse)
{
	const struct ki_tree *t = &r->tree;

	for (uint32_t f = 0; f < t->nflows; f++) {
		r->known[f] = t->probe[f] && (!refuse || walk_draw(&c->random, refuse));
		r->said[f] = r->known[f] ? r->walked[f] : 0;
		c->refused += t->probe[f] && !r->known[f];
	}
	assert_int_equal(ki_tree_solve(t->arcs, t->nflows, t->nvertices, r->known, r->said), 0);
	for (uint32_t f = 0; f < t->nflows; f++) {
		if (!refuse && t->possible[f] && !r->known[f])
			fail_msg("%s: flow %u is not known", r->fn->symbol->name, f);
		c->open += !r->known[f];
		c->known += r->known[f];
		c->hit += r->known[f] && r->walked[f];
		if (r->known[f] && r->said[f] != r->walked[f])
			fail_msg("%s: flow %u of %u, %u blocks: %lu, walked %lu",
				 r->fn->symbol->name, f, t->nflows, r->fn->nblocks,
				 (unsigned long)r->said[f], (unsigned long)r->walked[f]);
	}
}

static bool has_place(const struct ki_function *fn, const struct ki_spans *spans, bool edge,
		      uint32_t n)
{
	const struct ki_point pt = {
		.kind = edge ? KI_POINT_EDGE : KI_POINT_BLOCK, .block = n, .edge = n};
	struct ki_err err = {0};
	struct ki_place *v;
	size_t k;
	bool has;

	assert_int_equal(ki_point_places(fn, spans, &pt, &v, &k, &err), 0);
	has = !v->reason;
	free(v);
	return has;
}

/* Places of probes, and how many there were if each block and each edge that is no block's had one.
 */
static void find_places(struct census *c, struct room *r, const struct ki_spans *spans)
{
	const struct ki_function *fn = r->fn;
	uint8_t *rules = calloc(fn->nedges + (size_t)1, 1);
	uint32_t f = 0;

	assert_int_equal(ki_cover_edge_rules(fn, rules), 0);
	for (; f < fn->nblocks; f++) {
		r->tree.possible[f] = has_place(fn, spans, false, f);
		c->without += r->tree.possible[f];
	}
	for (uint32_t e = 0; c->edges && e < fn->nedges; e++) {
		if (is_call(&fn->edges[e]))
			continue;
		r->flow_of[e] = f;
		r->tree.possible[f] = has_place(fn, spans, true, e);
		c->without += r->tree.possible[f] && rules[f - fn->nblocks] == KI_EDGE_PROBE;
		f++;
	}
	assert_int_equal(f, r->tree.nflows);
	free(rules);
}

static void choose(struct census *c, struct room *r)
{
	struct ki_err err = {0};
	struct ki_spans spans;
	struct ki_cfg *cfg;
	size_t n;

	assert_int_equal(ki_cfg_new(r->fn, &cfg, &err), 0);
	assert_int_equal(ki_tree_new(r->fn, cfg, c->edges, &r->tree), 0);
	n = r->tree.nflows + (size_t)1;
	r->flow_of = calloc(r->fn->nedges + (size_t)1, sizeof(*r->flow_of));
	r->walked = calloc(3 * n, sizeof(*r->walked));
	r->now = r->walked + n;
	r->said = r->now + n;
	r->known = calloc(n, sizeof(*r->known));
	assert_int_equal(ki_spans_find(r->fn, &spans, &err), 0);
	find_places(c, r, &spans);
	assert_int_equal(ki_tree_choose(r->fn, cfg, &r->tree), 0);
	ki_spans_free(&spans);
	ki_cfg_free(cfg);
}

static int each(void *arg, size_t i, const struct ki_function *fn)
{
	struct census *c = arg;
	struct room r = {.fn = fn};
	unsigned long before = c->probes, without = c->without;

	(void)i;
	if (!fn->nblocks || fn->reason || !ki_cover_plain(fn))
		return 0;
	choose(c, &r);
	for (uint32_t f = 0; f < r.tree.nflows; f++)
		c->probes += r.tree.probe[f];
	if (!c->edges && c->probes - before > c->without - without)
		fail_msg("%s needs more probes", fn->symbol->name);
	for (int k = 0; k < WALKS; k++) {
		check(c, &r, 0);
		for (int n = 0; n < 4; n++)
			walk(c, &r);
	}
	check(c, &r, 0);
	check(c, &r, 8);
	c->functions++;
	c->blocks += fn->nblocks;
	c->flows += r.tree.nflows;
	ki_tree_free(&r.tree);
	free(r.flow_of);
	free(r.walked);
	free(r.known);
	return 0;
}

static void walk_library(struct census *c)
{

	walk_functions(each, c);
	print_message("# %s: %lu functions, %lu blocks, %lu flows; %lu probes, %lu without; "
		      "%lu times known, %lu not, %lu hit; %lu probes refused\n",
		      c->edges ? "edges" : "blocks", c->functions, c->blocks, c->flows, c->probes,
		      c->without, c->known, c->open, c->hit, c->refused);
	assert_true(c->functions > 1000);
	assert_true(c->hit > 10000);
	assert_true(c->refused > 1000);
	assert_true(c->probes < c->without);
}

static void test_blocks(void **state)
{
	struct census c = {.random = 1};

	(void)state;
	walk_library(&c);
}

static void test_edges(void **state)
{
	struct census c = {.random = 2, .edges = true};

	(void)state;
	walk_library(&c);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_blocks),
					   cmocka_unit_test(test_edges)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
