// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * From what people wrote to a measurement, in three steps: what each text means becomes a
 * list of requests (a function and what is wanted of it); requests about one function are brought
 * together, so that each function is analysed once; each request becomes points, each point one
 * curve for each metric that is wanted of it.
 */
#include "kerninst/points.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/match.h"
#include "point/resolve.h"
#include "point/move.h"
#include "util/sized.h"

static int add_request(void *ctx, const struct ki_symbol *sym)
{
	struct resolver *r = ctx;
	struct request w = {.sym = sym, .spec = r->spec, .text = r->text, .number = r->requests.n};

	return ki_vec_push(&r->requests, w) ? ki_err_set(r->err, -ENOMEM, 0, "out of memory") : 0;
}

static int request_address(struct resolver *r)
{
	uint64_t addr = r->spec->number;
	const struct ki_symbol *sym = ki_target_symbol_at(r->t, addr);

	if (!sym)
		return ki_err_reason(r->err, KI_R_NOT_TEXT, addr, "0x%llx",
				     (unsigned long long)addr);
	r->text = NULL;
	return add_request(r, sym);
}

static int request(struct resolver *r, const struct ki_pointspec *spec, const char *text)
{
	size_t before = r->requests.n, count;
	char why[KI_MATCH_WHY];
	int ret;

	r->spec = spec;
	r->text = text;
	if (spec->suffix == KI_POINTSPEC_ADDRESS)
		return request_address(r);
	ret = ki_match_each(r->t, spec, add_request, r, &count);
	if (ret)
		return ret;
	if (!count) {
		ki_match_nothing(r->t, spec, why);
		return ki_err_set(r->err, -ENOENT, 0, "%s", why);
	}
	if (count > 1 || ki_pointspec_is_glob(spec->function))
		for (size_t i = before; i < r->requests.n; i++)
			r->requests.v[i].text = NULL;
	return 0;
}

static int by_function(const void *a, const void *b)
{
	const struct request *wa = a, *wb = b;

	if (wa->sym->addr != wb->sym->addr)
		return wa->sym->addr < wb->sym->addr ? -1 : 1;
	return (wa->number > wb->number) - (wa->number < wb->number);
}

/* Is it about the place, and not about all that is asked for? */
static bool is_refusal(unsigned int reason)
{
	switch (reason) {
	case KI_R_OK:
	case KI_R_COUNTERS_FULL:
	case KI_R_NO_MEMORY:
	case KI_R_TOO_MANY:
	case KI_R_ABI_MISMATCH:
	case KI_R_LOCKDOWN:
	case KI_R_UNKNOWN_KERNEL:
	case KI_R_READ_ONLY:
		return false;
	default:
		return ki_reason_errno(reason) != EDQUOT;
	}
}

static int add_curve(struct resolver *r, const struct ki_named_point *p, struct ki_cell *c,
		     struct ki_err *err)
{
	struct ki_measure *m = r->out->measure;
	const struct ki_predicate *when =
		ki_points_part(r->out, c->part) ? r->how->splits->v[c->part].when : r->how->when;
	const bool ends = r->how->ends && c->metric->lasts;
	ki_measure_action *make;
	void *arg;

	ki_measure_number(m, r->how->first + (uint32_t)(p - r->out->v.v));
	if (ends)
		return ki_measure_add_ends(
			m, c->metric,
			&(struct ki_measured_at){r->fn, &r->spans, &p->at, p->order, when},
			r->how->ends(r->how->arg, p, c->metric), &c->curve, err);
	make = r->how->action ? r->how->action(r->how->arg, p, &arg) : NULL;
	if (make)
		return ki_measure_add_action(
			m, &(struct ki_measured_at){r->fn, &r->spans, &p->at, p->order, when}, make,
			arg, &c->curve, err);
	return ki_measure_add(m, c->metric,
			      &(struct ki_measured_at){r->fn, &r->spans, &p->at, p->order, when},
			      &c->curve, err);
}

