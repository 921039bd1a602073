// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edge counts from block counts: graphs that can be looked at with the bare eye.
 */
#include "common_graph.h"

#include <stdlib.h>

static struct ki_edge_counts count(const struct graph *g, const uint64_t *counts)
{
	struct ki_edge_counts ec;
	struct ki_err err = {0};

	assert_int_equal(ki_edge_counts(g->cfg, counts, &ec, &err), 0);
	return ec;
}

static void check_edge(const struct graph *g, const struct ki_edge_counts *ec, uint32_t from,
		       uint32_t to, uint64_t value, bool estimated)
{
	uint32_t e = graph_edge(g, from, to);

	assert_int_equal(ec->edges[e], value);
	assert_int_equal(ec->estimated[e], estimated);
}

static void a_loop_back_to_the_entry(void **state)
{
	static const struct arc arcs[] = {{0, 1, 0}, {1, 0, 0}, {1, OUT, 0}};
	static const uint64_t counts[] = {100, 100}, three[] = {100, 100, 7};
	static const struct arc leaves[] = {{0, 1, 0}, {1, 0, 0}, {1, 2, 0}, {2, OUT, 0}};
	struct ki_edge_counts ec;
	struct graph g;

	(void)state;
	/* how often it came back cannot be known from the blocks alone */
	graph_make(&g, 2, arcs, 3);
	ec = count(&g, counts);
	check_edge(&g, &ec, 0, 1, 100, false);
	check_edge(&g, &ec, 1, 0, 100, true);
	assert_true(ec.entered_estimated);
	assert_int_equal(ec.nestimated, 2);
	ki_edge_counts_free(&ec);
	graph_free(&g);
	/* but it can when the exit is a block of its own */
	graph_make(&g, 3, leaves, 4);
	ec = count(&g, three);
	check_edge(&g, &ec, 1, 0, 93, false);
	assert_int_equal(ec.entered, 7);
	assert_false(ec.entered_estimated);
	assert_int_equal(ec.nestimated, 0);
	ki_edge_counts_free(&ec);
	graph_free(&g);
}

static void a_loop_of_one_block(void **state)
{
	static const struct arc arcs[] = {{0, 1, 0}, {1, 1, 0}, {1, 2, 0}, {2, OUT, 0}};
	static const uint64_t counts[] = {5, 50, 5}, unknown[] = {5, KI_COUNT_UNKNOWN, 5};
	struct ki_edge_counts ec;
	struct graph g;

	(void)state;
	graph_make(&g, 3, arcs, 4);
	ec = count(&g, counts);
	check_edge(&g, &ec, 1, 1, 45, false);
	check_edge(&g, &ec, 1, 2, 5, false);
	ki_edge_counts_free(&ec);
	ec = count(&g, unknown);
	check_edge(&g, &ec, 1, 1, KI_COUNT_UNKNOWN, true);
	check_edge(&g, &ec, 0, 1, 5, false);
	check_edge(&g, &ec, 1, 2, 5, false);
	ki_edge_counts_free(&ec);
	graph_free(&g);
}

/* Two pairs of blocks that share their targets, and one edge between them. */
static void a_bridge(void **state)
{
	static const struct arc arcs[] = {
		{0, 1, 0}, {0, 2, 0},	{0, 5, 0},   {1, 3, 0},	  {1, 4, 0},  {2, 3, 0},
		{2, 4, 0}, {2, 6, 0},	{5, 6, 0},   {5, 7, 0},	  {8, 6, 0},  {8, 7, 0},
		{0, 8, 0}, {3, OUT, 0}, {4, OUT, 0}, {6, OUT, 0}, {7, OUT, 0}};
	/* 1: 3 to 3, 1 to 4; 2: 2 to 3, 5 to 4, 4 to 6; 5: 1 to 6, 6 to 7; 8: 2 to 6, 2 to 7 */
	static const uint64_t counts[] = {26, 4, 11, 5, 6, 7, 7, 8, 4};
	struct ki_edge_counts ec;
	struct graph g;

	(void)state;
	graph_make(&g, 9, arcs, 17);
	ec = count(&g, counts);
	assert_false(ec.inconsistent);
	check_edge(&g, &ec, 2, 6, 4, false);
	check_edge(&g, &ec, 1, 3, 4, true); /* the least of 4 and 5 */
	check_edge(&g, &ec, 2, 4, 6, true); /* of 11 - 4 and 6 */
	assert_int_equal(ec.nestimated, 8);
	ki_edge_counts_free(&ec);
	graph_free(&g);
}

