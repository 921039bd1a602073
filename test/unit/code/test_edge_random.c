// SPDX-License-Identifier: GPL-2.0-only
/*
 * Edge counts from block counts. Random walks through random graphs give counts that are true;
 * what the flow equations determine is asked of elimination modulo a prime, which knows of no
 * work lists or bridges: such edges must be exact, and no others may be called so.
 *
 * promise: E3, P21: Edge counts follow exactly from block counts where equations determine them;
 *   else they are called estimates. [test_edge_counts.c, test/guest/cover/coverage.sh]
 */
#include "common_graph.h"

#include <stdlib.h>
#include <string.h>

#define MAX_BLOCKS 10
#define MAX_EDGES  30
#define MAX_VARS   (MAX_EDGES + 2 * MAX_BLOCKS)
#define MAX_ROWS   (2 * MAX_BLOCKS)

/* Arithmetic modulo a prime: a determined variable is determined there too, with bad luck once
 * in 2^61. */
#define PRIME ((1ull << 61) - 1)

static uint64_t mul(uint64_t a, uint64_t b)
{
	return (uint64_t)((unsigned __int128)a * b % PRIME);
}

static uint64_t inverse(uint64_t a)
{
	uint64_t r = 1;

	for (uint64_t e = PRIME - 2; e; e >>= 1, a = mul(a, a))
		if (e & 1)
			r = mul(r, a);
	return r;
}

struct truth {
	const struct graph *g;
	uint64_t blocks[MAX_BLOCKS], edges[MAX_EDGES], entered;
};

struct system {
	uint64_t a[MAX_ROWS][MAX_VARS];
	uint32_t rows, vars, entered; /* the variable that is the number of calls */
};

static bool inner(const struct ki_edge *e)
{
	return e->to_block != OUT && e->kind != KI_EDGE_CALL;
}

static bool is_entry(const struct graph *g, uint32_t b)
{
	for (uint32_t i = 0; b && i < g->fn.nedges; i++)
		if (inner(&g->fn.edges[i]) && g->fn.edges[i].to_block == b)
			return false;
	return true;
}

static void one_row(struct system *s, const struct graph *g, uint32_t b, bool in, bool out)
{
	uint64_t *row = s->a[s->rows++];
	uint32_t entry = g->fn.nedges;

	for (uint32_t i = 0; i < g->fn.nedges; i++) {
		const struct ki_edge *e = &g->fn.edges[i];

		if (e->kind == KI_EDGE_CALL)
			continue;
		if (in && e->to_block == b)
			row[i] += 1;
		if (out && e->block == b)
			row[i] += PRIME - 1;
		row[i] %= PRIME;
	}
	for (uint32_t c = 0; c < g->fn.nblocks; c++) {
		if (!is_entry(g, c))
			continue;
		if (in && c == b)
			row[entry] = 1;
		entry++;
	}
	/* a variable of its own for each block that is left without an edge */
	if (out) {
		bool any = false;

		for (uint32_t i = 0; i < g->fn.nedges; i++)
			any |= g->fn.edges[i].block == b && g->fn.edges[i].kind != KI_EDGE_CALL;
		if (!any)
			row[MAX_EDGES + MAX_BLOCKS + b] = 1;
	}
}

static void eliminate(struct system *s)
{
	uint32_t rank = 0;

	for (uint32_t v = 0; v < MAX_VARS && rank < s->rows; v++) {
		uint32_t p = rank;
		uint64_t inv;

		while (p < s->rows && !s->a[p][v])
			p++;
		if (p == s->rows)
			continue;
		for (uint32_t k = 0; k < MAX_VARS; k++) {
			uint64_t t = s->a[p][k];

			s->a[p][k] = s->a[rank][k];
			s->a[rank][k] = t;
		}
		inv = inverse(s->a[rank][v]);
		for (uint32_t k = 0; k < MAX_VARS; k++)
			s->a[rank][k] = mul(s->a[rank][k], inv);
		for (uint32_t r = 0; r < s->rows; r++) {
			uint64_t factor = s->a[r][v];

			if (r == rank || !factor)
				continue;
			for (uint32_t k = 0; k < MAX_VARS; k++)
				s->a[r][k] =
					(s->a[r][k] + PRIME - mul(factor, s->a[rank][k])) % PRIME;
		}
		rank++;
	}
}

