// SPDX-License-Identifier: GPL-2.0-only
/*
 * Dominators and loops, compared with what their definitions say, on random graphs: a block
 * dominates what cannot be reached without it; loops are the strongly connected parts, and those
 * that are left of each when the edges to its header are taken out.
 */
#include "common_graph.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#define MAX 24

struct oracle {
	const struct graph *g;
	uint32_t n;
	bool entry[MAX], reached[MAX];
	bool path[MAX][MAX]; /* one step or more */
	uint32_t place[MAX]; /* in reverse postorder */
};

static bool inner(const struct ki_edge *e)
{
	return e->to_block != OUT && e->kind != KI_EDGE_CALL;
}

/* What can be reached from the entries without `without`. */
static void flood(const struct oracle *o, uint32_t without, bool seen[MAX])
{
	bool more = true;

	for (uint32_t b = 0; b < o->n; b++)
		seen[b] = o->entry[b] && b != without;
	while (more) {
		more = false;
		for (uint32_t i = 0; i < o->g->fn.nedges; i++) {
			const struct ki_edge *e = &o->g->fn.edges[i];

			if (!inner(e) || !seen[e->block] || e->to_block == without ||
			    seen[e->to_block])
				continue;
			seen[e->to_block] = more = true;
		}
	}
}

static void ask(struct oracle *o, const struct graph *g)
{
	*o = (struct oracle){.g = g, .n = g->fn.nblocks};
	for (uint32_t b = 0; b < o->n; b++) {
		o->entry[b] = true;
		for (uint32_t i = 0; i < g->fn.nedges; i++)
			if (b && inner(&g->fn.edges[i]) && g->fn.edges[i].to_block == b)
				o->entry[b] = false;
	}
	flood(o, OUT, o->reached);
	for (uint32_t i = 0; i < o->n; i++)
		o->place[g->cfg->rpo[i]] = i;
}

static void check_order(const struct oracle *o)
{
	const struct ki_cfg *cfg = o->g->cfg;
	bool seen[MAX] = {0};
	uint32_t entries = 0;

	for (uint32_t i = 0; i < o->n; i++) {
		assert_true(cfg->rpo[i] < o->n);
		assert_false(seen[cfg->rpo[i]]);
		seen[cfg->rpo[i]] = true;
		assert_int_equal(o->reached[cfg->rpo[i]], i < cfg->nreached);
		entries += o->entry[i];
	}
	assert_int_equal(cfg->rpo[0], 0);
	for (uint32_t i = 0; i < entries; i++)
		assert_true(o->entry[cfg->rpo[i]]);
}

static void check_preds(const struct oracle *o)
{
	const struct ki_cfg *cfg = o->g->cfg;
	uint32_t n = 0;

	for (uint32_t b = 0; b < o->n; b++)
		for (uint32_t i = cfg->pred_first[b]; i < cfg->pred_first[b + 1]; i++)
			assert_int_equal(o->g->fn.edges[cfg->preds[i]].to_block, b);
	for (uint32_t i = 0; i < o->g->fn.nedges; i++)
		n += inner(&o->g->fn.edges[i]);
	assert_int_equal(cfg->pred_first[0], 0);
	assert_int_equal(cfg->pred_first[o->n], n);
}

static void check_dominators(const struct oracle *o)
{
	const struct ki_cfg *cfg = o->g->cfg;
	bool dom[MAX][MAX];

	for (uint32_t a = 0; a < o->n; a++) {
		bool without[MAX];

		flood(o, a, without);
		for (uint32_t b = 0; b < o->n; b++) {
			dom[a][b] = o->reached[a] && o->reached[b] && !without[b];
			assert_int_equal(ki_cfg_dominates(cfg, a, b), dom[a][b]);
		}
	}
	/* the immediate one is dominated by all others */
	for (uint32_t b = 0; b < o->n; b++) {
		uint32_t idom = KI_NONE;

		for (uint32_t a = 0; a < o->n; a++)
			if (a != b && dom[a][b] && (idom == KI_NONE || dom[idom][a]))
				idom = a;
		assert_int_equal(cfg->idom[b], idom);
	}
}

