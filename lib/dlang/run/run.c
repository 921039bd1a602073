// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "dlang/run/run.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <sys/syscall.h>

#include "dlang/print/aggregate.h"
#include "dlang/print/lines.h"
#include "dlang/print/place.h"
#include "dlang/probe/probe.h"
#include "dlang/probe/user.h"
#include "dlang/code/storage.h"
#include "kerninst/process.h"
#include "metric/measure.h"
#include "record/users.h"

#define SECOND 1000000000ull

static uint64_t now(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * SECOND + (uint64_t)ts.tv_nsec;
}

void ki_d_run_free(struct ki_d_run *r)
{
	if (!r)
		return;
	if (r->reopened)
		fclose(r->reopened);
	ki_plan_free(r->probes);
	ki_plan_free(r->triggers);
	ki_counter_map_close(r->counters);
	ki_stacks_close(r->stacks);
	ki_texts_close(r->strings);
	ki_ring_close(r->ring);
	ki_d_hold_free(&r->hold);
	for (size_t i = 0; i < r->events.n; i++)
		free(r->events.v[i].name);
	ki_vec_free(&r->events);
	ki_vec_free(&r->ticks);
	ki_vec_free(&r->files);
	ki_users_free(r->users);
	ki_vec_free(&r->chunks);
	free(r);
}

/* ---- putting in ---- */

static const struct ki_point at_entry = {.kind = KI_POINT_ENTRY};

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

static void fire(uint32_t probe)
{
	syscall(KI_D_TRIGGER_CALL, (unsigned long)probe);
}

static int add_at(struct ki_dlang *d, struct ki_plan *plan, const struct function *f,
		  const struct ki_place *place, struct ki_d_site *site, struct ki_err *err)
{
	struct ki_snippet *s;
	struct ki_site_regs regs;
	uint32_t id;
	int ret;

	if (place->reason)
		return ki_err_reason(err, place->reason, place->addr, "%s", f->fn->symbol->name);
	ki_measure_site(f->fn, place, &regs);
	site->regs = &regs;
	site->offset = place->addr - f->fn->start;
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
	if (!ret && !d->o.built_only && plan == d->run->probes &&
	    ki_vec_push(&d->run->chunks, site->probe))
		ret = ki_d_no_memory(err);
	return ret;
}

static int add_point(struct ki_dlang *d, struct ki_plan *plan, const struct function *f,
		     struct ki_point pt, struct ki_d_site *site, struct ki_err *err)
{
	struct ki_place *places = NULL;
	size_t n = 0;
	int ret = ki_point_places(f->fn, &f->spans, &pt, &places, &n, err);

	for (size_t i = 0; !ret && i < n; i++)
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
	const struct ki_d_probe *p = &d->probes.v[site->probe];
	const struct ki_symbol *sym = ki_d_hook_symbol(p, site->place);
	int ret = 0;

	if (!f->fn || f->fn->symbol != sym) {
		function_close(f);
		ret = function_open(d->run->t, sym, f, why);
		if (ret)
			function_close(f);
	}
	return ret ? ret : add_point(d, d->run->probes, f, point_of(d, p), site, why);
}

