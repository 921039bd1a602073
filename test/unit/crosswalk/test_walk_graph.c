// SPDX-License-Identifier: GPL-2.0-only
/* The graph of a search: nodes and edges, each once; what is a bottleneck; what is shown. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>
#include <cmocka.h>

#include "crosswalk/walk.h"

static struct ki_crosswalk walk;

/* A function of that name at 0x1000 * number. */
static uint32_t add(const char *name, unsigned int number, bool kernel, uint32_t from,
		    enum ki_crosswalk_how how)
{
	const struct ki_symbol sym = {
		.addr = 0x1000 * number, .name = name, .module = kernel ? "" : "prog"};

	assert_int_equal(ki_crosswalk_add(&walk.graph, &sym, kernel,
					  &(struct ki_crosswalk_seen){from, how, 0}),
			 0);
	return ki_crosswalk_find(&walk.graph, kernel, sym.addr);
}

static void found(uint32_t n, double share)
{
	walk.graph.nodes.v[n].share = share;
	ki_crosswalk_conclude(&walk.graph.nodes.v[n], 0.25);
}

static int empty(void **state)
{
	(void)state;
	ki_crosswalk_graph_free(&walk.graph);
	memset(&walk, 0, sizeof(walk));
	return 0;
}

static void each_is_there_once(void **state)
{
	const uint32_t main_ = add("main", 1, false, KI_NONE, KI_CROSSWALK_ROOT);
	const uint32_t a = add("a", 2, false, main_, KI_CROSSWALK_CALL);
	const uint32_t b = add("b", 3, false, main_, KI_CROSSWALK_CALL);

	(void)state;
	assert_int_equal(add("b", 3, false, a, KI_CROSSWALK_POINTER), b);
	assert_int_equal(add("b", 3, false, a, KI_CROSSWALK_CALL), b);
	assert_int_equal(walk.graph.nodes.n, 3);
	assert_int_equal(walk.graph.edges.n, 4);
	assert_int_equal(walk.graph.nodes.v[b].level, 1);
	/* The same address on the other side is another function. */
	assert_int_not_equal(add("b", 3, true, a, KI_CROSSWALK_SYSCALL), b);
	assert_int_equal(walk.graph.nodes.v[3].level, 2);
	assert_int_equal(ki_crosswalk_find(&walk.graph, true, 0x2000), KI_NONE);
}

static void a_bottleneck_calls_nothing_that_is_true(void **state)
{
	const uint32_t main_ = add("main", 1, false, KI_NONE, KI_CROSSWALK_ROOT);
	const uint32_t a = add("a", 2, false, main_, KI_CROSSWALK_CALL);
	const uint32_t b = add("b", 3, false, a, KI_CROSSWALK_CALL);
	const uint32_t c = add("c", 4, false, main_, KI_CROSSWALK_CALL);

	(void)state;
	add("a", 2, false, a, KI_CROSSWALK_CALL); /* it calls itself */
	found(main_, 1);
	found(a, 0.25);
	found(b, 0.249);
	found(c, 0.5);
	ki_crosswalk_mark_last(&walk.graph);
	assert_int_equal(walk.graph.nodes.v[b].truth, KI_CROSSWALK_FALSE);
	assert_true(walk.graph.nodes.v[a].is_last && walk.graph.nodes.v[c].is_last);
	assert_false(walk.graph.nodes.v[main_].is_last || walk.graph.nodes.v[b].is_last);
}

static void shown(char *text, size_t size, bool json, bool verbose)
{
	FILE *out = fmemopen(text, size, "w");
	const struct ki_page page = {.out = out, .json = json, .verbose = verbose};

	assert_int_equal(ki_crosswalk_show(&walk, &page, NULL), 0);
	fclose(out);
}

static void what_is_true_is_shown(void **state)
{
	static const char want[] =
		"function                                                  by         share        "
		"calls\n"
		"prog:main                                                 root     100.0 %           "
		" -\n"
		"  prog:a                                                  call      60.0 %          "
		"8/s  bottleneck\n"
		"  kernel:sys                                              syscall   30.0 %           "
		" -  bottleneck\n";
	char text[2000];
	const uint32_t main_ = add("main", 1, false, KI_NONE, KI_CROSSWALK_ROOT);
	const uint32_t a = add("a", 2, false, main_, KI_CROSSWALK_CALL);
	const uint32_t sys = add("sys", 9, true, main_, KI_CROSSWALK_SYSCALL);
	const uint32_t no = add("no", 5, false, a, KI_CROSSWALK_CALL);

	(void)state;
	found(main_, 1);
	found(a, 0.6);
	walk.graph.nodes.v[a].calls = 16;
	walk.graph.nodes.v[a].seconds = 2;
	found(sys, 0.3);
	ki_crosswalk_refuse(&walk.graph.nodes.v[no], KI_R_NOINSTR);
	ki_crosswalk_mark_last(&walk.graph);
	shown(text, sizeof(text), false, false);
	assert_string_equal(text, want);
	shown(text, sizeof(text), false, true);
	assert_non_null(strstr(text, "    prog:no "));
	assert_non_null(strstr(text, "NOINSTR\n"));
	shown(text, sizeof(text), true, false);
	assert_non_null(strstr(text, "\"function\":\"no\""));
	assert_non_null(strstr(text, "\"reason\":\"NOINSTR\""));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_is_there_once, empty, empty),
		cmocka_unit_test_setup_teardown(a_bottleneck_calls_nothing_that_is_true, empty,
						empty),
		cmocka_unit_test_setup_teardown(what_is_true_is_shown, empty, empty),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
