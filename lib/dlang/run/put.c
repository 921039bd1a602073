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
	bool lent; /* somebody else frees them */
};

static void function_close(struct function *f)
{
	if (!f->lent) {
		ki_spans_free(&f->spans);
		ki_function_free(f->fn);
	}
	*f = (struct function){0};
}

/* What keeps all of the function where it is. */
static int function_may(const struct function *f, struct ki_err *err)
{
	const struct ki_symbol *sym = f->fn->symbol;

	return f->fn->reason ? ki_err_reason(err, f->fn->reason, sym->addr, "%s", sym->name) : 0;
}

static int function_open(struct ki_target *t, const struct ki_symbol *sym, struct function *f,
			 struct ki_err *err)
{
	int ret = ki_function_analyze(t, sym, &f->fn, err);

	if (!ret && ki_process_is_stub(sym) && f->fn->reason == KI_R_SELF)
		f->fn->reason = KI_R_OK; /* of the driver's text this is there to be spliced */
	if (!ret)
		ret = ki_spans_find(f->fn, &f->spans, err);
	return ret ? ret : function_may(f, err);
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
	const struct ki_d_process *b = site->later;
	const struct ki_d_cost_at at = {
		.plan = b ? b->plan : d->run->probes,
		.chunk = (uint32_t)(b ? b->chunks.n : d->run->chunks.n),
		.probe = site->probe,
		.way = way_of(d, site),
	};
	const int ret = b ? ki_vec_push(&site->later->chunks, site->probe)
			  : ki_vec_push(&d->run->chunks, site->probe);

	if (ret || (site->meter && ki_d_cost_chunk(d, site->meter, &at)))
		return ki_d_no_memory(err);
	return 0;
}

/* Make the code and put it there. */
static int add_code(struct ki_dlang *d, struct ki_plan *plan, const struct ki_insertion *at,
		    struct ki_d_site *site, struct ki_err *err)
{
	struct ki_snippet *s;
	uint32_t id;
	int ret;

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
		ret = ki_plan_add_snippet(plan, at, s, site->regs, &id, err);
	ki_snippet_free(s);
	if (!ret && !d->o.built_only && plan != d->run->triggers) {
		ki_d_alike_note(d, site, plan, id);
		ret = note_chunk(d, site, err);
	}
	return ret;
}

static int add_at(struct ki_dlang *d, struct ki_plan *plan, const struct function *f,
		  const struct ki_place *place, struct ki_d_site *site, struct ki_err *err)
{
	const bool measured = plan != d->run->triggers && d->run->cost && !site->keeps;
	const struct ki_insertion at = {f->fn, &f->spans, place, order_of(site)};
	const struct ki_d_alike *alike;
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
	site->addr = place->addr;
	alike = ki_d_alike_find(d, site, plan);
	if (!alike)
		return add_code(d, plan, &at, site, err);
	ret = ki_plan_add_like(plan, &at, alike->chunk, &id, err);
	return ret ? ret : note_chunk(d, site, err);
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
	} else if (f->lent) {
		ret = function_may(f, why);
	}
	if (ret)
		function_close(f);
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

static int add_probes(struct ki_dlang *d, uint32_t from, uint32_t to, struct function *f,
		      struct ki_err *err)
{
	int ret = 0;

	for (uint32_t i = from; !ret && i < to; i++)
		if (ki_d_has_place(&d->probes.v[i]))
			ret = add_probe(d, i, NULL, f, err);
	return ret;
}

/* ---- many functions ---- */

/* Functions of that many probes are analysed at once: the driver is asked for all text. */
#define MANY	     1024
#define WINDOWS_MOST 16384 /* of one request: each has its wait, and holds all others up */

/* Each function that probes are at themselves; those without a function of their own stand between.
 */
struct many {
	struct ki_dlang *d;
	const struct ki_symbol **syms;
	uint32_t *probes; /* the first of each */
	struct ki_spans *spans;
	size_t n;
	bool alone;   /* what is not here asks the target, too */
	bool entries; /* nothing but entries is probed */
	struct ki_err *err;
};

static void many_free(struct many *m)
{
	for (size_t i = 0; m->spans && i < m->n; i++)
		ki_spans_free(&m->spans[i]);
	free(m->spans);
	free(m->probes);
	free(m->syms);
}

static int many_find(struct many *m)
{
	const struct ki_dlang *d = m->d;

	m->syms = malloc((d->probes.n + 1) * sizeof(*m->syms));
	m->probes = malloc((d->probes.n + 1) * sizeof(*m->probes));
	m->spans = calloc(d->probes.n + 1, sizeof(*m->spans));
	if (!m->syms || !m->probes || !m->spans)
		return -ENOMEM;
	m->entries = true;
	for (uint32_t i = 0; i < d->probes.n; i++) {
		const struct ki_d_probe *p = &d->probes.v[i];

		m->alone |= p->hook != NULL;
		m->entries &= !ki_d_has_place(p) || (!p->hook && !p->point && !is_return(p));
		if (!p->sym || p->hook || (m->n && m->syms[m->n - 1] == p->sym))
			continue;
		m->syms[m->n] = p->sym;
		m->probes[m->n++] = i;
	}
	return 0;
}