/* One that cannot be placed has its reason, and fails nothing. */
static int add_probe(struct ki_dlang *d, uint32_t number, struct function *f, struct ki_err *err)
{
	struct ki_d_probe *p = &d->probes.v[number];
	struct ki_d_site site = {.probe = number,
				 .is_return = is_return(p),
				 .is_syscall = ki_d_probe_is(p, "syscall")};
	struct ki_err why = {0};
	unsigned int reason = 0;
	int ret = ki_d_hook_find(d, p, &reason, err);

	p->reason = (uint16_t)reason;
	if (ret || reason)
		return ret;
	do
		ret = add_place(d, &site, f, &why);
	while (!ret && ++site.place < ki_d_hook_places(p));
	if (ret && why.reason) {
		p->reason = (uint16_t)why.reason;
		return 0;
	}
	return ret ? ki_err_set(err, ret, why.addr, "%s", why.msg) : 0;
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
		fire(KI_D_CONSTANTS);
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

static int add_triggers(struct ki_dlang *d, struct ki_err *err)
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

static void fire_named(struct ki_dlang *d, const char *name)
{
	const uint32_t i = ki_d_probe_named(d, name);

	if (i != UINT32_MAX)
		fire(i);
}

/* What the driver has refused. */
static void note_refusals(struct ki_dlang *d)
{
	for (uint32_t i = 0; i < d->run->chunks.n; i++) {
		unsigned int reason = ki_plan_refusal(d->run->probes, i);

		if (reason)
			d->probes.v[d->run->chunks.v[i]].reason = (uint16_t)reason;
	}
}

static int add_probes(struct ki_dlang *d, struct ki_err *err)
{
	struct function f = {0};
	int ret = ki_d_users_begin(d, err);

	for (uint32_t i = 0; !ret && i < d->probes.n; i++)
		if (ki_d_has_place(&d->probes.v[i]))
			ret = add_probe(d, i, &f, err);
	function_close(&f);
	if (!ret)
		ret = put_constants(d, err);
	if (ret || !ki_plan_chunks(d->run->probes))
		return ret;
	ret = ki_plan_apply(d->run->probes, d->run->t, true, err);
	d->run->applied = !ret;
	note_refusals(d);
	for (uint32_t i = 0; !ret && i < d->probes.n; i++)
		ki_d_hook_begin(&d->probes.v[i]);
	return ret;
}

static int start_ticks(struct ki_dlang *d)
{
	for (uint32_t i = 0; i < d->probes.n; i++) {
		struct ki_d_tick t = {i, now(CLOCK_MONOTONIC) + d->probes.v[i].nanoseconds};

		if (d->probes.v[i].nanoseconds && !d->probes.v[i].hook &&
		    ki_vec_push(&d->run->ticks, t))
			return -ENOMEM;
	}
	return 0;
}

int ki_d_destroys(struct ki_err *err)
{
	return ki_err_set(err, -EPERM, 0,
			  "could not enable tracing: Destructive actions not allowed");
}

int ki_dlang_start(struct ki_dlang *d, struct ki_target *t, struct ki_err *err)
{
	struct ki_d_run *r;
	int ret;

	if (d->destroys && (!d->set.destructive || d->o.harmless))
		return ki_d_destroys(err);
	if (d->never)
		return ki_err_set(err, -EOPNOTSUPP, 0,
				  "could not enable tracing: %s() would stop the system", d->never);
	r = calloc(1, sizeof(*r));
	if (!r)
		return ki_d_no_memory(err);
	d->run = r;
	r->t = t;
	r->thread = (uint32_t)syscall(SYS_gettid);
	r->wall = (int64_t)(now(CLOCK_REALTIME) - now(CLOCK_MONOTONIC));
	if (ki_plan_new(&r->triggers) || ki_plan_new(&r->probes))
		return ki_d_no_memory(err);
	ret = ki_d_storage(d, err);
	if (!ret)
		ret = ki_d_symbols(d, err);
	if (!ret && d->o.listing)
		ki_d_list_variables(d);
	if (!ret)
		ret = add_triggers(d, err);
	if (ret)
		return ret;
	if (!d->o.built_only)
		fire_named(d, "BEGIN");
	ret = add_probes(d, err);
	return ret || !start_ticks(d) ? ret : ki_d_no_memory(err);
}

/* ---- while it runs ---- */

/* Of at most so many, the milliseconds until the next tick. */
static int until_tick(const struct ki_d_run *r, int most)
{
	const uint64_t at = now(CLOCK_MONOTONIC);

	for (size_t i = 0; i < r->ticks.n; i++) {
		uint64_t due = r->ticks.v[i].due;
		uint64_t ms = due > at ? (due - at + 999999) / 1000000 : 0;

		if (ms < (uint64_t)most)
			most = (int)ms;
	}
	return most;
}

static void fire_ticks(struct ki_dlang *d)
{
	for (size_t i = 0; i < d->run->ticks.n; i++) {
		struct ki_d_tick *t = &d->run->ticks.v[i];
		const uint64_t at = now(CLOCK_MONOTONIC);

		if (at < t->due)
			continue;
		fire(t->probe);
		t->due += d->probes.v[t->probe].nanoseconds;
		if (t->due < at) /* a machine that was away */
			t->due = at + d->probes.v[t->probe].nanoseconds;
	}
}

/* What has been recorded, as text. */
static int read_ring(struct ki_dlang *d, const struct ki_dlang_output *out, struct ki_err *err)
{
	struct ki_d_consumer c = {.d = d, .err = err, .out = out};
	int ret = ki_d_outlet_begin(&c), end;

	if (!ret)
		ret = ki_ring_read(d->run->ring, ki_d_consume, &c);
	end = ki_d_outlet_end(&c);
	return ret ? ret : end;
}

int ki_dlang_work(struct ki_dlang *d, int milliseconds, const struct ki_dlang_output *out,
		  struct ki_err *err)
{
	int ret;

	if (d->users_used && d->o.target)
		ki_d_place_look(d, (uint32_t)d->o.target);
	ki_ring_wait(d->run->ring, until_tick(d->run, milliseconds));
	fire_ticks(d);
	ret = read_ring(d, out, err);
	return ret ? ret : d->run->exited;
}

/* ---- the end ---- */

static int print_rest(struct ki_dlang *d, const struct ki_dlang_output *out, struct ki_err *err)
{
	struct ki_d_consumer c = {.d = d, .err = err, .out = out};
	int ret = ki_d_outlet_begin(&c), end;

	if (!ret && !d->set.json)
		fputc('\n', c.f);
	for (size_t i = 0; !ret && i < d->aggs.n; i++) {
		if (d->aggs.v[i]->printed)
			continue;
		ret = d->set.json ? ki_d_line_aggregations(&c, &d->aggs.v[i], 1)
				  : ki_d_agg_print(d, &d->aggs.v[i], 1, NULL, c.f, err);
	}
	end = ki_d_outlet_end(&c);
	return ret ? ret : end;
}

int ki_dlang_stop(struct ki_dlang *d, const struct ki_dlang_output *out, struct ki_err *err)
{
	struct ki_d_run *r = d->run;
	int ret;

	ki_d_users_end(d);
	for (uint32_t i = 0; i < d->probes.n; i++)
		ki_d_hook_end(&d->probes.v[i]);
	ret = r->applied ? ki_plan_remove(r->probes, r->t, err) : 0;

	r->applied = false;
	if (!ret)
		ret = read_ring(d, out, err);
	if (!ret) {
		fire_named(d, "END");
		ret = read_ring(d, out, err);
	}
	return ret ? ret : print_rest(d, out, err);
}

int ki_dlang_status(const struct ki_dlang *d)
{
	return d->run ? d->run->status : 0;
}

void ki_dlang_drops(const struct ki_dlang *d, struct ki_dlang_drops *out)
{
	*out = (struct ki_dlang_drops){0};
	if (!d->run)
		return;
	out->records = d->run->ring ? ki_ring_lost(d->run->ring) : 0;
	for (size_t i = 0; i < d->aggs.n; i++)
		out->aggregations += d->aggs.v[i]->table ? ki_table_lost(d->aggs.v[i]->table) : 0;
	for (size_t i = 0; i < d->vars.n; i++)
		out->variables += d->vars.v[i]->table ? ki_table_lost(d->vars.v[i]->table) : 0;
	out->strings = d->run->strings ? ki_texts_lost(d->run->strings) : 0;
	out->speculations = d->run->hold.lost;
	out->refused = d->run->strings ? ki_texts_refused(d->run->strings) : 0;
}
