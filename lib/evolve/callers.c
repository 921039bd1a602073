// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Calls of laid-out functions by others of the kernel: they lead into the layout where they stand.
 *
 * A call that stays as it is comes by the function's place in the text: endbr64, the ftrace site,
 * a jump. Such a call's distance is changed instead. What the driver refuses (somebody has a
 * window there, or the place is reserved), and what has no window of its own, stays as it is, and
 * so do the calls of modules, which must be free to go.
 */
#include <errno.h>
#include <stdlib.h>

#include "evolve/inside.h"
#include "kerninst/program.h"

#define CALLS_MOST 1024 /* each may take a name in kallsyms; further ones stay as they are */

static bool is_laid_out(const struct ki_evolve *e, const struct ki_symbol *sym)
{
	for (size_t i = 0; i < e->v.n; i++)
		if (e->v.v[i].fn->symbol == sym)
			return true;
	return false;
}

/* The function is analysed once for all of its calls, which come one after the other. */
static int take_caller(struct ki_evolve *e, const struct ki_symbol *sym)
{
	struct ki_evolve_caller *c = e->callers.n ? &e->callers.v[e->callers.n - 1] : NULL;
	struct ki_err err = {0};

	if (c && c->fn->symbol == sym)
		return 0;
	if (ki_vec_reserve(&e->callers, 1))
		return -ENOMEM;
	c = &e->callers.v[e->callers.n];
	*c = (struct ki_evolve_caller){0};
	if (ki_function_analyze(e->t, sym, &c->fn, &err) || ki_spans_find(c->fn, &c->spans, &err)) {
		ki_function_free(c->fn);
		return err.code == -ENOMEM ? -ENOMEM : 1;
	}
	e->callers.n++;
	return 0;
}

static int take_call(struct ki_evolve *e, const struct ki_program_function *v,
		     const struct ki_program_call *call)
{
	const struct ki_symbol *sym = v[call->caller].symbol;
	const struct ki_evolve_caller *c;
	int ret;

	if (*sym->module || is_laid_out(e, sym) || e->calls.n == CALLS_MOST)
		return 0;
	ret = take_caller(e, sym);
	if (ret)
		return ret < 0 ? ret : 0;
	c = &e->callers.v[e->callers.n - 1];
	if (!ki_span_of_call(c->fn, &c->spans, call->from))
		return 0;
	if (ki_vec_reserve(&e->calls, 1))
		return -ENOMEM;
	e->calls.v[e->calls.n++] = (struct ki_evolve_call){e->callers.n - 1, {.call = call->from}};
	return 0;
}

static int by_caller(const void *a, const void *b)
{
	const struct ki_program_call *x = a, *y = b;

	return x->from < y->from ? -1 : x->from > y->from;
}

/* The calls of all functions that are laid out, in order of address. */
static int list_calls(const struct ki_evolve *e, const struct ki_program *p,
		      struct ki_program_call **out, size_t *n)
{
	ki_vec(struct ki_program_call) v = {0};
	int ret = 0;

	for (size_t i = 0; i < e->v.n && !ret; i++) {
		const struct ki_evolved *f = &e->v.v[i];
		uint32_t to = ki_program_function_at(p, f->fn->start), count = 0;
		const uint32_t *callers = ki_program_callers(p, to, &count);

		ret = f->reason || *f->fn->symbol->module ? 0 : ki_vec_reserve(&v, count);
		for (uint32_t k = 0; !ret && !f->reason && k < count; k++)
			v.n += !ki_program_call(p, callers[k], &v.v[v.n]) &&
			       v.v[v.n].to == f->fn->start;
	}
	if (v.n)
		qsort(v.v, v.n, sizeof(*v.v), by_caller);
	*out = v.v;
	*n = v.n;
	return ret;
}

/* One window may have no two calls, but two functions' lists the same call never. */
static int find_calls(struct ki_evolve *e, const struct ki_program *p)
{
	struct ki_program_call *v;
	const struct ki_program_function *functions;
	uint32_t nfunctions;
	size_t n;
	int ret = list_calls(e, p, &v, &n);

	functions = ki_program_functions(p, &nfunctions);
	for (size_t i = 0; i < n && !ret; i++)
		ret = take_call(e, functions, &v[i]);
	free(v);
	return ret;
}

/* The array of callers has grown; now it stays. */
static void point_at_callers(struct ki_evolve *e)
{
	for (size_t i = 0; i < e->calls.n; i++) {
		const struct ki_evolve_caller *c = &e->callers.v[e->calls.v[i].caller];

		e->calls.v[i].l.fn = c->fn;
		e->calls.v[i].l.spans = &c->spans;
	}
}

/* Each is asked for by itself, because a group is refused as a whole. */
static int drop_refused(struct ki_evolve *e, struct ki_err *err)
{
	struct ki_plan *each;
	size_t n = 0;
	int ret = ki_plan_new(&each);

	if (ret)
		return ki_err_set(err, -ENOMEM, 0, "layout: out of memory");
	for (size_t i = 0; i < e->calls.n && !ret; i++)
		ret = ki_plan_lay_out(each, &e->calls.v[i].l, 1, err);
	if (!ret && e->calls.n)
		ret = ki_plan_check(each, e->t, err);
	for (size_t i = 0; i < e->calls.n && !ret; i++)
		if (!ki_plan_refusal(each, e->calls.v[i].l.id))
			e->calls.v[n++] = e->calls.v[i];
	if (!ret)
		e->calls.n = n;
	ki_plan_free(each);
	return ret;
}

int ki_evolve_find_callers(struct ki_evolve *e, struct ki_err *err)
{
	const struct ki_program_options how = {.size = sizeof(how), .no_liveness = true};
	struct ki_program *p;
	int ret = ki_program_new(e->t, &how, &p, err);

	if (ret)
		return ret;
	if (find_calls(e, p))
		ret = ki_err_set(err, -ENOMEM, 0, "layout: out of memory");
	ki_program_free(p);
	point_at_callers(e);
	return ret ? ret : drop_refused(e, err);
}

void ki_evolve_forget_callers(struct ki_evolve *e)
{
	for (size_t i = 0; i < e->callers.n; i++) {
		ki_spans_free(&e->callers.v[i].spans);
		ki_function_free(e->callers.v[i].fn);
	}
	ki_vec_free(&e->callers);
	ki_vec_free(&e->calls);
}

size_t ki_evolve_retargeted(const struct ki_evolve *e)
{
	return e->calls.n;
}
