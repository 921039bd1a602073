// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Probes to places: each clause is compiled for where it stands, and put in.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/probe/probe.h"
#include "dlang/probe/user.h"
#include "dlang/run/cost.h"
#include "kerninst/process.h"
#include "metric/measure.h"

static const struct ki_point at_entry = {.kind = KI_POINT_ENTRY},
			     at_start = {.kind = KI_POINT_START};

/* A function while code is added to it. */
struct function {
	struct ki_function *fn;
	struct ki_spans spans;
};

static void function_close(struct function *f)
{
	ki_spans_free(&f->spans);
	ki_function_free(f->fn);
	*f = (struct function){0};
}

static int function_open(struct ki_target *t, const struct ki_symbol *sym, struct function *f,
			 struct ki_err *err)
{
	int ret = ki_function_analyze(t, sym, &f->fn, err);

	if (!ret && ki_process_is_stub(sym) && f->fn->reason == KI_R_SELF)
		f->fn->reason = KI_R_OK; /* of the driver's text this is there to be spliced */
	if (!ret)
		ret = ki_spans_find(f->fn, &f->spans, err);
	if (!ret && f->fn->reason)
		ret = ki_err_reason(err, f->fn->reason, sym->addr, "%s", sym->name);
	return ret;
}

/* A system call is entered before its function is, and ends behind it. */
static uint16_t order_of(const struct ki_d_site *site)
{
	return site->is_syscall ? (site->is_return ? 2 : 0) : 1;
}

/* How hits of a place are come by. */
static enum ki_d_cost_way way_of(const struct ki_dlang *d, const struct ki_d_site *site)
{
	const struct ki_d_probe *p = &d->probes.v[site->probe];

	if (!p->hook || !p->hook->user)
		return KI_D_COST_INLINE;
	return p->hook->user->places[site->place].stub ? KI_D_COST_BREAKPOINT : KI_D_COST_UPROBE;
}

/* Whose the plan's next chunk is. */
static int note_chunk(struct ki_dlang *d, const struct ki_d_site *site, struct ki_err *err)
{
	const int ret = site->later ? ki_vec_push(&site->later->chunks, site->probe)
				    : ki_vec_push(&d->run->chunks, site->probe);

	if (ret || (site->meter && ki_d_cost_chunk(d, site->meter, way_of(d, site))))
		return ki_d_no_memory(err);
	return 0;
}

static int add_at(struct ki_dlang *d, struct ki_plan *plan, const struct function *f,
		  const struct ki_place *place, struct ki_d_site *site, struct ki_err *err)
{
	const bool measured = plan == d->run->probes && d->run->cost && !site->keeps;
	struct ki_snippet *s;
	struct ki_site_regs regs;
	struct ki_d_meter meter = {0};
	uint32_t id;
	int ret;

	if (place->reason)
		return ki_err_reason(err, place->reason, place->addr, "%s", f->fn->symbol->name);
	ki_measure_site(f->fn, place, &regs);
	site->regs = &regs;
	site->meter = measured ? &meter : NULL;
	if (site->meter && ki_d_cost_meter(d, &meter, err))
		return -ENOSPC;
	site->offset = place->addr - f->fn->start;
	if (site->keeps)
		ret = ki_d_code_keep(d, site, &s, err);
	else
		ret = site->to ? ki_d_code_constants(d, site, site->from, site->to, &s, err)
			       : ki_d_code(d, site, &s, err);
	if (ret || !s)
		return ret;
	if (d->o.listing)
		ret = ki_d_list_code(d, site, s, err);
	if (!ret && !d->o.built_only)
		ret = ki_plan_add_snippet(
			plan, &(struct ki_insertion){f->fn, &f->spans, place, order_of(site)}, s,
			&regs, &id, err);
	ki_snippet_free(s);
	if (!ret && !d->o.built_only && plan != d->run->triggers)
		ret = note_chunk(d, site, err);
	return ret;
}

static int add_point(struct ki_dlang *d, struct ki_plan *plan, const struct function *f,
		     struct ki_point pt, struct ki_d_site *site, struct ki_err *err)
{
	const struct ki_d_hook *h = site->is_trigger ? NULL : d->probes.v[site->probe].hook;
	struct ki_place *places = NULL;
	size_t n = 0;
	int ret = ki_point_places(f->fn, &f->spans, &pt, &places, &n, err);