/* Paths of one step or more between members. cut[b]: edges to b do not count. */
static void find_paths(struct oracle *o, const bool *member, const bool *cut)
{
	memset(o->path, 0, sizeof(o->path));
	for (uint32_t i = 0; i < o->g->fn.nedges; i++) {
		const struct ki_edge *e = &o->g->fn.edges[i];

		if (inner(e) && member[e->block] && member[e->to_block] && !cut[e->to_block])
			o->path[e->block][e->to_block] = true;
	}
	for (uint32_t k = 0; k < o->n; k++)
		for (uint32_t i = 0; i < o->n; i++)
			for (uint32_t j = 0; j < o->n; j++)
				o->path[i][j] |= o->path[i][k] && o->path[k][j];
}

static bool is_entered(const struct oracle *o, const bool *part, uint32_t header)
{
	for (uint32_t i = 0; i < o->g->fn.nedges; i++) {
		const struct ki_edge *e = &o->g->fn.edges[i];

		if (inner(e) && part[e->to_block] && !part[e->block] && o->reached[e->block] &&
		    e->to_block != header)
			return true;
	}
	return false;
}

static uint32_t check_loop(struct oracle *o, const bool *part, uint32_t parent, bool *found)
{
	const struct ki_cfg *cfg = o->g->cfg;
	uint32_t header = KI_NONE, size = 0, l = 0;

	for (uint32_t b = 0; b < o->n; b++) {
		size += part[b];
		if (part[b] && (header == KI_NONE || o->place[b] < o->place[header]))
			header = b;
	}
	while (l < cfg->nloops && cfg->loops[l].header != header)
		l++;
	assert_true(l < cfg->nloops);
	assert_false(found[l]);
	found[l] = true;
	assert_int_equal(cfg->loops[l].parent, parent);
	assert_true(parent == KI_NONE || parent < l);
	assert_int_equal(cfg->loops[l].depth, parent == KI_NONE ? 1 : cfg->loops[parent].depth + 1);
	assert_int_equal(cfg->loops[l].nblocks, size);
	assert_int_equal(cfg->loops[l].irreducible, is_entered(o, part, header));
	return l;
}

/* Strongly connected parts among the members, each one loop, then what is inside. */
static uint32_t check_parts(struct oracle *o, const bool *member, const bool *cut, uint32_t parent,
			    bool *found, uint32_t *innermost)
{
	bool done[MAX] = {0}, path[MAX][MAX];
	uint32_t n = 0;

	find_paths(o, member, cut);
	memcpy(path, o->path, sizeof(path));
	for (uint32_t b = 0; b < o->n; b++) {
		bool part[MAX], inside[MAX];
		uint32_t l;

		if (!member[b] || done[b] || !path[b][b])
			continue;
		for (uint32_t c = 0; c < o->n; c++) {
			part[c] = path[b][c] && path[c][b];
			done[c] |= part[c];
		}
		l = check_loop(o, part, parent, found);
		memcpy(inside, cut, sizeof(inside));
		inside[o->g->cfg->loops[l].header] = true;
		for (uint32_t c = 0; c < o->n; c++)
			if (part[c])
				innermost[c] = l;
		n += 1 + check_parts(o, part, inside, l, found, innermost);
	}
	return n;
}

static void check_loops(struct oracle *o)
{
	bool none[MAX] = {0}, found[MAX] = {0};
	uint32_t innermost[MAX];

	memset(innermost, 0xff, sizeof(innermost));
	assert_int_equal(check_parts(o, o->reached, none, KI_NONE, found, innermost),
			 o->g->cfg->nloops);
	for (uint32_t b = 0; b < o->n; b++)
		assert_int_equal(o->g->cfg->loop_of[b], innermost[b]);
}

