// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Points of a process that are counted in the kernel. A breakpoint of the driver's stands at each
 * place, and the code in the function that the kernel calls there (ki_process_new_hits):
 *
 *	if (address == PLACE)		parameter 0; others share the function
 *		if (pid == PROCESS)	what it forks does so, too
 *			...		of the thread, whose registers are at parameter 1
 *
 * What lasts ends before the return, or before the jump by which the function is left.
 */
#include <errno.h>
#include <stdlib.h>

#include "metric/measure.h"
#include "target/process.h"

#define ADDRESS	  0
#define REGISTERS 1

/* The function that a place's breakpoint calls, while code is put there. */
struct hit_function {
	struct ki_function *fn;
	struct ki_spans spans;
	struct places at;
};

static void hit_function_close(struct hit_function *s)
{
	free(s->at.v);
	ki_spans_free(&s->spans);
	ki_function_free(s->fn);
}

static int hit_function_open(const struct ask *a, uint64_t addr, struct hit_function *s)
{
	const struct ki_symbol *sym = ki_process_stub(a->m->t, addr);
	const struct ki_point entry = {.kind = KI_POINT_ENTRY};
	struct ask own = *a;
	int ret;

	*s = (struct hit_function){0};
	if (!sym)
		return ki_err_reason(a->err, KI_R_NOT_IN_PROCESS, addr, "%s",
				     ki_measure_name(a->fn));
	ret = ki_function_analyze(a->m->t, sym, &s->fn, a->err);
	if (!ret && s->fn->reason == KI_R_SELF)
		s->fn->reason = KI_R_OK; /* of the driver's text this is there to be spliced */
	if (!ret)
		ret = ki_spans_find(s->fn, &s->spans, a->err);
	own.fn = s->fn;
	own.spans = &s->spans;
	return ret ? ret : ki_measure_places_of(&own, &entry, &s->at);
}

static struct ki_node *is(struct ki_snippet *s, struct ki_node *x, enum ki_type type,
			  uint64_t value)
{
	return ki_expr_binary(s, KI_EQ, x, ki_expr_const(s, type, value));
}

static int make_snippet(const struct ask *a, const struct told_code *t,
			const struct ki_place *place, struct ki_snippet *s)
{
	const struct ki_process *process = a->m->told->own;
	struct ki_site_regs there;
	struct ki_node *action;
	int ret;

	ki_place_site(a->fn, place, NULL, &there);
	there.place |= KI_PLACE_FACTS(0, 0, a->order, a->m->number);
	ki_snippet_of_thread(s, REGISTERS, &there);
	ret = t->build(a, t->arg, s, &action);
	ki_snippet_of_thread(s, REGISTERS, NULL);
	if (ret)
		return ret;
	action = ki_stmt_if(s, is(s, ki_expr_fact(s, KI_FACT_TGID), KI_U32, (uint64_t)process->pid),
			    action, NULL);
	ki_snippet_body(s, ki_stmt_if(s, is(s, ki_expr_param(s, ADDRESS), KI_U64, place->addr),
				      action, NULL));
	return ki_snippet_check(s, NULL, a->err);
}

static int no_memory(const struct ask *a)
{
	return ki_err_set(a->err, -ENOMEM, 0, "measurement: out of memory");
}

static int keep_sites(const struct ask *a, struct code *c, const struct code *one)
{
	for (size_t i = 0; i < one->sites.n; i++)
		if (ki_vec_push(&c->sites, one->sites.v[i]))
			return no_memory(a);
	return 0;
}

static int put_place(const struct ask *a, const struct told_code *t, const struct ki_place *place,
		     struct code *c)
{
	const struct told told = {
		.process = a->m->told, .hit.addr = place->addr, .bundle = t->bundle};
	struct ask own = *a;
	struct code code = {0};
	struct hit_function hit;
	int ret;

	if (place->where != KI_BEFORE)
		return ki_err_reason(a->err, KI_R_NOT_IN_PROCESS, place->addr, "%s",
				     ki_measure_name(a->fn));
	if (ki_vec_reserve(&a->m->told_at, 1) || ki_vec_reserve(t->snippets, 1) ||
	    ki_snippet_new(&code.snippet))
		return no_memory(a);
	t->snippets->v[t->snippets->n++] = code.snippet;
	ret = hit_function_open(a, place->addr, &hit);
	if (!ret)
		ret = make_snippet(a, t, place, code.snippet);
	own.fn = hit.fn;
	own.spans = &hit.spans;
	if (!ret)
		ret = ki_code_put(&own, &code, &hit.at, a->order);
	if (!ret)
		ret = keep_sites(a, c, &code);
	if (!ret)
		a->m->told_at.v[a->m->told_at.n++] = told;
	ki_vec_free(&code.sites);
	hit_function_close(&hit);
	return ret;
}

int ki_told_put(const struct ask *a, const struct told_code *t, const struct places *at,
		struct code *c)
{
	int ret = 0;

	if (!c->run.n)
		c->run.first = (uint32_t)a->m->told_at.n;
	for (size_t i = 0; !ret && i < at->n; i++)
		ret = put_place(a, t, &at->v[i], c);
	c->run.n = (uint32_t)a->m->told_at.n - c->run.first;
	return ret;
}

