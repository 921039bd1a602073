// SPDX-License-Identifier: GPL-2.0-only
#include <stdlib.h>
#include <unistd.h>

#include "common/common.h"

struct ki_snippet *snippet_new(void)
{
	struct ki_snippet *sn;

	if (ki_snippet_new(&sn))
		die("snippet", "no memory");
	return sn;
}

struct ki_plan *plan_new(void)
{
	struct ki_plan *plan;

	if (ki_plan_new(&plan))
		die("plan", "no memory");
	return plan;
}

void plan_apply(struct ki_plan *plan, struct ki_target *t)
{
	struct ki_err err = {0};

	if (ki_plan_apply(plan, t, false, &err))
		die("apply", err.msg);
}

/* What is dead is known of the place itself, not of what comes after it. */
static void find_site(const struct ki_function *fn, const struct ki_place *place,
		      struct ki_program *program, struct ki_site_regs *site)
{
	struct ki_err err = {0};
	ki_regset live;

	if (program && ki_live_at(program, place->addr, &live, &err))
		die("live", err.msg);
	ki_place_site(fn, place, program && place->where == KI_BEFORE ? &live : NULL, site);
}

void spot_find(struct spot *spot, struct ki_target *t, const char *function,
	       enum ki_point_kind kind, struct ki_program *program)
{
	const struct ki_symbol *sym = ki_target_symbol_named(t, "", function, NULL);
	const struct ki_point point = {.kind = kind};
	struct ki_err err = {0};

	if (!sym || ki_function_analyze(t, sym, &spot->fn, &err) ||
	    ki_spans_find(spot->fn, &spot->spans, &err) ||
	    ki_point_places(spot->fn, &spot->spans, &point, &spot->places, &spot->n, &err))
		die(function, err.msg);
	spot->sites = calloc(spot->n, sizeof(*spot->sites));
	if (!spot->sites)
		die(function, "no memory");
	for (size_t i = 0; i < spot->n; i++)
		find_site(spot->fn, &spot->places[i], program, &spot->sites[i]);
}

void spot_put(const struct spot *spot, struct ki_plan *plan, const struct ki_snippet *sn)
{
	struct ki_err err = {0};
	uint32_t id;

	for (size_t i = 0; i < spot->n; i++)
		if (ki_plan_add_snippet(
			    plan,
			    &(struct ki_insertion){spot->fn, &spot->spans, &spot->places[i], 0}, sn,
			    &spot->sites[i], &id, &err))
			die(spot->fn->symbol->name, err.msg);
}

void spot_free(struct spot *spot)
{
	free(spot->sites);
	free(spot->places);
	ki_spans_free(&spot->spans);
	ki_function_free(spot->fn);
}

void entry_put(struct ki_target *t, struct ki_plan *plan, const char *function,
	       struct ki_snippet *sn, struct ki_program *program)
{
	struct spot spot;

	spot_find(&spot, t, function, KI_POINT_ENTRY, program);
	spot_put(&spot, plan, sn);
	spot_free(&spot);
	ki_snippet_free(sn);
}

/* Where struct pt_regs has them. */
struct ki_node *sys_arg(struct ki_snippet *s, unsigned int n)
{
	static const uint8_t off[] = {112, 104, 96};

	return ki_expr_load(
		s, KI_U64,
		ki_expr_binary(s, KI_ADD, ki_expr_param(s, 0), ki_expr_const(s, KI_I64, off[n])));
}

struct ki_node *is_mine(struct ki_snippet *s)
{
	return ki_expr_binary(s, KI_EQ, ki_expr_fact(s, KI_FACT_TGID),
			      ki_expr_const(s, KI_I64, (uint64_t)getpid()));
}

struct ki_node *only_mine(struct ki_snippet *s, struct ki_node *stmt)
{
	return ki_stmt_if(s, is_mine(s), stmt, NULL);
}
