// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What is replaced by another function: a function for all its callers, the direct calls of it in
 * one function, or one call.
 */
#include <errno.h>
#include <stdlib.h>

#include "splice/plan.h"

/* Not in a group: its window is in a patch with others, which control comes to otherwise. */
static void change_where_it_stands(struct ki_plan *p, uint32_t window)
{
	if (p->more.v[window].group == KI_NONE)
		p->windows.v[window].flags |= KI_WINDOW_CALL;
}

static int replace_at(struct ki_plan *p, const struct ki_replacement *r,
		      const struct ki_function *fn, const struct ki_spans *spans,
		      const struct ki_place *place, struct ki_err *err)
{
	uint32_t id;
	int ret;

	if (place->reason)
		return ki_err_reason(err, place->reason, place->addr, "%s", r->text);
	if (r->guard)
		ret = ki_plan_guard(p, &(struct ki_insertion){fn, spans, place, 0}, r->guard,
				    r->to->addr, err);
	else
		ret = ki_plan_replace(p, &(struct ki_insertion){fn, spans, place, 0}, r->to->addr,
				      &id, err);
	if (!ret && !r->guard && place->where == KI_TAKEN &&
	    ki_span_of_call(fn, spans, place->addr))
		change_where_it_stands(p, p->chunks.v[id].c.window);
	if (!ret && r->told)
		r->told(r->arg, r, place);
	return ret;
}

static int replace_function(struct ki_plan *p, const struct ki_replacement *r,
			    const struct ki_function *fn, const struct ki_spans *spans,
			    struct ki_err *err)
{
	const struct ki_point start = {.kind = KI_POINT_START};
	struct ki_place *place;
	size_t n;
	int ret = ki_point_places(fn, spans, &start, &place, &n, err);

	if (ret)
		return ret;
	ret = replace_at(p, r, fn, spans, place, err);
	free(place);
	return ret;
}

/* The calls and jumps to other functions that are meant. */
static bool is_meant(const struct ki_replacement *r, const struct ki_function *fn,
		     const struct ki_edge *e)
{
	if (e->kind != KI_EDGE_CALL && e->kind != KI_EDGE_TAIL)
		return false;
	return r->callee ? e->to == r->callee->addr
			 : fn->insns[e->insn].addr == fn->start + r->offset;
}

static int replace_calls(struct ki_plan *p, const struct ki_replacement *r,
			 const struct ki_function *fn, const struct ki_spans *spans,
			 struct ki_err *err)
{
	int ret = 0, n = 0;

	for (uint32_t e = 0; !ret && e < fn->nedges; e++) {
		const struct ki_place place = {.addr = fn->insns[fn->edges[e].insn].addr,
					       .where = KI_TAKEN};

		if (!is_meant(r, fn, &fn->edges[e]))
			continue;
		ret = replace_at(p, r, fn, spans, &place, err);
		n++;
	}
	if (ret || n)
		return ret;
	return ki_err_set(err, -ENOENT, 0,
			  "%s: there is no such direct call; kerninst calls %s and kerninst disas "
			  "%s show what there is",
			  r->text, r->in->name, r->in->name);
}

int ki_plan_replacement(struct ki_plan *p, struct ki_target *t, const struct ki_replacement *r,
			struct ki_err *err)
{
	struct ki_function *fn = NULL;
	struct ki_spans spans = {0};
	int ret = ki_function_analyze(t, r->in, &fn, err);

	if (!ret)
		ret = ki_spans_find(fn, &spans, err);
	if (!ret && (r->callee || r->offset))
		ret = replace_calls(p, r, fn, &spans, err);
	else if (!ret)
		ret = replace_function(p, r, fn, &spans, err);
	ki_spans_free(&spans);
	ki_function_free(fn);
	return ret;
}
