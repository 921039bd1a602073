// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A function is replaced, and the direct calls of it lead to the other function where they stand,
 * so that they take no jump more than before.
 *
 * A call that cannot be changed (it has no window of its own, somebody stands there, the place is
 * reserved) comes by the replaced function's entry as all others do, and so do the calls of
 * modules, which must be free to go. The replacement's own calls stay: what they mean is the
 * original.
 */
#include <errno.h>
#include <stdlib.h>

#include "kerninst/program.h"
#include "splice/plan.h"

struct gather {
	struct ki_target *t;
	const struct ki_replacement *r;
	struct ki_plan *each; /* asked, never installed */
	ki_vec(struct ki_replacement) calls;
};

static bool is_wanted(const struct gather *g, const struct ki_symbol *caller, uint64_t call)
{
	return !*caller->module && caller->addr != g->r->to->addr &&
	       (!g->r->meant || g->r->meant(g->r->arg, caller, call));
}

static int add_call(struct gather *g, const struct ki_symbol *caller, uint64_t addr)
{
	struct ki_replacement one = *g->r;
	struct ki_err err = {0};
	size_t chunks = ki_plan_chunks(g->each);

	one.in = caller;
	one.callee = NULL;
	one.guard = NULL;
	one.offset = addr - caller->addr;
	one.told = NULL;
	if (!one.offset || ki_plan_replacement(g->each, g->t, &one, &err) ||
	    ki_plan_chunks(g->each) != chunks + 1)
		return err.code == -ENOMEM ? -ENOMEM : 0;
	one.told = g->r->told;
	if (ki_vec_reserve(&g->calls, 1))
		return -ENOMEM;
	g->calls.v[g->calls.n++] = one;
	return 0;
}

static int find_calls(struct gather *g, const struct ki_program *p)
{
	uint32_t n = 0, nfunctions, to = ki_program_function_at(p, g->r->in->addr);
	const uint32_t *callers = ki_program_callers(p, to, &n);
	const struct ki_program_function *v = ki_program_functions(p, &nfunctions);
	int ret = 0;

	for (uint32_t i = 0; i < n && !ret; i++) {
		struct ki_program_call c;

		if (!ki_program_call(p, callers[i], &c) && c.to == g->r->in->addr &&
		    is_wanted(g, v[c.caller].symbol, c.from))
			ret = add_call(g, v[c.caller].symbol, c.from);
	}
	return ret;
}

/* Is a chunk's call changed where it stands? */
static bool leads(const struct ki_plan *p, uint32_t id)
{
	return p->windows.v[p->chunks.v[id].c.window].flags & KI_WINDOW_CALL;
}

/* What the driver takes, of what is changed where it stands. */
static int plan_calls(struct gather *g, struct ki_plan *p, size_t *n, struct ki_err *err)
{
	int ret = g->calls.n ? ki_plan_check(g->each, g->t, err) : 0;
	uint32_t first = (uint32_t)p->chunks.n;

	for (uint32_t i = 0; i < g->calls.n && !ret; i++) {
		if (!leads(g->each, i) || ki_plan_refusal(g->each, i))
			continue;
		ret = ki_plan_replacement(p, g->t, &g->calls.v[i], err);
		*n += !ret;
	}
	if (!ret && ki_plan_led(p, g->t, g->r->in, first))
		ret = ki_err_set(err, -ENOMEM, 0, "plan: out of memory");
	return ret;
}

int ki_plan_replace_callers(struct ki_plan *p, struct ki_target *t, const struct ki_replacement *r,
			    size_t *n, struct ki_err *err)
{
	const struct ki_program_options how = {.size = sizeof(how), .no_liveness = true};
	struct gather g = {.t = t, .r = r};
	struct ki_program *program;
	int ret;

	*n = 0;
	if (r->callee || r->offset)
		return ki_err_set(err, -EINVAL, r->in->addr,
				  "%s: callers are those of a function, not of one call", r->text);
	ret = ki_program_new(t, &how, &program, err);
	if (ret)
		return ret;
	if (ki_plan_new(&g.each) || find_calls(&g, program))
		ret = ki_err_set(err, -ENOMEM, r->in->addr, "%s: out of memory", r->text);
	ki_program_free(program);
	if (!ret)
		ret = plan_calls(&g, p, n, err);
	ki_plan_free(g.each);
	ki_vec_free(&g.calls);
	return ret;
}
