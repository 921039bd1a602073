// SPDX-License-Identifier: GPL-2.0-only
/*
 * Orders of blocks: known shapes have known best orders; of small graphs made at random no order is
 * better by much, which trying all of them shows; and cold blocks stay after hot ones, as they
 * were.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "common_exec.h"
#include "kerninst/evolve.h"
#include "util/welch.h"

#define BLOCKS 7

struct shape {
	struct ki_lay_block blocks[BLOCKS];
	struct ki_lay_edge edges[16];
	struct ki_lay_graph g;
};

static void order_is(struct shape *s, uint32_t n, uint32_t m, uint64_t hot, const uint32_t *wanted,
		     uint32_t wanted_hot)
{
	uint32_t order[BLOCKS], nhot;

	s->g = (struct ki_lay_graph){s->blocks, s->edges, n, m};
	assert_int_equal(ki_lay_ext_tsp(&s->g, hot, order, &nhot), 0);
	assert_int_equal(nhot, wanted_hot);
	assert_memory_equal(order, wanted, n * sizeof(*order));
}

static void known_shapes(void **state)
{
	/* if (rare) {...}: out of the way */
	static struct shape rare = {
		{{20, 100}, {20, 1}, {20, 100}}, {{0, 1, 1}, {0, 2, 99}, {1, 2, 1}}, {0}};
	static const uint32_t rare_is[] = {0, 2, 1};
	/* while (...) with its test at the top: the test goes after the body */
	static struct shape loop = {{{10, 10}, {20, 1000}, {30, 990}, {10, 10}},
				    {{0, 1, 10}, {1, 2, 990}, {1, 3, 2}, {2, 1, 990}},
				    {0}};
	static const uint32_t loop_is[] = {0, 1, 2, 3};
	/* the way that is taken stands after one that is not */
	static struct shape far = {
		{{10, 100}, {500, 0}, {500, 0}, {10, 100}, {500, 0}, {10, 100}},
		{{0, 1, 0}, {0, 3, 100}, {1, 2, 0}, {2, 3, 0}, {3, 4, 0}, {3, 5, 100}, {4, 5, 0}},
		{0}};
	static const uint32_t far_is[] = {0, 3, 5, 1, 2, 4};

	(void)state;
	order_is(&rare, 3, 3, 1, rare_is, 2);
	order_is(&rare, 3, 3, 0, rare_is, 3);
	order_is(&loop, 4, 4, 1, loop_is, 4);
	order_is(&far, 6, 7, 5, far_is, 3);
}

static double best_of(const struct ki_lay_graph *g, uint32_t *order, uint32_t from)
{
	double best = from == g->nblocks && !order[0] ? ki_lay_score(g, order, g->nblocks) : 0;

	for (uint32_t i = from; i < g->nblocks; i++) {
		uint32_t t = order[from];
		double score;

		order[from] = order[i];
		order[i] = t;
		score = best_of(g, order, from + 1);
		best = score > best ? score : best;
		order[i] = order[from];
		order[from] = t;
	}
	return best;
}

static void random_shape(struct shape *s)
{
	s->g = (struct ki_lay_graph){s->blocks, s->edges, BLOCKS, 0};
	for (uint32_t i = 0; i < BLOCKS; i++)
		s->blocks[i] =
			(struct ki_lay_block){(uint32_t)(exec_random() >> 40) % 90 + 5, 1000};
	for (uint32_t i = 0; i < BLOCKS; i++) {
		uint32_t a = (uint32_t)(exec_random() >> 33) % BLOCKS;
		uint32_t b = (uint32_t)(exec_random() >> 33) % BLOCKS;
		uint64_t n = (exec_random() >> 33) % 1000;

		s->edges[s->g.nedges++] = (struct ki_lay_edge){i, a, n};
		if (b != a)
			s->edges[s->g.nedges++] = (struct ki_lay_edge){i, b, 1000 - n};
	}
}

static void no_order_is_much_better(void **state)
{
	double sum = 0, worst = 1;
	const int rounds = 150;

	(void)state;
	for (int i = 0; i < rounds; i++) {
		uint32_t order[BLOCKS], nhot, all[BLOCKS];
		struct shape s;
		double got, best;

		random_shape(&s);
		for (uint32_t k = 0; k < BLOCKS; k++)
			all[k] = k;
		assert_int_equal(ki_lay_ext_tsp(&s.g, 0, order, &nhot), 0);
		got = ki_lay_score(&s.g, order, BLOCKS);
		best = best_of(&s.g, all, 0);
		assert_true(got <= best * (1 + 1e-9));
		sum += got / best;
		worst = got / best < worst ? got / best : worst;
	}
	print_message("%.4f of the best on average, %.4f at worst\n", sum / rounds, worst);
	assert_true(sum / rounds > 0.95 && worst > 0.7);
}

static void every_block_once(void **state)
{
	static const char *const names[] = {"ext-tsp", "hot-first", "reverse"};

	(void)state;
	for (int i = 0; i < 300; i++) {
		uint32_t order[BLOCKS], nhot, seen = 0;
		struct shape s;

		random_shape(&s);
		for (uint32_t k = 0; k < BLOCKS; k++)
			s.blocks[k].count = (exec_random() >> 33) % 3;
		assert_int_equal(ki_lay_policy_find(names[i % 3])(&s.g, 1, order, &nhot), 0);
		for (uint32_t k = 0; k < BLOCKS; k++) {
			seen |= 1u << order[k];
			if (i % 3 < 2)
				assert_int_equal(s.blocks[order[k]].count > 1 || !order[k],
						 k < nhot);
			if (i % 3 < 2 && k > nhot)
				assert_true(order[k] > order[k - 1]);
		}
		assert_int_equal(seen, (1 << BLOCKS) - 1);
	}
	assert_null(ki_lay_policy_find("best"));
}

static void what_is_better(void **state)
{
	static const double a[] = {10, 11, 9, 10}, b[] = {8, 8.5, 7.5, 8}, same[] = {9, 11, 12, 8};
	struct ki_evolve_verdict v;

	(void)state;
	ki_evolve_judge(a, b, 4, &v);
	assert_true(v.better && !v.worse && v.high < 0 && v.low > -0.4);
	ki_evolve_judge(b, a, 4, &v);
	assert_true(v.worse && !v.better);
	ki_evolve_judge(a, same, 4, &v);
	assert_true(!v.worse && !v.better);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(known_shapes),
		cmocka_unit_test(no_order_is_much_better),
		cmocka_unit_test(every_block_once),
		cmocka_unit_test(what_is_better),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
