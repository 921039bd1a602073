// SPDX-License-Identifier: GPL-2.0-only
/*
 * Numbers of paths, for the functions of the C library: all paths are enumerated, each by a walk of
 * its own over the function's edges. What is added on the way, where probes stand, must make each
 * of the numbers 0 to count - 1 once, and the number must be read back as the path.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "common_walk.h"
#include "cover/paths.h"

#define PATHS  20000 /* of functions with more only some are looked at */
#define DRAWN  50
#define BLOCKS 4096

struct census {
	unsigned long functions, refused, unplaced, large, paths, probes, needed, edges;
	uint64_t random;
};

/* A walk over the function itself: which edges lead back is found by looking. */
struct enumeration {
	const struct ki_function *fn;
	const struct ki_path_numbers *p;
	uint32_t blocks[BLOCKS], n;
	uint64_t sum;
	uint8_t *seen; /* of each number */
	bool called;
	unsigned long found;
};

static bool is_call(const struct ki_edge *e)
{
	return e->kind == KI_EDGE_CALL || e->kind == KI_EDGE_CALL_INDIRECT;
}

static const struct path_edge *edge_of(const struct ki_path_numbers *p, uint32_t edge)
{
	for (uint32_t i = 0; i < p->nedges; i++)
		if (p->edges[i].edge == edge && edge != KI_NONE)
			return &p->edges[i];
	return NULL;
}

static void check_path(struct enumeration *e, uint32_t edge, bool back)
{
	struct ki_path path;

	if (e->sum >= e->p->count)
		fail_msg("%s: path %lu of %lu", e->fn->symbol->name, (unsigned long)e->sum,
			 (unsigned long)e->p->count);
	assert_int_equal(e->seen[e->sum], 0);
	e->seen[e->sum] = 1;
	e->found++;
	assert_int_equal(ki_path_of(e->p, e->sum, &path), 0);
	assert_int_equal(path.nblocks, e->n);
	assert_memory_equal(path.blocks, e->blocks, e->n * sizeof(*e->blocks));
	assert_int_equal(path.called, e->called);
	assert_int_equal(path.edge, edge);
	assert_int_equal(path.end, edge == KI_NONE ? KI_PATH_STOPS
				   : back	   ? KI_PATH_BACK
						   : KI_PATH_LEAVES);
	assert_int_equal(path.to, back ? e->fn->edges[edge].to_block : KI_NONE);
	ki_path_free(&path);
}

static void enumerate(struct enumeration *e, uint32_t b)
{
	const struct ki_block *at = &e->fn->blocks[b];
	uint64_t sum = e->sum;
	bool any = false;

	assert_true(e->n < BLOCKS);
	for (uint32_t i = 0; i < e->n; i++) /* a path has no cycle */
		assert_int_not_equal(e->blocks[i], b);
	e->blocks[e->n++] = b;
	for (uint32_t i = at->first_edge; i < at->first_edge + at->nedges; i++) {
		const struct path_edge *pe;

		if (is_call(&e->fn->edges[i]))
			continue;
		any = true;
		pe = edge_of(e->p, i);
		assert_non_null(pe);
		e->sum = sum + pe->step;
		if (pe->kind == PATH_INNER)
			enumerate(e, e->fn->edges[i].to_block);
		else
			check_path(e, i, pe->kind == PATH_BACK);
	}
	if (!any) {
		e->sum = sum + e->p->edges[e->p->first[b]].step;
		check_path(e, KI_NONE, false);
	}
	e->n--;
	e->sum = sum;
}

static void enumerate_all(struct census *c, const struct ki_function *fn,
			  const struct ki_path_numbers *p)
{
	struct enumeration e = {.fn = fn, .p = p, .seen = calloc(p->count, 1)};

	for (uint32_t i = p->first[p->nblocks]; i < p->first[p->nblocks + 1]; i++) {
		e.called = p->edges[i].kind == PATH_ENTRY;
		e.sum = p->edges[i].step;
		enumerate(&e, p->edges[i].to);
	}
	assert_int_equal(e.found, p->count);
	c->paths += e.found;
	free(e.seen);
}

/* Of one path its number again. */
static void check_drawn(struct census *c, const struct ki_path_numbers *p)
{
	uint64_t number, sum;
	struct ki_path path;
	uint32_t at = p->nblocks;
	bool two = false; /* edges to one block: either may be it */

	c->random = c->random * 6364136223846793005ull + 1442695040888963407ull;
	number = (c->random >> 3) % p->count;
	assert_int_equal(ki_path_of(p, number, &path), 0);
	sum = 0;
	for (uint32_t i = 0; i <= path.nblocks; i++) {
		uint32_t to = i < path.nblocks ? path.blocks[i] : p->nblocks;
		const struct path_edge *e = NULL;

		for (uint32_t k = p->first[at]; k < p->first[at + 1]; k++) {
			if (p->edges[k].to != to ||
			    (to == p->nblocks && p->edges[k].edge != path.edge))
				continue;
			two |= e != NULL;
			e = &p->edges[k];
		}
		assert_non_null(e);
		sum += e->step;
		at = to;
	}
	assert_true(two || sum == number);
	ki_path_free(&path);
}

/* Inside, sums stay far from what is taken for no path. */
static void check_steps(struct census *c, const struct ki_path_numbers *p)
{
	for (uint32_t i = 0; i < p->nedges; i++) {
		const struct path_edge *e = &p->edges[i];
		int64_t step = (int64_t)e->step;

		assert_true(step < (int64_t)(KI_PATHS_MOST * 3) &&
			    step > -(int64_t)(KI_PATHS_MOST * 3));
		if (e->kind == PATH_INNER) {
			c->needed += e->step != 0;
			c->edges++;
			assert_true(!e->step || !e->place.reason);
		}
		c->probes += e->kind != PATH_INNER || e->step;
	}
}

static int each(void *arg, size_t i, const struct ki_function *fn)
{
	struct census *c = arg;
	struct ki_path_numbers *p;
	struct ki_spans spans;
	struct ki_err err = {0};

	(void)i;
	if (fn->reason || !fn->nblocks)
		return 0;
	if (ki_path_numbers_new(fn, &p, &err)) {
		assert_true(*err.msg);
		c->refused++;
		return 0;
	}
	assert_int_equal(ki_spans_find(fn, &spans, &err), 0);
	if (ki_paths_spread(p, fn, &spans, &err)) {
		assert_true(*err.msg);
		c->unplaced++;
	} else {
		c->functions++;
		check_steps(c, p);
		for (int k = 0; k < DRAWN; k++)
			check_drawn(c, p);
		if (p->count <= PATHS)
			enumerate_all(c, fn, p);
		else
			c->large++;
	}
	ki_spans_free(&spans);
	ki_path_numbers_free(p);
	return 0;
}

static void test_library(void **state)
{
	struct census c = {.random = 1};

	(void)state;
	walk_functions(each, &c);
	print_message("# %lu functions (%lu not numbered, %lu without a place that is needed), %lu "
		      "with many paths; %lu paths; %lu of %lu edges have a step; %lu probes\n",
		      c.functions, c.refused, c.unplaced, c.large, c.paths, c.needed, c.edges,
		      c.probes);
	assert_true(c.functions > 1000);
	assert_true(c.paths > 10000);
	assert_true(c.needed < c.edges / 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_library)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
