// SPDX-License-Identifier: GPL-2.0-only
/*
 * What lasts, at points that are no functions: where it begins and ends, what shares code, what is
 * refused.
 */
#include "measure_fixture.h"

#define SECOND		1000000000ull
#define NEAR(got, want) assert_true(fabs((got) - (want)) < 1e-9)

static const struct ki_point block0 = {.kind = KI_POINT_BLOCK};
static const struct ki_point block1 = {.kind = KI_POINT_BLOCK, .block = 1};
static const struct ki_point calls = {.kind = KI_POINT_CALLS};

static struct ki_point insn(uint64_t off)
{
	return (struct ki_point){.kind = KI_POINT_INSN, .addr = BASE + 80 + off};
}

/* The first edge of that kind. */
static struct ki_point edge(unsigned int fn, enum ki_edge_kind kind)
{
	for (uint32_t e = 0; e < fns[fn]->nedges; e++)
		if (fns[fn]->edges[e].kind == kind)
			return (struct ki_point){.kind = KI_POINT_EDGE, .edge = e};
	fail_msg("no such edge");
	return block0;
}

static uint32_t add_at(const char *metric, const struct ki_point *at)
{
	struct ki_err err = {0};
	uint32_t curve;

	if (try_add_at(metric, C, at, NULL, &curve, &err))
		fail_msg("%s: %s", metric, err.msg);
	return curve;
}

static unsigned int refused(const char *metric, unsigned int fn, const struct ki_point *at)
{
	struct ki_err err = {0};
	uint32_t curve;

	assert_true(try_add_at(metric, fn, at, NULL, &curve, &err) < 0);
	return err.reason;
}

/* The places of its code, as the listing names them: what begins first. */
static void is_at(uint32_t curve, const char *wanted)
{
	char places[256] = "", *listing, *rest, *line;
	struct ki_err err = {0};

	assert_int_equal(ki_measure_listing(m, curve, &listing, &err), 0);
	rest = listing;
	while ((line = strsep(&rest, "\n")))
		if (strstr(line, " c+0x"))
			strcat(strcat(places, places[0] ? " " : ""), line);
	free(listing);
	assert_string_equal(places, wanted);
}

static void where_it_begins_and_ends(void **state)
{
	const struct ki_point pop = insn(11), test = insn(12), je = insn(14), push = insn(5);
	struct ki_point call;

	(void)state;
	load();
	call = edge(C, KI_EDGE_CALL);
	is_at(add_at("walltime", &block0), "before c+0x5: before c+0xe:");
	is_at(add_at("walltime", &block1), "before c+0x14: behind c+0x14:");
	is_at(add_at("walltime", &call), "before c+0x6: before c+0xb:");
	is_at(add_at("walltime", &calls), "before c+0x6: before c+0xb:");
	is_at(add_at("walltime", &push), "before c+0x5: behind c+0x5:");
	is_at(add_at("vtime", &pop), "before c+0xb: behind c+0xb:");
	is_at(add_at("vtime", &test), "before c+0xc: behind c+0xc:");
	is_at(add_at("latency", &je), "before c+0xe: behind c+0xe: on the jump at c+0xe:");
	is_at(add_at("calls", &block0), "before c+0x5:");
	is_at(add_at("exits", &block0), "before c+0xe:");
	is_at(add_at("returns", &call), "before c+0xb:");
	is_at(add_at("exits", &je), "behind c+0xe: on the jump at c+0xe:");
	start();
	assert_int_equal(drv.installed, 7 * 2 + 3 + 1 + 1 + 1 + 2);
}

static void what_shares_code(void **state)
{
	struct ki_point call;

	(void)state;
	load();
	call = edge(C, KI_EDGE_CALL);
	add_at("walltime", &block0);
	add_at("walltime/call", &block0);
	add_at("latency", &block0);
	assert_int_equal(m->pairs.n, 1);
	add_at("walltime", &block1);
	add_at("walltime", &call);
	add_at("walltime", &calls);
	add("walltime", C, NULL);
	assert_int_equal(m->pairs.n, 5);
	add_at("concurrency", &call);
	add_at("concurrency", &block1);
	assert_int_equal(m->pairs.n, 5);
}

/* Through code of one pair only. */
static void run_pair(size_t n, bool begins, unsigned int thread)
{
	const struct pair *p = &m->pairs.v[n];

	run_code(begins ? p->start.snippet : p->stop.snippet, thread, 0, 0);
}

static void times_of_a_block_inside_itself(void **state)
{
	uint32_t wall, mean, own;

	(void)state;
	load();
	wall = add_at("walltime", &block0);
	mean = add_at("walltime/call", &block0);
	own = add_at("vtime", &block1);
	start();
	run_pair(0, true, 0);
	pass(SECOND, 0, SECOND);
	run_pair(0, true, 0); /* its call comes to the function again */
	pass(SECOND, 0, SECOND);
	run_pair(0, false, 0);
	run_pair(1, true, 0);
	pass(SECOND, 0, SECOND / 2);
	run_pair(1, false, 0);
	NEAR(value(wall), 3);
	run_pair(0, false, 0);
	NEAR(value(wall), 3);
	NEAR(value(mean), 3);
	NEAR(value(own), 0.5);
}

static void what_does_not_last(void **state)
{
	static const struct ki_point entry = {.kind = KI_POINT_ENTRY},
				     exit = {.kind = KI_POINT_EXIT},
				     end = {.kind = KI_POINT_BLOCK_END},
				     last = {.kind = KI_POINT_BLOCK, .block = 2},
				     no_block = {.kind = KI_POINT_BLOCK, .block = 3};
	struct ki_point taken, ret;

	(void)state;
	load();
	taken = edge(C, KI_EDGE_TAKEN);
	ret = insn(25);
	assert_int_equal(refused("walltime", C, &exit), KI_R_NO_DURATION);
	assert_int_equal(refused("latency", C, &end), KI_R_NO_DURATION);
	assert_int_equal(refused("exits", C, &end), KI_R_NO_DURATION);
	assert_int_equal(refused("vtime", C, &taken), KI_R_NO_DURATION);
	assert_int_equal(refused("vtime", C, &last), KI_R_NO_DURATION); /* its ret is all it has */
	assert_int_equal(refused("vtime", C, &ret), KI_R_NO_SUCH_SIDE);
	assert_int_equal(refused("vtime", C, &no_block), KI_R_OK); /* -EINVAL, without a reason */
	assert_int_equal(refused("walltime", F, &calls), KI_R_NO_DURATION); /* it has none */
	assert_int_equal(refused("walltime", N, &entry), KI_R_NEVER_RETURNS);
	assert_int_equal(m->pairs.n, 0);
	add("calls", N, NULL);
	add_at("exits", &last);
	start();
	assert_int_equal(drv.installed, 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(where_it_begins_and_ends),
		cmocka_unit_test(what_shares_code),
		cmocka_unit_test(times_of_a_block_inside_itself),
		cmocka_unit_test(what_does_not_last),
	};

	return cmocka_run_group_tests(tests, NULL, unload);
}