static void check_graph(const struct graph *g)
{
	struct oracle o;

	ask(&o, g);
	check_order(&o);
	check_preds(&o);
	check_dominators(&o);
	check_loops(&o);
}

static void random_graphs(void **state)
{
	uint64_t seed = 1;
	size_t loops = 0, irreducible = 0, unreached = 0, deepest = 0;

	(void)state;
	for (int round = 0; round < 20000; round++) {
		uint32_t n = 1 + graph_random(&seed, MAX), m = graph_random(&seed, 3 * n + 1);
		struct arc arcs[3 * MAX];
		struct graph g;

		for (uint32_t i = 0; i < m; i++) {
			/* near ones are more likely, as in code */
			uint32_t from = graph_random(&seed, n), far = graph_random(&seed, 2);
			uint32_t to =
				far ? graph_random(&seed, n) : (from + graph_random(&seed, 4)) % n;

			arcs[i] = (struct arc){from, to, 0};
			if (!graph_random(&seed, 10))
				arcs[i].to = OUT;
			if (!graph_random(&seed, 20))
				arcs[i].kind = KI_EDGE_CALL;
		}
		graph_make(&g, n, arcs, m);
		check_graph(&g);
		loops += g.cfg->nloops;
		unreached += n - g.cfg->nreached;
		for (uint32_t l = 0; l < g.cfg->nloops; l++) {
			irreducible += g.cfg->loops[l].irreducible;
			if (g.cfg->loops[l].depth > deepest)
				deepest = g.cfg->loops[l].depth;
		}
		graph_free(&g);
	}
	print_message("%zu loops, %zu irreducible, %zu deep, %zu blocks not reached\n", loops,
		      irreducible, deepest, unreached);
	assert_true(loops > 10000 && irreducible > 1000 && deepest >= 5 && unreached > 1000);
}

/* Sequences, branches and loops put into each other: what structured code is. */
static void structured_graphs(void **state)
{
	uint64_t seed = 7;

	(void)state;
	for (int round = 0; round < 5000; round++) {
		struct arc arcs[3 * MAX];
		uint32_t n = 1, m = 0, open[MAX], nopen = 0;
		struct graph g;

		while (n < MAX - 1) {
			uint32_t what = graph_random(&seed, 4);

			arcs[m++] = (struct arc){n - 1, n, 0};
			if (what == 0)
				open[nopen++] = n;
			else if (what == 1 && nopen)
				arcs[m++] = (struct arc){n, open[--nopen], 0};
			else if (what == 2 && n > 2)
				arcs[m++] = (struct arc){n - 2, n, 0};
			n++;
		}
		arcs[m++] = (struct arc){n - 1, OUT, 0};
		graph_make(&g, n, arcs, m);
		check_graph(&g);
		graph_free(&g);
	}
}

static void one_of_each(void **state)
{
	/* 0 -> 1 <-> 2, 1 -> 3 with itself, 3 -> 0; 4 enters the loop of 1 at 2; 5 <-> 6 alone */
	static const struct arc arcs[] = {{0, 1, 0}, {1, 2, 0}, {2, 1, 0},   {1, 3, 0}, {3, 3, 0},
					  {3, 0, 0}, {4, 2, 0}, {3, OUT, 0}, {5, 6, 0}, {6, 5, 0}};
	struct graph g;

	(void)state;
	graph_make(&g, 7, arcs, 10);
	check_graph(&g);
	assert_int_equal(g.cfg->nreached, 5);
	assert_int_equal(g.cfg->nloops, 3);
	assert_int_equal(g.cfg->loops[0].header, 0);
	assert_int_equal(g.cfg->loops[0].nblocks, 4);
	assert_true(g.cfg->loops[0].irreducible);
	assert_int_equal(g.cfg->loops[g.cfg->loop_of[2]].header, 1);
	assert_true(g.cfg->loops[g.cfg->loop_of[2]].irreducible);
	assert_int_equal(g.cfg->loops[g.cfg->loop_of[3]].header, 3);
	assert_false(g.cfg->loops[g.cfg->loop_of[3]].irreducible);
	assert_int_equal(g.cfg->idom[2], KI_NONE);
	assert_int_equal(g.cfg->loop_of[5], KI_NONE);
	graph_free(&g);
	graph_make(&g, 0, NULL, 0);
	assert_int_equal(g.cfg->nreached, 0);
	graph_free(&g);
}