/* Where a breakpoint cannot be, none of its curve's code is. */
static void note_refusals(struct ki_measure *m, const struct ki_target *process,
			  const struct ki_process_hit *hits)
{
	for (size_t i = 0; i < m->told_at.n; i++) {
		const struct told *t = &m->told_at.v[i];

		if (t->process != process)
			continue;
		if (hits->reason)
			ki_plan_leave_out(m->plan, t->bundle, hits->reason);
		hits++;
	}
}

/* All of one process at once; hits has room for all. */
static int begin_in(struct ki_measure *m, struct ki_target *process, struct ki_process_hit *hits,
		    struct ki_err *err)
{
	struct told_in in = {.process = process};
	size_t n = 0;
	int ret;

	for (size_t i = 0; i < m->hits.n; i++)
		if (m->hits.v[i].process == process)
			return 0;
	if (ki_vec_reserve(&m->hits, 1))
		return ki_err_set(err, -ENOMEM, 0, "measurement: out of memory");
	for (size_t i = 0; i < m->told_at.n; i++)
		if (m->told_at.v[i].process == process)
			hits[n++] = m->told_at.v[i].hit;
	ret = ki_process_new_hits(process, hits, n, &in.splice, err);
	if (ret)
		return ret;
	m->hits.v[m->hits.n++] = in;
	note_refusals(m, process, hits);
	return 0;
}

int ki_told_begin(struct ki_measure *m, struct ki_err *err)
{
	struct ki_process_hit *hits = calloc(m->told_at.n + 1, sizeof(*hits));
	int ret = 0;

	if (!hits)
		return ki_err_set(err, -ENOMEM, 0, "measurement: out of memory");
	for (size_t i = 0; !ret && i < m->told_at.n; i++)
		ret = begin_in(m, m->told_at.v[i].process, hits, err);
	free(hits);
	return ret;
}

/* ---- what is taken out before the end ---- */

void ki_told_shed(struct ki_measure *m, uint32_t bundle)
{
	for (size_t i = 0; i < m->told_at.n; i++)
		m->told_at.v[i].gone |= m->told_at.v[i].bundle == bundle;
}

static bool is_wanted(const struct ki_measure *m, const struct told *t)
{
	for (size_t i = 0; i < m->told_at.n; i++) {
		const struct told *o = &m->told_at.v[i];

		if (!o->gone && o->process == t->process && o->hit.addr == t->hit.addr)
			return true;
	}
	return false;
}

static int by_place(const void *a, const void *b)
{
	const struct told *x = *(struct told *const *)a, *y = *(struct told *const *)b;

	if (x->process != y->process)
		return (uintptr_t)x->process < (uintptr_t)y->process ? -1 : 1;
	return x->hit.addr < y->hit.addr ? -1 : x->hit.addr > y->hit.addr;
}

int ki_told_note_sharers(struct ki_measure *m)
{
	const size_t n = m->told_at.n;
	struct told **v = calloc(n + 1, sizeof(struct told *));

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		v[i] = &m->told_at.v[i];
	qsort(v, n, sizeof(struct told *), by_place);
	for (size_t i = 0, end; i < n; i = end) {
		uint32_t sharers = 0;

		for (end = i; end < n && !by_place(&v[i], &v[end]); end++)
			sharers += !v[end]->gone;
		for (size_t k = i; k < end; k++)
			v[k]->sharers = sharers;
	}
	free(v);
	return 0;
}

int ki_told_update(struct ki_measure *m, struct ki_err *err)
{
	uint64_t *addrs = calloc(m->told_at.n + 1, sizeof(*addrs));
	int ret = addrs ? 0 : ki_err_set(err, -ENOMEM, 0, "measurement: out of memory");

	for (size_t k = 0; !ret && k < m->hits.n; k++) {
		size_t n = 0;

		for (size_t i = 0; i < m->told_at.n; i++) {
			const struct told *t = &m->told_at.v[i];

			if (t->gone && t->process == m->hits.v[k].process && !is_wanted(m, t))
				addrs[n++] = t->hit.addr;
		}
		if (n && m->hits.v[k].splice)
			ret = ki_process_shed_hits(m->hits.v[k].splice, addrs, n, err);
	}
	free(addrs);
	return ret;
}

int ki_told_end(struct ki_measure *m, struct ki_err *err)
{
	int ret = 0;

	for (size_t i = 0; i < m->hits.n; i++) {
		int one = m->hits.v[i].splice ? ki_process_remove(m->hits.v[i].splice, err) : 0;

		ret = ret ? ret : one;
	}
	return ret;
}

void ki_told_free(struct ki_measure *m)
{
	for (size_t i = 0; i < m->hits.n; i++)
		ki_process_free(m->hits.v[i].splice);
	ki_vec_free(&m->hits);
	ki_vec_free(&m->told_at);
}

const struct ki_splice_process *ki_measure_process_of(const struct ki_measure *m,
						      const struct ki_target *process)
{
	for (size_t i = 0; i < m->hits.n; i++)
		if (!process || m->hits.v[i].process == process)
			return m->hits.v[i].splice;
	return NULL;
}

void ki_measure_tell(struct ki_measure *m, struct ki_target *process)
{
	m->told = process;
}
