// SPDX-License-Identifier: GPL-2.0-only
/*
 * All points of the C library's functions: each place that is not refused is one that a plan takes.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "kerninst/splice.h"

struct census {
	size_t places, refused[KI_R_COUNT];
	struct ki_plan *plan;
};

/* Each place that is not refused is one that a plan takes. */
static void check_point(struct census *c, const struct ki_function *f, const struct ki_spans *s,
			struct ki_point pt)
{
	struct ki_code code;
	struct ki_err err = {0};
	struct ki_place *v;
	uint32_t id;
	size_t n;

	if (ki_point_places(f, s, &pt, &v, &n, &err))
		fail_msg("%s", err.msg);
	for (size_t i = 0; i < n; i++) {
		c->refused[v[i].reason]++;
		if (v[i].reason)
			continue;
		ki_snippet_count(&code, 0, v[i].flags_live);
		if (ki_plan_add(c->plan, &(struct ki_insertion){f, s, &v[i], 0}, &code, &id, &err))
			fail_msg("%s", err.msg);
		c->places++;
	}
	free(v);
}

static void check_points(struct census *c, const struct ki_function *f, const struct ki_spans *s)
{
	assert_int_equal(ki_plan_new(&c->plan), 0);
	for (int kind = 0; kind < KI_POINT_KINDS; kind++)
		if (kind != KI_POINT_BLOCK && kind != KI_POINT_BLOCK_END && kind != KI_POINT_INSN &&
		    kind != KI_POINT_AFTER && kind != KI_POINT_EDGE)
			check_point(c, f, s, (struct ki_point){.kind = (enum ki_point_kind)kind});
	for (uint32_t b = 0; b < f->nblocks; b++) {
		check_point(c, f, s, (struct ki_point){.kind = KI_POINT_BLOCK, .block = b});
		check_point(c, f, s, (struct ki_point){.kind = KI_POINT_BLOCK_END, .block = b});
	}
	for (uint32_t e = 0; e < f->nedges; e++)
		check_point(c, f, s, (struct ki_point){.kind = KI_POINT_EDGE, .edge = e});
	for (uint32_t i = 0; i < f->ninsns; i += 3) {
		check_point(c, f, s, (struct ki_point){KI_POINT_INSN, .addr = f->insns[i].addr});
		check_point(c, f, s, (struct ki_point){KI_POINT_AFTER, .addr = f->insns[i].addr});
	}
	ki_plan_free(c->plan);
}

static void all_points_of_a_library(void **state)
{
	static struct census c;
	const struct ki_symbol *syms;
	struct ki_err err = {0};
	struct ki_target *t;
	size_t n;

	(void)state;
	if (ki_target_new_image("/lib/x86_64-linux-gnu/libc.so.6", &t, &err))
		fail_msg("%s", err.msg);
	syms = ki_target_symbols(t, &n);
	for (size_t i = 0; i < n; i++) {
		struct ki_function *f;
		struct ki_spans s;

		if (syms[i].alias)
			continue;
		assert_int_equal(ki_function_analyze(t, &syms[i], &f, &err), 0);
		assert_int_equal(ki_spans_find(f, &s, &err), 0);
		if (f->ninsns < 5000)
			check_points(&c, f, &s);
		ki_spans_free(&s);
		ki_function_free(f);
	}
	ki_target_free(t);
	print_message("%zu places\n", c.places);
	for (unsigned int r = 1; r < KI_R_COUNT; r++)
		if (c.refused[r])
			print_message("%8zu refused: %s\n", c.refused[r], ki_reason_tag(r));
	assert_true(c.places > 100000);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(all_points_of_a_library),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
