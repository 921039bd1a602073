// SPDX-License-Identifier: GPL-2.0-only
/*
 * The rows of kerninst calls, of a program made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "../../../lib/code/program/calls.c"

#define NFUNCTIONS 8
#define FAR	   0xffffffffc0000000ull

static const struct ki_symbol symbols[NFUNCTIONS] = {
	{.name = "main"}, {.name = "a"},      {.name = "b"}, {.name = "c"},
	{.name = "leaf"}, {.name = "a.cold"}, {.name = "x"}, {.name = "y"},
};

#define CALL(a, b)                                                                                 \
	{                                                                                          \
		.caller = a, .callee = b, .kind = KI_EDGE_CALL, .to = 0x1000 + b                   \
	}
#define TAIL_CALL(a, b)                                                                            \
	{                                                                                          \
		.caller = a, .callee = b, .kind = KI_EDGE_TAIL, .to = 0x1000 + b                   \
	}
#define INDIRECT(a)                                                                                \
	{                                                                                          \
		.caller = a, .callee = KI_NONE, .kind = KI_EDGE_CALL_INDIRECT                      \
	}
#define OUTSIDE(a)                                                                                 \
	{                                                                                          \
		.caller = a, .callee = KI_NONE, .kind = KI_EDGE_CALL, .to = FAR                    \
	}

/* In order of their callers: main, a, b, c, a.cold. */
static const struct ki_program_call calls[] = {
	CALL(0, 1), CALL(0, 2),	     CALL(0, 1), CALL(1, 2), INDIRECT(1), INDIRECT(1),
	CALL(2, 3), TAIL_CALL(2, 4), CALL(3, 1), CALL(3, 4), OUTSIDE(5),  CALL(5, 4),
};

#define NCALLS (sizeof(calls) / sizeof(*calls))

struct ki_program {
	struct ki_program_function functions[NFUNCTIONS];
	uint32_t callers[NCALLS];
};

static struct ki_program program;

const struct ki_program_function *ki_program_functions(const struct ki_program *p, uint32_t *n)
{
	*n = NFUNCTIONS;
	return p->functions;
}

int ki_program_call(const struct ki_program *p, uint32_t number, struct ki_program_call *out)
{
	(void)p;
	assert_true(number < NCALLS);
	*out = calls[number];
	return 0;
}

const uint32_t *ki_program_callers(const struct ki_program *p, uint32_t function, uint32_t *n)
{
	(void)p;
	*n = 0;
	for (uint32_t i = 0; i < NCALLS; i++)
		if (calls[i].callee == function)
			program.callers[(*n)++] = i;
	return program.callers;
}

static int setup(void **state)
{
	(void)state;
	for (uint32_t i = 0; i < NFUNCTIONS; i++) {
		struct ki_program_function *f = &program.functions[i];

		*f = (struct ki_program_function){.symbol = &symbols[i], .parent = i};
		for (uint32_t k = 0; k < NCALLS; k++) {
			if (calls[k].caller != i)
				continue;
			if (!f->ncalls++)
				f->first_call = k;
		}
	}
	program.functions[5].parent = 1;
	program.functions[5].flags = KI_FUNCTION_COLD;
	return 0;
}

static char rows_text[4096];

static void add_row(void *ctx, const struct ki_calls_row *row)
{
	size_t at = strlen(rows_text);

	(void)ctx;
	snprintf(rows_text + at, sizeof(rows_text) - at, "%u %s %u %s%s%s\n", row->depth,
		 row->function != KI_NONE ? symbols[row->function].name
		 : row->to		  ? "far"
					  : "?",
		 row->sites, row->kind == KI_EDGE_TAIL ? "tail" : "call",
		 row->recursion ? " recursion" : "", row->repeated ? " repeated" : "");
}

static void check(uint32_t root, bool callers, uint32_t depth, const char *want,
		  struct ki_calls_totals *totals)
{
	struct ki_calls *t = ki_calls_new(&program, callers, depth);
	struct ki_calls_totals unused = {0};

	assert_non_null(t);
	rows_text[0] = '\0';
	assert_int_equal(ki_calls_walk(t, root, add_row, NULL, totals ? totals : &unused), 0);
	assert_string_equal(rows_text, want);
	/* a second walk of the same tree knows nothing of the first */
	rows_text[0] = '\0';
	assert_int_equal(ki_calls_walk(t, root, add_row, NULL, &unused), 0);
	assert_string_equal(rows_text, want);
	ki_calls_free(t);
}

static void callees(void **state)
{
	struct ki_calls_totals n = {0};

	(void)state;
	check(0, false, 1, "1 a 2 call\n1 b 1 call\n", &n);
	assert_int_equal(n.rows, 2);
	assert_int_equal(n.functions, 2);
	assert_int_equal(n.direct, 3);
	assert_int_equal(n.indirect, 0);
}

static void cold_parts_belong_to_their_parent(void **state)
{
	struct ki_calls_totals n = {0};

	(void)state;
	check(1, false, 1, "1 b 1 call\n1 leaf 1 call\n1 far 1 call\n1 ? 2 call\n", &n);
	assert_int_equal(n.functions, 2);
	assert_int_equal(n.direct, 3);
	assert_int_equal(n.indirect, 2);
	check(4, true, 1, "1 a 1 call\n1 b 1 tail\n1 c 1 call\n", NULL);
}

static void recursion_ends(void **state)
{
	(void)state;
	check(1, false, 100,
	      "1 b 1 call\n2 c 1 call\n3 a 1 call recursion\n3 leaf 1 call\n2 leaf 1 tail\n"
	      "1 leaf 1 call\n1 far 1 call\n1 ? 2 call\n",
	      NULL);
}

/* b is first seen where one level is left below it, then where two are. */
static void shown_again_where_deeper(void **state)
{
	(void)state;
	check(0, false, 3,
	      "1 a 2 call\n2 b 1 call\n3 c 1 call\n3 leaf 1 tail\n2 leaf 1 call\n2 far 1 call\n"
	      "2 ? 2 call\n1 b 1 call\n2 c 1 call\n3 a 1 call\n3 leaf 1 call\n2 leaf 1 tail\n",
	      NULL);
}

static void repeated_if_all_was_shown(void **state)
{
	(void)state;
	check(0, false, 100,
	      "1 a 2 call\n2 b 1 call\n3 c 1 call\n4 a 1 call recursion\n4 leaf 1 call\n"
	      "3 leaf 1 tail\n2 leaf 1 call\n2 far 1 call\n2 ? 2 call\n1 b 1 call repeated\n",
	      NULL);
	/* and where nothing is left to be shown it is not said */
	check(2, true, 2, "1 main 1 call\n1 a 1 call\n2 main 2 call\n2 c 1 call\n", NULL);
}

static void callers(void **state)
{
	(void)state;
	check(3, true, 2, "1 b 1 call\n2 main 1 call\n2 a 1 call\n", NULL);
	check(6, true, 5, "", NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(callees),
		cmocka_unit_test(cold_parts_belong_to_their_parent),
		cmocka_unit_test(recursion_ends),
		cmocka_unit_test(shown_again_where_deeper),
		cmocka_unit_test(repeated_if_all_was_shown),
		cmocka_unit_test(callers),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
