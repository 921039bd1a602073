// SPDX-License-Identifier: GPL-2.0-only
/*
 * callees FUNCTION ADDRESS...: ask the driver for a call of each address (hex) at the function's
 * start; print its answer, a reason's tag or OK, on a line each. Nothing is installed.
 */
#include <stdio.h>
#include <stdlib.h>

#include "kerninst/splice.h"

static struct ki_target *target;

static void die(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "callees: %s: %s\n", what, err->msg);
	exit(1);
}

static struct ki_snippet *call_of(uint64_t addr)
{
	struct ki_err err = {0};
	struct ki_snippet *s;

	if (ki_snippet_new(&s))
		exit(1);
	ki_snippet_body(s, ki_stmt_eval(s, ki_expr_call(s, KI_U64, addr, NULL, NULL, 0)));
	if (ki_snippet_check(s, NULL, &err))
		die("snippet", &err);
	return s;
}

static unsigned int ask(const struct ki_function *fn, const struct ki_spans *spans,
			const struct ki_place *place, uint64_t addr)
{
	struct ki_snippet *s = call_of(addr);
	struct ki_site_regs site;
	struct ki_err err = {0};
	struct ki_plan *plan;
	unsigned int reason;
	uint32_t id;

	ki_place_site(fn, place, NULL, &site);
	if (ki_plan_new(&plan) ||
	    ki_plan_add_snippet(plan, &(struct ki_insertion){fn, spans, place, 0}, s, &site, &id,
				&err))
		die("plan", &err);
	ki_plan_check(plan, target, &err);
	reason = ki_plan_refusal(plan, id);
	ki_plan_free(plan);
	ki_snippet_free(s);
	return reason;
}

int main(int argc, char **argv)
{
	const struct ki_point start = {.kind = KI_POINT_START};
	struct ki_function *fn;
	struct ki_spans spans;
	struct ki_place *place;
	struct ki_err err = {0};
	size_t n;

	if (argc < 3 || ki_target_new_live(&target, &err) ||
	    ki_function_analyze(target, ki_target_symbol_named(target, "", argv[1], NULL), &fn,
				&err) ||
	    ki_spans_find(fn, &spans, &err) ||
	    ki_point_places(fn, &spans, &start, &place, &n, &err) || place->reason)
		die("the function", &err);
	for (int i = 2; i < argc; i++)
		puts(ki_reason_tag(ask(fn, &spans, place, strtoull(argv[i], NULL, 16))));
	free(place);
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_target_free(target);
	return 0;
}