/* Is there a row that has this variable and no other? */
static bool is_determined(const struct system *s, uint32_t var)
{
	for (uint32_t r = 0; r < s->rows; r++) {
		uint32_t others = 0;

		for (uint32_t v = 0; v < MAX_VARS; v++)
			others += v != var && s->a[r][v];
		if (s->a[r][var] && !others)
			return true;
	}
	return false;
}

static void make_system(struct system *s, const struct graph *g, const uint64_t *counts)
{
	memset(s, 0, sizeof(*s));
	s->entered = g->fn.nedges;
	for (uint32_t b = 0; b < g->fn.nblocks; b++) {
		if (counts[b] == KI_COUNT_UNKNOWN) {
			one_row(s, g, b, true, true);
		} else {
			one_row(s, g, b, true, false);
			one_row(s, g, b, false, true);
		}
	}
	eliminate(s);
}

/* From the first block on until the function is left; calls count with their block. */
static void walk(struct truth *t, uint64_t *seed, uint32_t entry)
{
	const struct ki_function *fn = &t->g->fn;
	uint32_t b = entry;

	t->entered += !entry;
	for (uint32_t step = 0;; step++) {
		const struct ki_block *block = &fn->blocks[b];
		uint32_t flows[MAX_EDGES], n = 0, e;

		t->blocks[b]++;
		for (uint32_t i = block->first_edge; i < block->first_edge + block->nedges; i++) {
			if (fn->edges[i].kind == KI_EDGE_CALL)
				t->edges[i]++;
			else
				flows[n++] = i;
		}
		if (!n)
			return;
		/* the last one leads out, or forward: it ends the walk sooner or later */
		e = step > 200 ? flows[n - 1] : flows[graph_random(seed, n)];
		t->edges[e]++;
		if (fn->edges[e].to_block == OUT)
			return;
		b = fn->edges[e].to_block;
	}
}

/* Each block has a way out by its last edge: to the next block, or out of the function. */
static void random_graph(struct graph *g, uint64_t *seed)
{
	uint32_t n = 1 + graph_random(seed, MAX_BLOCKS), m = 0;
	struct arc arcs[MAX_EDGES];

	for (uint32_t b = 0; b < n; b++) {
		uint32_t extra = graph_random(seed, 3);

		for (uint32_t k = 0; k < extra && m + n - b < MAX_EDGES; k++)
			arcs[m++] = (struct arc){b, graph_random(seed, n), 0};
		if (extra && !graph_random(seed, 8))
			arcs[m - 1] = (struct arc){b, OUT, KI_EDGE_CALL};
		if (b + 1 < n && graph_random(seed, 5))
			arcs[m++] = (struct arc){b, b + 1, 0};
		else if (graph_random(seed, 4))
			arcs[m++] = (struct arc){b, OUT, KI_EDGE_TAIL};
	}
	/* a block with edges, but none that leads on, would keep the walk for ever */
	graph_make(g, n, arcs, m);
}

static bool can_leave(const struct graph *g)
{
	for (uint32_t b = 0; b < g->fn.nblocks; b++) {
		const struct ki_block *block = &g->fn.blocks[b];
		const struct ki_edge *last = &g->fn.edges[block->first_edge + block->nedges - 1];

		if (block->nedges && last->kind != KI_EDGE_CALL && last->to_block != OUT &&
		    last->to_block != b + 1)
			return false;
		if (block->nedges && last->kind == KI_EDGE_CALL && block->nedges > 1)
			return false;
	}
	return true;
}