static int plan_cell(struct resolver *r, const struct ki_named_point *p, struct ki_cell *c)
{
	struct ki_err err = {0};

	if (!add_curve(r, p, c, &err))
		return 0;
	if (is_refusal(err.reason)) {
		c->reason = err.reason;
		return 0;
	}
	if (err.reason == KI_R_COUNTERS_FULL)
		r->out->uncounted = (size_t)(p - r->out->v.v);
	if (!err.reason)
		return ki_err_set(r->err, err.code, err.addr, "%s: %s", p->name, err.msg);
	*r->err = err;
	return err.code;
}

static int plan_point(struct resolver *r, const struct ki_named_point *p)
{
	int ret = 0;

	for (unsigned int i = 0; !ret && i < p->ncells; i++)
		ret = plan_cell(r, p, &r->out->cells.v[p->cell + i]);
	return ret;
}

/* Blocks refer to their function's entry, to be compared with. */
static void note_entry(struct resolver *r)
{
	struct ki_named_point *v = r->out->v.v;
	size_t entry = 0;

	for (size_t i = r->first; i < r->out->v.n; i++)
		if (v[i].at.kind == KI_POINT_ENTRY ||
		    (v[i].at.kind == KI_POINT_BLOCK && !v[i].at.block))
			entry = i + 1;
	for (size_t i = r->first; i < r->out->v.n; i++)
		v[i].entry = entry;
}

/* All requests about one function: n of them from w on. */
static int resolve_function(struct resolver *r, const struct request *w, size_t n)
{
	int ret;

	r->first = r->out->v.n;
	ret = ki_spans_find(r->fn, &r->spans, r->err);
	for (size_t i = 0; !ret && i < n; i++)
		ret = ki_points_expand(r, &w[i]);
	if (!ret)
		ret = ki_points_move(r);
	for (size_t i = r->first; !ret && i < r->out->v.n; i++)
		ret = plan_point(r, &r->out->v.v[i]);
	note_entry(r);
	ki_spans_free(&r->spans);
	return ret;
}

/* A function has been analysed; they come in the order of the parts. */
static int take_function(void *arg, size_t i, const struct ki_function *fn)
{
	struct resolver *r = arg;
	const struct part *p = &r->parts.v[i];

	r->fn = fn;
	if (i && r->how->progress && !r->how->progress(r->how->progress_arg, i, r->parts.n))
		r->ret = ki_err_set(r->err, -ECANCELED, 0,
				    "interrupted while analysing; nothing is installed");
	else
		r->ret = resolve_function(r, &r->requests.v[p->first], p->count);
	return r->ret;
}

/* Each function is analysed once; their symbols, one for each part. NULL: out of memory. */
static const struct ki_symbol **part_requests(struct resolver *r)
{
	const struct ki_symbol **syms = malloc((r->requests.n + 1) * sizeof(*syms));
	const struct request *w = r->requests.v;

	for (size_t i = 0; syms && i < r->requests.n; i++) {
		struct part *last = r->parts.n ? &r->parts.v[r->parts.n - 1] : NULL;

		if (last && w[last->first].sym->addr == w[i].sym->addr) {
			last->count++;
			continue;
		}
		syms[r->parts.n] = w[i].sym;
		if (ki_vec_push(&r->parts, (struct part){.first = i, .count = 1})) {
			free(syms);
			return NULL;
		}
	}
	return syms;
}

/* A few functions are not worth reading all text for. */
#define FEW 16

static int analyze_few(struct resolver *r, const struct ki_symbol **syms)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < r->parts.n; i++) {
		struct ki_function *fn;

		ret = ki_function_analyze(r->t, syms[i], &fn, r->err);
		if (ret)
			break;
		ret = take_function(r, i, fn);
		ki_function_free(fn);
	}
	return ret;
}

