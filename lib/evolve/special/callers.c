// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calls whose argument is seen to be the constant: constants are propagated through the caller, of
 * which nothing is known at its entry. Such a call needs no guard.
 */
#include <errno.h>

#include "code/function/function.h"
#include "evolve/special/inside.h"

struct search {
	struct ki_special *s;
	const struct ki_symbol *caller; /* the last one, and what is left of it */
	struct ki_function *fn;
	struct ki_folded folded;
	bool folds;
};

static void forget(struct search *w)
{
	ki_fold_free(&w->folded);
	ki_function_free(w->fn);
	w->fn = NULL;
	w->folds = false;
}

static void take_caller(struct search *w, const struct ki_symbol *caller)
{
	const struct ki_constant_memory m = {ki_special_memory_read, &w->s->memory};
	const struct ki_fold_callees callees = {ki_special_compiled, w->s->t};
	const struct ki_fold_sites sites = {ki_special_site, w->s};
	const struct ki_fold_how how = {&m, &callees, &sites, true};
	const struct ki_constants nothing = {0};
	struct ki_err err = {0};

	forget(w);
	w->caller = caller;
	if (ki_symbol_is_cold(caller)) /* its parent jumps to anywhere in it */
		return;
	if (!ki_function_analyze(w->s->t, caller, &w->fn, &err))
		w->folds = !ki_fold(w->fn, &nothing, &how, &w->folded);
}

static bool is_constant(void *arg, const struct ki_symbol *caller, uint64_t call)
{
	struct search *w = arg;
	const struct ki_constant_memory m = {ki_special_memory_read, &w->s->memory};
	const int r = ki_special_register(w->s->request.argument);
	const struct ki_insn *in;
	const struct ki_block *b;
	struct ki_constants c;

	if (caller != w->caller)
		take_caller(w, caller);
	if (!w->folds)
		return false;
	in = ki_function_insn_at(w->fn, call);
	b = ki_function_block_at(w->fn, call);
	if (!in || !b || !w->folded.blocks[b - w->fn->blocks].reached ||
	    w->folded.blocks[b - w->fn->blocks].left)
		return false;
	ki_fold_before(&w->folded, (uint32_t)(b - w->fn->blocks), (uint32_t)(in - w->fn->insns), &m,
		       &c);
	if (w->s->half)
		return c.half & 1u << r && (uint32_t)c.v[r] == (uint32_t)w->s->request.value;
	return c.known & 1u << r && c.v[r] == w->s->request.value;
}

int ki_special_callers(struct ki_special *s, const struct ki_replacement *r, size_t *n,
		       struct ki_err *err)
{
	struct search w = {.s = s};
	struct ki_replacement calls = *r;
	int ret;

	calls.guard = NULL;
	calls.meant = is_constant;
	calls.arg = &w;
	ret = ki_plan_replace_callers(s->plan, s->t, &calls, n, err);
	forget(&w);
	return ret;
}
