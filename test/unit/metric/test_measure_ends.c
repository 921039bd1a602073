// SPDX-License-Identifier: GPL-2.0-only
/*
 * What is done when something that lasts is over: what it took, and what its beginning has left.
 */
#include "measure_fixture.h"

#define SECOND 1000000000ull
#define TOOK   900 /* counters: the sum of what it took, and after that of each word */

static const struct ki_point entry = {.kind = KI_POINT_ENTRY};

/* arg0 + number */
static int values(void *arg, struct ki_snippet *s, struct ki_node **out, struct ki_err *err)
{
	const unsigned int *words = arg;

	(void)err;
	for (unsigned int i = 0; i < *words; i++)
		out[i] =
			ki_expr_binary(s, KI_ADD, ki_expr_param(s, 0), ki_expr_const(s, KI_U64, i));
	return 0;
}

static struct ki_node *add_up(struct ki_snippet *s, uint32_t counter, const struct ki_var *v)
{
	const struct ki_var sum = {.kind = KI_VAR_CPU, .type = KI_U64, .first = counter};

	return ki_stmt_update(s, KI_UPDATE_ADD, &sum, NULL, ki_expr_var(s, v));
}

static int end(void *arg, struct ki_snippet *s, const struct ki_var *words,
	       const struct ki_var *took, struct ki_node **stmt, struct ki_err *err)
{
	const unsigned int *count = arg;

	(void)err;
	*stmt = ki_stmt_append(s, NULL, add_up(s, TOOK, took));
	for (unsigned int i = 0; i < *count; i++)
		*stmt = ki_stmt_append(s, *stmt, add_up(s, TOOK + 1 + i, &words[i]));
	return 0;
}

static int try_ends(const char *metric, unsigned int *words, const char *when, uint32_t *curve)
{
	const struct ki_measure_ends ends = {
		.words = *words, .begin = values, .end = end, .arg = words};
	struct ki_predicate *p = NULL;
	struct ki_err err = {0};
	int ret = when ? ki_predicate_new(when, &p, &err) : 0;

	if (!ret)
		ret = ki_measure_add_ends(m, ki_metric_find(metric),
					  &(struct ki_measured_at){fns[F], &spans[F], &entry, 0, p},
					  &ends, curve, &err);
	ki_predicate_free(p);
	return ret;
}

static void is_left(unsigned int word, uint64_t wanted)
{
	assert_int_equal(world.counters[TOOK + 1 + word], wanted);
}

static void words_go_from_the_beginning_to_the_end(void **state)
{
	uint32_t curve;

	(void)state;
	for (unsigned int words = 0; words <= KI_MEASURE_WORDS; words++) {
		load();
		assert_int_equal(try_ends("walltime", &words, NULL, &curve), 0);
		assert_int_equal(world.next_word, 1 + words);
		start();
		leave(F, 0, 0); /* who was there before */
		enter(F, 0, 0, 100);
		pass(SECOND, 0, 0);
		enter(F, 0, 0, 7777); /* inside itself: not another one */
		pass(SECOND, 0, 0);
		leave(F, 0, 0);
		enter(F, 1, 0, 1000); /* another thread has its own */
		pass(SECOND, 0, 0);
		assert_int_equal(world.counters[TOOK], 0);
		leave(F, 0, 0);
		assert_int_equal(world.counters[TOOK], 3 * SECOND);
		for (unsigned int i = 0; i < words; i++)
			is_left(i, 100 + i);
		leave(F, 1, 0);
		assert_int_equal(world.counters[TOOK], 4 * SECOND);
		for (unsigned int i = 0; i < words; i++)
			is_left(i, 1100 + 2 * i);
		assert_true(fabs(value(curve) - 4) < 1e-9);
	}
}

static void a_predicate_is_asked_at_the_beginning(void **state)
{
	unsigned int words = 2;
	uint32_t curve;

	(void)state;
	load();
	assert_int_equal(try_ends("vtime", &words, "arg0 == 5", &curve), 0);
	start();
	for (uint64_t arg = 4; arg < 7; arg++) {
		enter(F, 0, 0, arg);
		pass(SECOND, 0, SECOND / 2);
		leave(F, 0, 0);
	}
	assert_int_equal(world.counters[TOOK], SECOND / 2);
	is_left(0, 5);
	is_left(1, 6);
}

static void counts_are_counts(void **state)
{
	unsigned int words = 0;
	uint32_t curve;

	(void)state;
	load();
	assert_int_equal(try_ends("faults", &words, NULL, &curve), 0);
	start();
	enter(F, 0, 0, 0);
	world.threads[0].faults += 7;
	leave(F, 0, 0);
	assert_int_equal(world.counters[TOOK], 7);
}

static void nothing_is_shared(void **state)
{
	unsigned int words = 1;
	uint32_t curve;

	(void)state;
	load();
	add("walltime", F, NULL);
	assert_int_equal(try_ends("walltime", &words, NULL, &curve), 0);
	assert_int_equal(try_ends("walltime", &words, NULL, &curve), 0);
	assert_int_equal(m->pairs.n, 3);
	add("walltime/call", F, NULL);
	assert_int_equal(m->pairs.n, 3);
	assert_int_equal(m->pairs.v[1].keeps, KEEP_TOTAL);
}

static void what_has_no_one_end(void **state)
{
	unsigned int words = 1, many = KI_MEASURE_WORDS + 1;
	uint32_t curve;

	(void)state;
	load();
	assert_int_equal(try_ends("count", &words, NULL, &curve), -EINVAL);
	assert_int_equal(try_ends("ipc", &words, NULL, &curve), -EINVAL);
	assert_int_equal(try_ends("walltime", &many, NULL, &curve), -EINVAL);
	assert_int_equal(m->pairs.n, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(words_go_from_the_beginning_to_the_end),
		cmocka_unit_test(a_predicate_is_asked_at_the_beginning),
		cmocka_unit_test(counts_are_counts),
		cmocka_unit_test(nothing_is_shared),
		cmocka_unit_test(what_has_no_one_end),
	};

	return cmocka_run_group_tests(tests, NULL, unload);
}