static int resolve_functions(struct resolver *r)
{
	const struct ki_symbol **syms;
	int ret;

	qsort(r->requests.v, r->requests.n, sizeof(*r->requests.v), by_function);
	syms = part_requests(r);
	if (!syms)
		return ki_err_set(r->err, -ENOMEM, 0, "out of memory");
	if (r->parts.n <= FEW)
		ret = analyze_few(r, syms);
	else
		ret = ki_functions_analyze(
			r->t,
			&(struct ki_functions_job){
				.syms = syms, .n = r->parts.n, .take = take_function, .arg = r},
			r->err);
	free(syms);
	ki_vec_free(&r->parts);
	return r->ret ? r->ret : ret;
}

int ki_points_ask(struct ki_asked *a, const char *text, struct ki_err *err)
{
	char **texts = realloc(a->texts, (a->n + 1) * sizeof(*texts));
	struct ki_pointspec *specs = realloc(a->specs, (a->n + 1) * sizeof(*specs));
	const char *why = "";

	a->texts = texts ? texts : a->texts;
	a->specs = specs ? specs : a->specs;
	if (!texts || !specs)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	if (ki_pointspec_parse(text, &specs[a->n], &why))
		return ki_err_set(err, -EINVAL, 0, "'%s' is no point: %s", text, why);
	texts[a->n] = strdup(text);
	if (!texts[a->n])
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	a->n++;
	return 0;
}

void ki_asked_free(struct ki_asked *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->texts[i]);
	free(a->texts);
	free(a->specs);
}

#define NEAR_EDITS 2

static int no_metric(const char *name, struct ki_err *err)
{
	unsigned int edits = NEAR_EDITS + 1;
	const struct ki_metric *m;
	const char *near = NULL;

	for (size_t i = 0; (m = ki_metric_at(i)) != NULL; i++) {
		unsigned int d = ki_pointspec_distance(name, m->name, NEAR_EDITS);

		if (d < edits && d < strlen(name)) {
			edits = d;
			near = m->name;
		}
	}
	return ki_err_set(err, -EINVAL, 0,
			  "no metric '%s'%s%s; blocks, edges, or of those that kerninst metrics "
			  "lists; of events also cycles:k, cycles:u, r01c2",
			  name, near ? "; near: " : "", near ? near : "");
}

static int take_metric(struct ki_wanted *w, const char *name, struct ki_err *err)
{
	static const char *const shapes[KI_SHAPES] = {
		[KI_SHAPE_BLOCKS] = "blocks", [KI_SHAPE_EDGES] = "edges"};
	const struct ki_metric *m = ki_metric_find(name);

	for (unsigned int i = 0; i < KI_SHAPES; i++)
		if (shapes[i] && !strcmp(name, shapes[i])) {
			w->shape = (enum ki_shape)i;
			return 0;
		}
	for (unsigned int i = 0; i < w->n; i++)
		if (!strcmp(w->metrics[i]->name, name))
			return 0;
	if (w->n == KI_METRICS_MAX)
		return ki_err_set(err, -EINVAL, 0, "more than %d metrics", KI_METRICS_MAX);
	if (!m && !ki_metric_new(name, &w->made[w->n], NULL))
		m = w->made[w->n];
	if (!m)
		return no_metric(name, err);
	w->metrics[w->n++] = m;
	return 0;
}

void ki_wanted_free(struct ki_wanted *w)
{
	for (unsigned int i = 0; i < w->n; i++)
		ki_metric_free(w->made[i]);
	*w = (struct ki_wanted){0};
}

int ki_points_take_metrics(struct ki_wanted *w, const char *list, struct ki_err *err)
{
	char *copy = strdup(list), *rest = copy, *name;
	int ret = copy ? 0 : ki_err_set(err, -ENOMEM, 0, "out of memory");

	ki_wanted_free(w);
	while (!ret && (name = strsep(&rest, ",")))
		ret = take_metric(w, name, err);
	if (!ret && w->shape != KI_SHAPE_WHOLE && w->n)
		ret = ki_err_set(err, -EINVAL, 0,
				 "-m %s: blocks and edges are counted, and nothing else", list);
	free(copy);
	return ret;
}