	for (size_t i = 0; !ret && i < n; i++)
		if (!(h && h->jumps && places[i].where == KI_RETURNED))
			ret = add_at(d, plan, f, &places[i], site, err);
	free(places);
	return ret;
}

static bool is_return(const struct ki_d_probe *p)
{
	if (p->point)
		return false;
	return p->hook ? p->hook->is_return : strcmp(p->name, "entry") != 0;
}

/* The value that is returned is known when the caller has got control back. */
static enum ki_point_kind kind_of(const struct ki_dlang *d, const struct ki_d_probe *p)
{
	if (!is_return(p))
		return KI_POINT_ENTRY;
	if (p->hook)
		return KI_POINT_EXIT_AFTER;
	for (uint32_t i = p->first; i < p->first + p->n; i++) {
		const struct ki_d_clause *c = &d->clauses.v[d->uses.v[i]];

		if (c->asks_return || (c->asks_first && ki_d_probe_is(p, "syscall")))
			return KI_POINT_EXIT_AFTER;
	}
	return KI_POINT_EXIT;
}

static struct ki_point point_of(const struct ki_dlang *d, const struct ki_d_probe *p)
{
	return p->point ? *p->point : (struct ki_point){.kind = kind_of(d, p)};
}

static int add_place(struct ki_dlang *d, struct ki_d_site *site, struct function *f,
		     struct ki_err *why)
{
	struct ki_d_probe *p = &d->probes.v[site->probe];
	struct ki_plan *plan = site->later ? site->later->plan : d->run->probes;
	const struct ki_symbol *sym;
	int ret = 0;

	if (p->hook && p->hook->there)
		ki_d_stable_turn(d->run->t, p, site->place);
	sym = ki_d_hook_symbol(p, site->place);
	if (!f->fn || f->fn->symbol != sym) {
		function_close(f);
		ret = function_open(d->run->t, sym, f, why);
		if (ret)
			function_close(f);
	}
	site->keeps = !ret && p->hook && ki_d_hook_keeps(p->hook);
	if (site->keeps) /* where all parameters are, be it before what saves flags */
		ret = add_point(d, plan, f, at_start, site, why);
	site->keeps = false;
	site->is_return = is_return(p);
	return ret ? ret : add_point(d, plan, f, point_of(d, p), site, why);
}

/* One that cannot be placed has its reason, and fails nothing. */
static int add_probe(struct ki_dlang *d, uint32_t number, struct ki_d_process *later,
		     struct function *f, struct ki_err *err)
{
	struct ki_d_probe *p = &d->probes.v[number];
	struct ki_d_site site = {
		.probe = number, .is_syscall = ki_d_probe_is(p, "syscall"), .later = later};
	struct ki_err why = {0};
	unsigned int reason = 0;
	int ret = ki_d_hook_find(d, p, &reason, err);

	p->reason = (uint16_t)reason;
	if (ret || reason)
		return ret;
	for (; site.place < ki_d_hook_places(p); site.place++) {
		ret = add_place(d, &site, f, &why);
		if (ret && !why.reason)
			return ki_err_set(err, ret, why.addr, "%s", why.msg);
		if (ret) {
			p->reason = (uint16_t)why.reason;
			why = (struct ki_err){0};
		}
	}
	return 0;
}

static int add_trigger(struct ki_dlang *d, const struct function *f, uint32_t number,
		       struct ki_err *err)
{
	struct ki_d_site site = {.probe = number, .is_trigger = true};

	return add_point(d, d->run->triggers, f, at_entry, &site, err);
}

#define AT_ONCE 32 /* strings */

static int put_some(struct ki_dlang *d, const struct function *f, struct ki_err *err)
{
	const size_t left = d->constants.n - d->run->constants_in;
	struct ki_d_site site = {.is_trigger = true, .from = d->run->constants_in};
	struct ki_plan *plan;
	int ret;

	site.to = site.from + (left < AT_ONCE ? left : AT_ONCE);
	if (ki_plan_new(&plan))
		return ki_d_no_memory(err);
	ret = add_point(d, plan, f, at_entry, &site, err);
	if (!ret)
		ret = ki_plan_apply(plan, d->run->t, false, err);
	if (!ret) {
		ki_d_fire(KI_D_CONSTANTS);
		ret = ki_plan_remove(plan, d->run->t, err);
	}
	ki_plan_free(plan);
	d->run->constants_in = site.to;
	return ret;
}