static void calls_and_ends(void **state)
{
	/* 1 calls and goes on; 2 calls what does not return */
	static const struct arc arcs[] = {{0, 1, 0},
					  {0, 2, 0},
					  {1, OUT, KI_EDGE_CALL},
					  {1, OUT, KI_EDGE_TAIL},
					  {2, OUT, KI_EDGE_CALL}};
	static const uint64_t counts[] = {10, 9, 1}, some[] = {10, KI_COUNT_UNKNOWN, 1};
	const uint64_t *both[] = {counts, some};
	struct graph g;

	(void)state;
	graph_make(&g, 3, arcs, 5);
	for (int i = 0; i < 2; i++) {
		struct ki_edge_counts ec = count(&g, both[i]);

		assert_int_equal(ec.edges[2], 9);
		assert_int_equal(ec.edges[3], 9);
		assert_int_equal(ec.edges[4], 1);
		assert_int_equal(ec.nestimated, 0);
		assert_int_equal(ec.entered, 10);
		ki_edge_counts_free(&ec);
	}
	graph_free(&g);
}

static void exceptions(void **state)
{
	/* 0 may fault into 2, which comes back to 1 */
	static const struct arc arcs[] = {
		{0, 1, 0}, {0, 2, KI_EDGE_FIXUP}, {1, OUT, 0}, {2, 1, KI_EDGE_JUMP}};
	static const uint64_t never[] = {10, 10, 0}, thrice[] = {10, 10, 3}, torn[] = {10, 20, 3};
	/* 1 leads to 2 too: without exceptions everything is determined */
	static const struct arc more[] = {
		{0, 1, 0}, {0, 2, KI_EDGE_FIXUP}, {1, 2, 0}, {1, 2, KI_EDGE_FIXUP}, {2, OUT, 0}};
	static const uint64_t same[] = {10, 10, 10}, ended[] = {4, 4, 0};
	/* 1 may fault, and else ends in a trap */
	static const struct arc trap[] = {{0, 1, 0}, {1, 2, KI_EDGE_FIXUP}, {2, OUT, 0}};
	struct ki_edge_counts ec;
	struct graph g;

	(void)state;
	graph_make(&g, 3, arcs, 4);
	ec = count(&g, never);
	check_edge(&g, &ec, 0, 2, 0, false);
	ki_edge_counts_free(&ec);
	ec = count(&g, thrice);
	check_edge(&g, &ec, 0, 2, 3, false);
	check_edge(&g, &ec, 0, 1, 7, false);
	assert_false(ec.inconsistent);
	ki_edge_counts_free(&ec);
	ec = count(&g, torn);
	check_edge(&g, &ec, 0, 2, 0, false);
	assert_true(ec.inconsistent);
	ki_edge_counts_free(&ec);
	graph_free(&g);
	graph_make(&g, 3, more, 5);
	ec = count(&g, same);
	assert_int_equal(ec.nestimated, 0);
	assert_int_equal(ec.edges[2], 10);
	assert_int_equal(ec.edges[3], 0);
	ki_edge_counts_free(&ec);
	graph_free(&g);
	graph_make(&g, 3, trap, 3);
	ec = count(&g, ended);
	assert_false(ec.inconsistent);
	check_edge(&g, &ec, 1, 2, 0, false);
	ki_edge_counts_free(&ec);
	graph_free(&g);
}

static void counts_that_do_not_fit(void **state)
{
	static const struct arc arcs[] = {{0, 1, 0}, {0, 2, 0}, {1, 3, 0}, {2, 3, 0}, {3, OUT, 0}};
	static const uint64_t counts[][4] = {
		{10, 12, 0, 10}, {10, 5, 5, 9}, {0, 1, 1, 2}, {12, 5, 5, 9}};
	struct graph g;

	(void)state;
	graph_make(&g, 4, arcs, 5);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		struct ki_edge_counts ec = count(&g, counts[i]);

		assert_true(ec.inconsistent);
		for (uint32_t e = 0; e < g.fn.nedges; e++)
			assert_true(ec.edges[e] <= 12);
		ki_edge_counts_free(&ec);
	}
	graph_free(&g);
}