#define BIG 100000

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static uint32_t chain(struct arc *arcs, uint32_t m, uint32_t from, uint32_t to)
{
	for (uint32_t i = from; i < to; i++)
		arcs[m++] = (struct arc){i, i + 1, 0};
	return m;
}

/* The shapes below cost an algorithm that is quadratic somewhere 10^9 steps and more. */

static uint32_t plain_chain(struct arc *arcs)
{
	return chain(arcs, 0, 0, BIG - 1);
}

static uint32_t nested_loops(struct arc *arcs)
{
	uint32_t m = chain(arcs, 0, 0, BIG - 1);

	for (uint32_t i = 0; i < BIG / 2; i++)
		arcs[m++] = (struct arc){BIG - 1 - i, i, 0};
	return m;
}

/* Every loop of a deep nest is entered in its innermost block, from blocks before all of them. */
static uint32_t entered_nest(struct arc *arcs)
{
	uint32_t m = nested_loops(arcs);

	for (uint32_t i = 0; i < BIG / 2; i++)
		arcs[m++] = (struct arc){i, BIG / 2, 0};
	return m;
}

/* The end of a long chain and its beginning share many targets. */
static uint32_t two_tables(struct arc *arcs)
{
	uint32_t m = chain(arcs, 0, 0, BIG / 2);

	for (uint32_t i = BIG / 2 + 1; i < BIG; i++) {
		arcs[m++] = (struct arc){BIG / 2, i, 0};
		arcs[m++] = (struct arc){0, i, 0};
	}
	return m;
}

/* Two chains side by side with edges to and fro: no block is the header of anything. */
static uint32_t ladder(struct arc *arcs)
{
	uint32_t m = 0;

	arcs[m++] = (struct arc){0, 1, 0};
	arcs[m++] = (struct arc){0, 2, 0};
	for (uint32_t i = 1; i + 3 < BIG; i++) {
		arcs[m++] = (struct arc){i, i + 2, 0};
		arcs[m++] = (struct arc){i + 2, i, 0};
		if (i % 2) {
			arcs[m++] = (struct arc){i, i + 1, 0};
			arcs[m++] = (struct arc){i + 1, i, 0};
		}
	}
	return m;
}

static void hostile_graphs(void **state)
{
	static const struct {
		const char *name;
		uint32_t (*make)(struct arc *arcs);
	} shapes[] = {{"chain", plain_chain},
		      {"nested loops", nested_loops},
		      {"nested loops that are entered", entered_nest},
		      {"two tables", two_tables},
		      {"ladder", ladder}};
	struct arc *arcs = malloc(3 * BIG * sizeof(*arcs));

	(void)state;
	assert_non_null(arcs);
	for (size_t i = 0; i < sizeof(shapes) / sizeof(*shapes); i++) {
		uint32_t m = shapes[i].make(arcs);
		double start = seconds(), took;
		struct graph g;

		graph_make(&g, BIG, arcs, m);
		took = seconds() - start;
		print_message("%s: %u blocks, %u edges, %u loops, %.3f s\n", shapes[i].name, BIG, m,
			      g.cfg->nloops, took);
		assert_true(took < 3);
		if (shapes[i].make == entered_nest) {
			assert_int_equal(g.cfg->nloops, BIG / 2);
			assert_true(g.cfg->loops[BIG / 2 - 2].irreducible);
			assert_false(g.cfg->loops[0].irreducible);
		}
		graph_free(&g);
	}
	free(arcs);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_graphs),
		cmocka_unit_test(structured_graphs),
		cmocka_unit_test(one_of_each),
		cmocka_unit_test(hostile_graphs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