/* What code names of the program's strings goes into the table. */
static int put_constants(struct ki_dlang *d, struct ki_err *err)
{
	const struct ki_symbol *sym = ki_target_symbol_named(d->run->t, "", KI_D_TRIGGER, NULL);
	struct function f = {0};
	int ret = 0;

	if (d->run->constants_in == d->constants.n || !sym || d->o.built_only)
		return 0;
	ret = function_open(d->run->t, sym, &f, err);
	while (!ret && d->run->constants_in < d->constants.n)
		ret = put_some(d, &f, err);
	function_close(&f);
	return ret;
}

int ki_d_put_triggers(struct ki_dlang *d, struct ki_err *err)
{
	const struct ki_symbol *sym = ki_target_symbol_named(d->run->t, "", KI_D_TRIGGER, NULL);
	struct function f = {0};
	int ret;

	if (!sym)
		return ki_err_set(err, -ENOENT, 0, "D: this kernel has no %s", KI_D_TRIGGER);
	ret = function_open(d->run->t, sym, &f, err);
	for (uint32_t i = 0; !ret && i < d->probes.n; i++)
		if (!ki_d_has_place(&d->probes.v[i]) && i != ki_d_probe_named(d, "ERROR"))
			ret = add_trigger(d, &f, i, err);
	function_close(&f);
	if (!ret)
		ret = put_constants(d, err);
	if (!ret && ki_plan_chunks(d->run->triggers))
		ret = ki_plan_apply(d->run->triggers, d->run->t, false, err);
	return ret;
}

/* What the driver has refused. */
static void note_refusals(struct ki_dlang *d, const struct ki_plan *plan, const uint32_t *whose,
			  size_t n)
{
	for (uint32_t i = 0; i < n; i++) {
		unsigned int reason = ki_plan_refusal(plan, i);

		if (reason)
			d->probes.v[whose[i]].reason = (uint16_t)reason;
	}
}

int ki_d_put_probes(struct ki_dlang *d, struct ki_err *err)
{
	struct function f = {0};
	int ret = ki_d_users_begin(d, err);

	for (uint32_t i = 0; !ret && i < d->probes.n; i++)
		if (ki_d_has_place(&d->probes.v[i]))
			ret = add_probe(d, i, NULL, &f, err);
	function_close(&f);
	if (!ret)
		ret = put_constants(d, err);
	if (ret || !ki_plan_chunks(d->run->probes))
		return ret;
	ret = ki_plan_apply(d->run->probes, d->run->t, true, err);
	d->run->applied = !ret;
	note_refusals(d, d->run->probes, d->run->chunks.v, d->run->chunks.n);
	if (!ret && d->run->cost)
		ret = ki_d_cost_begin(d, err);
	for (uint32_t i = 0; !ret && i < d->probes.n; i++)
		ki_d_hook_begin(&d->probes.v[i]);
	return ret;
}

int ki_d_put_later(struct ki_dlang *d, uint32_t batch, struct ki_err *err)
{
	struct ki_d_process *b = &d->processes.v[batch];
	struct function f = {0};
	int ret = ki_d_users_put(d, batch, err);

	if (!ret && ki_plan_new(&b->plan))
		ret = ki_d_no_memory(err);
	for (uint32_t i = 0; !ret && i < d->probes.n; i++) {
		const struct ki_d_hook *h = d->probes.v[i].hook;

		if (h && h->user && h->user->batch == batch && !h->user->gone)
			ret = add_probe(d, i, b, &f, err);
	}
	function_close(&f);
	if (!ret)
		ret = put_constants(d, err);
	if (ret || !ki_plan_chunks(b->plan))
		return ret;
	ret = ki_plan_apply(b->plan, d->run->t, true, err);
	note_refusals(d, b->plan, b->chunks.v, b->chunks.n);
	return ret;
}