static int many_windows(void *arg, size_t i, const struct ki_function *fn)
{
	struct many *m = arg;

	return (m->entries ? ki_spans_find_entry : ki_spans_find)(fn, &m->spans[i], NULL);
}

static int many_whole(void *arg, size_t i, const struct ki_function *fn)
{
	struct many *m = arg;

	return ki_spans_find_entry_whole(fn, &m->spans[i], NULL);
}

static int many_take(void *arg, size_t i, const struct ki_function *fn)
{
	struct many *m = arg;
	struct function f = {(struct ki_function *)(uintptr_t)fn, m->spans[i], true};
	const uint32_t from = i ? m->probes[i] : 0,
		       to = i + 1 < m->n ? m->probes[i + 1] : (uint32_t)m->d->probes.n;
	int ret = add_probes(m->d, from, to, &f, m->err);

	function_close(&f);
	ki_spans_free(&m->spans[i]);
	return ret;
}

static int add_many(struct many *m, struct ki_err *err)
{
	const struct ki_functions_job job = {.syms = m->syms,
					     .n = m->n,
					     .threads = m->alone ? 1 : 0,
					     .each = many_windows,
					     .whole = many_whole,
					     .take = many_take,
					     .arg = m,
					     .at_entries = m->entries};

	ki_plan_batch(m->d->run->probes, WINDOWS_MOST);
	return ki_functions_analyze(m->d->run->t, &job, err);
}

static int add_all(struct ki_dlang *d, struct ki_err *err)
{
	struct many m = {.d = d, .err = err};
	struct function f = {0};
	int ret = many_find(&m);

	if (!ret && m.n >= MANY)
		ret = add_many(&m, err);
	else if (!ret)
		ret = add_probes(d, 0, (uint32_t)d->probes.n, &f, err);
	function_close(&f);
	many_free(&m);
	return ret == -ENOMEM ? ki_d_no_memory(err) : ret;
}

int ki_d_put_probes(struct ki_dlang *d, struct ki_err *err)
{
	int ret = ki_d_users_begin(d, err);

	if (!ret)
		ret = add_all(d, err);
	if (!ret)
		ret = put_constants(d, err);
	if (!ret && ki_plan_chunks(d->run->probes)) {
		ret = ki_plan_apply(d->run->probes, d->run->t, true, err);
		d->run->applied = !ret;
		note_refusals(d, d->run->probes, d->run->chunks.v, d->run->chunks.n);
	}
	if (!ret && d->run->cost)
		ret = ki_d_cost_begin(d, err);
	for (uint32_t i = 0; !ret && i < d->probes.n; i++)
		ki_d_hook_begin(&d->probes.v[i]);
	return ret;
}

/* NULL: the probe is not of that batch. */
static struct ki_d_user *user_in(const struct ki_dlang *d, uint32_t probe, uint32_t batch)
{
	const struct ki_d_hook *h = d->probes.v[probe].hook;

	return h && h->user && h->user->batch == batch && !h->user->gone ? h->user : NULL;
}

/* What was taken out for its cost does not come again with its library. */
static void keep_out(struct ki_dlang *d, uint32_t batch)
{
	for (uint32_t i = 0; d->run->cost && i < d->probes.n; i++) {
		struct ki_d_user *u = user_in(d, i, batch);

		if (u && ki_d_cost_is_out(d, i))
			u->shed = true;
	}
}

int ki_d_put_later(struct ki_dlang *d, uint32_t batch, struct ki_err *err)
{
	struct ki_d_process *b = &d->processes.v[batch];
	struct function f = {0};
	int ret;

	keep_out(d, batch);
	ret = ki_d_users_put(d, batch, err);
	if (!ret && ki_plan_new(&b->plan))
		ret = ki_d_no_memory(err);
	for (uint32_t i = 0; !ret && i < d->probes.n; i++) {
		const struct ki_d_user *u = user_in(d, i, batch);

		if (u && !u->shed)
			ret = add_probe(d, i, b, &f, err);
	}
	function_close(&f);
	if (!ret)
		ret = put_constants(d, err);
	if (ret || !ki_plan_chunks(b->plan))
		return ret;
	ret = ki_plan_apply(b->plan, d->run->t, true, err);
	note_refusals(d, b->plan, b->chunks.v, b->chunks.n);
	return !ret && d->run->cost ? ki_d_cost_came(d, err) : ret;
}