static uint64_t flow_of(const struct graph *g, const struct ki_edge_counts *ec, uint32_t b, bool in,
			bool with_estimates)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < g->fn.nedges; i++) {
		const struct ki_edge *e = &g->fn.edges[i];

		if (e->kind != KI_EDGE_CALL && (in ? e->to_block : e->block) == b &&
		    (with_estimates || !ec->estimated[i]))
			sum += ec->edges[i];
	}
	return sum;
}

/* An estimate is at most what its two ends have left when all exact ones are taken off. */
static void check_estimates(const struct truth *t, const struct ki_edge_counts *ec,
			    const uint64_t *counts)
{
	const struct graph *g = t->g;

	for (uint32_t i = 0; i < g->fn.nedges; i++) {
		const struct ki_edge *e = &g->fn.edges[i];
		uint64_t entered = e->to_block || ec->entered_estimated ? 0 : ec->entered;

		if (!ec->estimated[i])
			continue;
		if (counts[e->block] != KI_COUNT_UNKNOWN)
			assert_true(ec->edges[i] <=
				    counts[e->block] - flow_of(g, ec, e->block, false, false));
		if (e->to_block != OUT && counts[e->to_block] != KI_COUNT_UNKNOWN)
			assert_true(ec->edges[i] <=
				    counts[e->to_block] - entered -
					    flow_of(g, ec, e->to_block, true, false));
	}
}

struct tally {
	size_t exact, estimated, entered;
};

static void check_counts(const struct truth *t, const uint64_t *counts, struct tally *tally)
{
	struct ki_edge_counts ec;
	struct ki_err err = {0};
	struct system s;
	uint32_t nestimated = 0;

	assert_int_equal(ki_edge_counts(t->g->cfg, counts, &ec, &err), 0);
	make_system(&s, t->g, counts);
	assert_false(ec.inconsistent);
	for (uint32_t i = 0; i < t->g->fn.nedges; i++) {
		nestimated += ec.estimated[i];
		if (t->g->fn.edges[i].kind != KI_EDGE_CALL)
			assert_int_equal(!ec.estimated[i], is_determined(&s, i));
		if (!ec.estimated[i])
			assert_int_equal(ec.edges[i], t->edges[i]);
		tally->exact += !ec.estimated[i];
	}
	assert_int_equal(ec.nestimated, nestimated);
	tally->estimated += nestimated;
	assert_int_equal(!ec.entered_estimated, is_determined(&s, s.entered));
	if (!ec.entered_estimated)
		assert_int_equal(ec.entered, t->entered);
	tally->entered += !ec.entered_estimated;
	check_estimates(t, &ec, counts);
	ki_edge_counts_free(&ec);
}

static void random_walks(void **state)
{
	uint64_t seed = 3;
	struct tally known = {0}, partly = {0};
	size_t graphs = 0;

	(void)state;
	while (graphs < 5000) {
		uint64_t counts[MAX_BLOCKS];
		struct truth t = {0};
		struct graph g;

		random_graph(&g, &seed);
		t.g = &g;
		if (!can_leave(&g)) {
			graph_free(&g);
			continue;
		}
		for (uint32_t i = graph_random(&seed, 50); i > 0; i--)
			walk(&t, &seed, 0);
		for (uint32_t b = 1; b < g.fn.nblocks; b++)
			if (is_entry(&g, b))
				walk(&t, &seed, b);
		check_counts(&t, t.blocks, &known);
		for (uint32_t b = 0; b < g.fn.nblocks; b++)
			counts[b] = graph_random(&seed, 4) ? t.blocks[b] : KI_COUNT_UNKNOWN;
		check_counts(&t, counts, &partly);
		graph_free(&g);
		graphs++;
	}
	print_message("all blocks known: %zu edges exact, %zu estimated, %zu entries of %zu; "
		      "three of four: %zu, %zu, %zu\n",
		      known.exact, known.estimated, known.entered, graphs, partly.exact,
		      partly.estimated, partly.entered);
	assert_true(known.exact > 20000 && known.estimated > 1000);
	assert_true(partly.exact > 5000 && partly.estimated > 1000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(random_walks),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
