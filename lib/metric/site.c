// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Where a measurement's code stands, and which registers it may use there.
 *
 * To know what is really live takes the analysis of all code, which takes longer than to measure
 * something. But entries and returns are where the calling convention speaks: a function with an
 * ftrace site was made by a compiler, which then neither relies on what a callee happens to keep
 * nor on what a caller happens to leave. So three registers are free where it is called, and
 * seven, with the flags, where its caller gets control back. (What it returns may take two.)
 */
#include <errno.h>
#include <stdlib.h>

#include "metric/measure.h"

#define SCRATCH	   (KI_REGSET_REG(KI_R10) | KI_REGSET_REG(KI_R11))
#define ENTRY_DEAD (KI_REGSET_REG(KI_RAX) | SCRATCH)
#define EXIT_DEAD                                                                                  \
	(KI_REGSET_REG(KI_RCX) | KI_REGSET_REG(KI_RSI) | KI_REGSET_REG(KI_RDI) |                   \
	 KI_REGSET_REG(KI_R8) | KI_REGSET_REG(KI_R9) | SCRATCH | KI_REGSET_FLAGS)

const char *ki_measure_name(const struct ki_function *fn)
{
	return fn->symbol ? fn->symbol->name : "function";
}

/* Made by a compiler: its ftrace site is the first instruction, or after the endbr64. */
static bool is_compiled(const struct ki_function *fn)
{
	for (uint32_t i = 0; i < fn->ninsns && i < 2; i++)
		if (fn->insns[i].reason == KI_R_FTRACE_SITE)
			return true;
	return false;
}

void ki_measure_site(const struct ki_function *fn, const struct ki_place *place,
		     struct ki_site_regs *out)
{
	ki_place_site(fn, place, NULL, out);
	if (!is_compiled(fn))
		return;
	if (out->at_entry)
		out->dead |= ENTRY_DEAD;
	else if (out->at_exit)
		out->dead |= EXIT_DEAD;
}

int ki_measure_places(const struct ask *a, enum ki_point_kind kind, struct places *out)
{
	const struct ki_point pt = {.kind = kind};

	return ki_measure_places_of(a, kind == KI_POINT_KINDS ? a->pt : &pt, out);
}

int ki_measure_places_of(const struct ask *a, const struct ki_point *pt, struct places *out)
{
	int ret = ki_point_places(a->fn, a->spans, pt, &out->v, &out->n, a->err);

	if (!ret && a->fn->reason)
		ret = ki_err_reason(a->err, a->fn->reason, a->fn->start, "%s",
				    ki_measure_name(a->fn));
	for (size_t i = 0; !ret && i < out->n; i++)
		if (out->v[i].reason)
			ret = ki_err_reason(a->err, out->v[i].reason, out->v[i].addr, "%s",
					    ki_measure_name(a->fn));
	if (!ret)
		return 0;
	free(out->v);
	*out = (struct places){0};
	return ret;
}

int ki_code_put(const struct ask *a, struct code *c, const struct places *at, uint16_t order)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < at->n; i++) {
		struct site s;

		ki_measure_site(a->fn, &at->v[i], &s.regs);
		s.regs.place |= KI_PLACE_FACTS(0, 0, order, a->m->number);
		if (ki_vec_reserve(&c->sites, 1))
			return ki_err_set(a->err, -ENOMEM, a->fn->start,
					  "measurement: out of memory");
		ret = ki_plan_add_snippet(a->m->plan,
					  &(struct ki_insertion){a->fn, a->spans, &at->v[i], order},
					  c->snippet, &s.regs, &s.chunk, a->err);
		if (!ret)
			c->sites.v[c->sites.n++] = s;
	}
	return ret;
}

void ki_code_free(struct code *c)
{
	ki_snippet_free(c->snippet);
	for (size_t i = 0; i < c->told.n; i++)
		ki_snippet_free(c->told.v[i]);
	ki_vec_free(&c->told);
	ki_vec_free(&c->sites);
}