int ki_points_resolve(struct ki_points *p, struct ki_target *t, const struct ki_asked *a,
		      const struct ki_points_how *how, struct ki_err *err)
{
	struct resolver r = {.out = p, .t = t, .how = how, .err = err};
	struct ki_target *at = how->kernel ? how->kernel : t;
	int ret = ki_sized(how->size, sizeof(*how), "points", err);

	if (!ret && !p->measure)
		ret = ki_measure_new(at, &p->measure, err);
	p->splits = how->splits;
	if (!ret)
		ki_measure_tell(p->measure, how->kernel ? t : NULL);
	if (!ret && how->per_cpu)
		ki_measure_each_cpu(p->measure);
	if (!ret && how->per_cpu)
		p->cpus = ki_measure_cpus(p->measure);
	if (!ret && how->metered)
		ki_measure_meter(p->measure);
	if (!ret && how->sheds)
		ki_measure_sheds(p->measure);
	if (!ret && how->splits && how->splits->n)
		ki_measure_prior_clock(p->measure);
	if (!ret && how->sampled)
		ki_measure_sample(p->measure);
	for (size_t i = 0; !ret && i < a->n; i++)
		ret = request(&r, &a->specs[i], a->texts[i]);
	if (!ret)
		ret = resolve_functions(&r);
	if (!ret && !p->v.n)
		ret = ki_err_set(err, -EINVAL, 0,
				 "no point: none of the functions has such a place");
	ki_vec_free(&r.requests);
	return ret;
}

struct ki_cell *ki_points_cell(const struct ki_points *p, const struct ki_named_point *pt,
			       const struct ki_metric *metric, unsigned int part)
{
	for (size_t i = pt->cell; i < pt->cell + pt->ncells; i++)
		if (p->cells.v[i].metric == metric && p->cells.v[i].part == part)
			return &p->cells.v[i];
	return NULL;
}

void ki_points_note_refusals(struct ki_points *p)
{
	for (size_t i = 0; i < p->cells.n; i++)
		if (!p->cells.v[i].reason)
			p->cells.v[i].reason = ki_measure_refusal(p->measure, p->cells.v[i].curve);
}

size_t ki_points_refused(const struct ki_points *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->cells.n; i++)
		n += p->cells.v[i].reason != KI_R_OK;
	return n;
}

void ki_points_read(struct ki_points *p, const struct ki_reading *from, const struct ki_reading *to)
{
	for (size_t i = 0; i < p->cells.n; i++) {
		struct ki_cell *c = &p->cells.v[i];

		if (c->reason)
			continue;
		c->value = ki_reading_value(p->measure, from, to, c->curve, KI_ALL_CPUS);
		c->count = ki_reading_count(p->measure, from, to, c->curve, KI_ALL_CPUS);
		for (int cpu = 0; c->cpus && cpu < (int)p->cpus; cpu++)
			c->cpus[cpu] = (struct ki_cpu_value){
				.value = ki_reading_value(p->measure, from, to, c->curve, cpu),
				.count = ki_reading_count(p->measure, from, to, c->curve, cpu)};
		if (c->buckets)
			ki_reading_buckets(p->measure, from, to, c->curve, c->buckets);
	}
}

void ki_points_free(struct ki_points *p)
{
	for (size_t i = 0; i < p->v.n; i++)
		free(p->v.v[i].name);
	for (size_t i = 0; i < p->cells.n; i++) {
		free(p->cells.v[i].buckets);
		free(p->cells.v[i].cpus);
	}
	ki_vec_free(&p->v);
	ki_vec_free(&p->cells);
	ki_measure_free(p->measure);
	p->measure = NULL;
}
