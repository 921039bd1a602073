// SPDX-License-Identifier: GPL-2.0-only
/*
 * Which blocks need probes, and what these say of the others: for every function of the C library,
 * random walks through its graph. What is inferred from the blocks with probes must be what was
 * walked.
 *
 * A walk does what a thread may do: it begins at the entry, or where other code jumps to, takes any
 * edge, and may end for ever in the middle of a block that is not straight (it sleeps, it faults, a
 * call does not come back).
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common_walk.h"
#include "cover/choice.h"

#define WALKS 6
#define STEPS 5000
#define WAYS  64

struct census {
	unsigned long functions, blocks, probes, implied, hit;
	uint64_t random;
};

struct room {
	struct ki_place *places;
	uint8_t *rules;
	bool *seen, *now;
	struct ki_way *ways;
	struct ki_cover_block *blocks;
};

static uint32_t begin(struct census *c, const struct ki_function *fn)
{
	uint32_t b = walk_draw(&c->random, fn->nblocks);

	return fn->blocks[b].entered && walk_draw(&c->random, 2) ? b : 0;
}

static uint32_t next(struct census *c, const struct ki_function *fn, const struct ki_block *at)
{
	uint32_t ways[WAYS], n = 0;

	for (uint32_t e = at->first_edge; e < at->first_edge + at->nedges && n < WAYS; e++)
		if (fn->edges[e].kind != KI_EDGE_CALL && fn->edges[e].kind != KI_EDGE_CALL_INDIRECT)
			ways[n++] = fn->edges[e].to_block;
	return n ? ways[walk_draw(&c->random, n)] : KI_NONE;
}

/* A walk that has not ended in time is none: its thread would still be there. */
static void walk(struct census *c, const struct ki_function *fn, struct room *r)
{
	uint32_t b = begin(c, fn);

	memset(r->now, 0, fn->nblocks);
	for (int i = 0; i < STEPS && b != KI_NONE; i++) {
		r->now[b] = true;
		if (walk_may_stop(fn, &fn->blocks[b]) && walk_draw(&c->random, 8) == 0)
			b = KI_NONE;
		else
			b = next(c, fn, &fn->blocks[b]);
	}
	for (uint32_t k = 0; b == KI_NONE && k < fn->nblocks; k++)
		r->seen[k] |= r->now[k];
}

static void check(struct census *c, const struct ki_function *fn, struct room *r)
{
	struct ki_inference in = {
		.nblocks = fn->nblocks, .rules = r->rules, .edges = r->ways, .blocks = r->blocks};

	for (uint32_t e = 0; e < fn->nedges; e++)
		if (fn->edges[e].to_block != KI_NONE)
			r->ways[in.nedges++] =
				(struct ki_way){fn->edges[e].block, fn->edges[e].to_block};
	for (uint32_t b = 0; b < fn->nblocks; b++) {
		bool probe = r->rules[b] == KI_RULE_PROBE;

		r->blocks[b] = (struct ki_cover_block){
			.count = probe && r->seen[b],
			.how = probe ? KI_COVER_PROBED : KI_COVER_UNKNOWN,
			.reason = probe ? KI_R_OK : KI_R_BAD_SLOT,
		};
		c->probes += probe;
		c->implied += r->rules[b] > KI_RULE_PROBE;
	}
	ki_cover_infer(&in);
	for (uint32_t b = 0; b < fn->nblocks; b++) {
		if (r->rules[b] == KI_RULE_NONE)
			continue;
		c->hit += r->seen[b];
		if (r->blocks[b].how == KI_COVER_UNKNOWN || r->blocks[b].count != r->seen[b])
			fail_msg("%s: block %u of %u, rule %u: %u, walked %d", fn->symbol->name, b,
				 fn->nblocks, r->rules[b], (unsigned int)r->blocks[b].count,
				 r->seen[b]);
	}
}

static int each(void *arg, size_t i, const struct ki_function *fn)
{
	struct census *c = arg;
	struct ki_spans spans;
	struct ki_err err = {0};
	size_t n = fn->nblocks + 1;
	struct room r = {calloc(n, sizeof(*r.places)),
			 calloc(n, 1),
			 calloc(n, 1),
			 calloc(n, 1),
			 calloc(fn->nedges + 1, sizeof(*r.ways)),
			 calloc(n, sizeof(*r.blocks))};

	if (fn->nblocks && !fn->reason) {
		assert_int_equal(ki_spans_find(fn, &spans, &err), 0);
		assert_int_equal(ki_cover_choose(fn, &spans, i & 1, r.rules, r.places, &err), 0);
		for (int k = 0; k < WALKS; k++) {
			check(c, fn, &r);
			walk(c, fn, &r);
		}
		check(c, fn, &r);
		c->functions++;
		c->blocks += fn->nblocks;
		ki_spans_free(&spans);
	}
	free(r.places);
	free(r.rules);
	free(r.seen);
	free(r.now);
	free(r.ways);
	free(r.blocks);
	return 0;
}

static void test_walks(void **state)
{
	struct census c = {.random = 1};

	(void)state;
	walk_functions(each, &c);
	print_message("# %lu functions, %lu blocks; %lu times probed, %lu implied, %lu hit\n",
		      c.functions, c.blocks, c.probes, c.implied, c.hit);
	assert_true(c.functions > 1000);
	assert_true(c.implied > 10000);
	assert_true(c.hit > 10000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_walks)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