/* Each block could be right; only together they cannot. */
static void sums_that_do_not_fit(void **state)
{
	/* 1 and 2 lead to 3 and 4, and nothing else does */
	static const struct arc both[] = {{0, 1, 0}, {0, 2, 0}, {1, 3, 0},   {1, 4, 0},
					  {2, 3, 0}, {2, 4, 0}, {3, OUT, 0}, {4, OUT, 0}};
	static const uint64_t fit[] = {10, 4, 6, 5, 5}, not_fit[] = {10, 4, 6, 5, 7};
	/* 1 leads to 2 more often than it runs; the rest adds up */
	static const struct arc more[] = {{0, 1, 0},   {0, 5, 0},  {1, 2, 0}, {1, 3, 0},
					  {1, 4, 0},   {5, 3, 0},  {5, 4, 0}, {2, OUT, 0},
					  {3, OUT, 0}, {4, OUT, 0}};
	static const uint64_t too_many[] = {13, 3, 5, 4, 4, 10}, enough[] = {13, 3, 2, 5, 6, 10};
	struct graph g, h;
	struct {
		struct graph *g;
		const uint64_t *counts;
		bool inconsistent;
	} rows[] = {
		{&g, fit, false}, {&g, not_fit, true}, {&h, too_many, true}, {&h, enough, false}};

	(void)state;
	graph_make(&g, 5, both, 8);
	graph_make(&h, 6, more, 10);
	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++) {
		struct ki_edge_counts ec = count(rows[i].g, rows[i].counts);

		assert_int_equal(ec.inconsistent, rows[i].inconsistent);
		ki_edge_counts_free(&ec);
	}
	graph_free(&g);
	graph_free(&h);
}

static void nothing_known(void **state)
{
	static const struct arc arcs[] = {{0, 1, 0}, {0, OUT, 0}, {1, OUT, 0}};
	static const uint64_t counts[] = {KI_COUNT_UNKNOWN, KI_COUNT_UNKNOWN},
			      one[] = {KI_COUNT_UNKNOWN, 6};
	struct ki_edge_counts ec;
	struct graph g;

	(void)state;
	graph_make(&g, 2, arcs, 3);
	ec = count(&g, counts);
	assert_int_equal(ec.nestimated, 3);
	assert_true(ec.entered_estimated);
	assert_int_equal(ec.edges[0], KI_COUNT_UNKNOWN);
	ki_edge_counts_free(&ec);
	ec = count(&g, one);
	check_edge(&g, &ec, 0, 1, 6, false);
	check_edge(&g, &ec, 0, OUT, KI_COUNT_UNKNOWN, true);
	ki_edge_counts_free(&ec);
	graph_free(&g);
}

static void a_long_chain_of_unknown(void **state)
{
	enum { N = 100000 };
	struct arc *arcs = malloc(2 * N * sizeof(*arcs));
	uint64_t *counts = malloc(N * sizeof(*counts));
	struct ki_edge_counts ec;
	struct graph g;
	uint32_t m = 0;

	(void)state;
	assert_true(arcs && counts);
	for (uint32_t b = 0; b < N; b++) {
		counts[b] = KI_COUNT_UNKNOWN;
		arcs[m++] = (struct arc){b, b + 1 < N ? b + 1 : OUT, 0};
	}
	counts[N / 2] = 77;
	graph_make(&g, N, arcs, m);
	ec = count(&g, counts);
	assert_int_equal(ec.nestimated, 0);
	assert_int_equal(ec.entered, 77);
	assert_int_equal(ec.edges[N - 1], 77);
	ki_edge_counts_free(&ec);
	graph_free(&g);
	free(arcs);
	free(counts);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_loop_back_to_the_entry),
		cmocka_unit_test(a_loop_of_one_block),
		cmocka_unit_test(a_bridge),
		cmocka_unit_test(calls_and_ends),
		cmocka_unit_test(exceptions),
		cmocka_unit_test(counts_that_do_not_fit),
		cmocka_unit_test(sums_that_do_not_fit),
		cmocka_unit_test(nothing_known),
		cmocka_unit_test(a_long_chain_of_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
