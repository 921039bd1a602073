/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * A plan for one function, and a driver that a test plays.
 */
#ifndef PLAN_FIXTURE_H
#define PLAN_FIXTURE_H

#include "fake_driver.h"

static struct ki_target *target;
static struct ki_function *fn;
static struct ki_spans spans;
static struct ki_plan *plan;
static struct ki_code code;

static int unload(void **state)
{
	(void)state;
	ki_plan_free(plan);
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_target_free(target);
	plan = NULL;
	fn = NULL;
	target = NULL;
	return 0;
}

static void load(uint64_t base, const uint8_t *bytes, size_t len, enum ki_target_kind kind)
{
	const struct ki_symbol sym = {.addr = base, .name = "f"};
	const struct ki_memory m = {.kind = kind,
				    .base = base,
				    .bytes = bytes,
				    .len = len,
				    .symbols = &sym,
				    .nsymbols = 1};
	struct ki_err err = {0};
	size_t n;

	unload(NULL);
	memset(&drv, 0, sizeof(drv));
	ki_snippet_count(&code, 1, true);
	if (ki_target_open_memory(&m, &target, &err) ||
	    ki_function_analyze(target, ki_target_symbols(target, &n), &fn, &err) ||
	    ki_spans_find(fn, &spans, &err))
		fail_msg("%s", err.msg);
	assert_int_equal(ki_plan_new(&plan), 0);
}

#endif
