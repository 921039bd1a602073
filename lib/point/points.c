// SPDX-License-Identifier: GPL-2.0-only
/*
 * From what people wrote to a measurement, in three steps: what each text means becomes a
 * list of wishes (a function and what is wanted of it); wishes about one function are brought
 * together, so that each function is analysed once; each wish becomes points, each point one
 * curve for each metric that is wanted of it.
 */
#include "points.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "command.h"
#include "kerninst/match.h"
#include "points_grant.h"
#include "points_move.h"

static int add_wish(void *ctx, const struct ki_symbol *sym)
{
	struct resolver *r = ctx;
	struct wish w = {.sym = sym, .spec = r->spec, .text = r->text, .number = r->wishes.n};

	return ki_vec_push(&r->wishes, w) ? cli_no_memory() : CLI_OK;
}

static int wish_address(struct resolver *r)
{
	uint64_t addr = r->spec->number;
	const struct ki_symbol *sym = ki_target_symbol_at(r->t, addr);

	if (!sym)
		return cli_error("0x%llx: %s; %s", (unsigned long long)addr,
				 ki_reason_text(KI_R_NOT_TEXT), ki_reason_hint(KI_R_NOT_TEXT));
	r->text = NULL;
	return add_wish(r, sym);
}

static int wish(struct resolver *r, const struct ki_pointspec *spec, const char *text)
{
	size_t before = r->wishes.n, count;
	int ret;

	r->spec = spec;
	r->text = text;
	if (spec->suffix == KI_POINTSPEC_ADDRESS)
		return wish_address(r);
	ret = ki_match_each(r->t, spec, add_wish, r, &count);
	if (ret)
		return ret;
	if (!count)
		return cli_nothing(r->t, spec);
	if (count > 1 || ki_pointspec_is_glob(spec->function))
		for (size_t i = before; i < r->wishes.n; i++)
			r->wishes.v[i].text = NULL;
	return CLI_OK;
}

static int by_function(const void *a, const void *b)
{
	const struct wish *wa = a, *wb = b;

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

static int add_curve(struct resolver *r, const struct point *p, struct cell *c, struct ki_err *err)
{
	struct ki_measure *m = r->out->measure;
	const struct ki_predicate *when =
		points_part(r->out, c->part) ? r->how->splits->v[c->part].when : r->how->when;
	const bool ends = r->how->ends && c->metric->lasts;
	ki_measure_act *make;
	void *arg;

	if (r->how->put)
		return r->how->put(r->how->arg, r->fn, &r->spans, p, &c->curve, err);
	ki_measure_number(m, r->how->first + (uint32_t)(p - r->out->v.v));
	if (ends)
		return ki_measure_add_ends(m, c->metric, r->fn, &r->spans, &p->at, p->order, when,
					   r->how->ends(r->how->arg, p, c->metric), &c->curve, err);
	make = r->how->act ? r->how->act(r->how->arg, p, &arg) : NULL;
	if (make)
		return ki_measure_add_act(m, r->fn, &r->spans, &p->at, p->order, when, make, arg,
					  &c->curve, err);
	return ki_measure_add(m, c->metric, r->fn, &r->spans, &p->at, p->order, when, &c->curve,
			      err);
}

static int plan_cell(struct resolver *r, const struct point *p, struct cell *c)
{
	struct ki_err err = {0};

	if (!add_curve(r, p, c, &err))
		return CLI_OK;
	if (is_refusal(err.reason)) {
		c->reason = err.reason;
		return CLI_OK;
	}
	if (err.reason == KI_R_COUNTERS_FULL)
		cli_warn("%s: the first point without a counter", p->name);
	if (err.reason)
		return cli_fail(&err);
	return cli_error("%s: %s", p->name, err.msg);
}

static int plan_point(struct resolver *r, const struct point *p)
{
	int ret = CLI_OK;

	for (unsigned int i = 0; !ret && i < p->ncells; i++)
		ret = plan_cell(r, p, &r->out->cells.v[p->cell + i]);
	return ret;
}

/* Blocks refer to their function's entry, to be compared with. */
static void note_entry(struct resolver *r)
{
	struct point *v = r->out->v.v;
	size_t entry = 0;

	for (size_t i = r->first; i < r->out->v.n; i++)
		if (v[i].at.kind == KI_POINT_ENTRY ||
		    (v[i].at.kind == KI_POINT_BLOCK && !v[i].at.block))
			entry = i + 1;
	for (size_t i = r->first; i < r->out->v.n; i++)
		v[i].entry = entry;
}

/* All wishes about one function: n of them from w on. */
static int resolve_function(struct resolver *r, const struct wish *w, size_t n)
{
	struct ki_err err = {0};
	int ret = CLI_OK;

	r->first = r->out->v.n;
	if (ki_spans_find(r->fn, &r->spans, &err))
		ret = cli_fail(&err);
	for (size_t i = 0; !ret && i < n; i++)
		ret = points_grant(r, &w[i]);
	if (!ret)
		ret = points_move(r);
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
	if (i && wait_is_interrupted())
		r->ret = cli_error("interrupted while analysing; nothing is installed");
	else
		r->ret = resolve_function(r, &r->wishes.v[p->first], p->count);
	cli_progress_at(&r->progress, i + 1);
	return r->ret;
}

/* Each function is analysed once; their symbols, one for each part. NULL: out of memory. */
static const struct ki_symbol **part_wishes(struct resolver *r)
{
	const struct ki_symbol **syms = malloc((r->wishes.n + 1) * sizeof(*syms));
	const struct wish *w = r->wishes.v;

	for (size_t i = 0; syms && i < r->wishes.n; i++) {
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

static int analyze_few(struct resolver *r, const struct ki_symbol **syms, struct ki_err *err)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < r->parts.n; i++) {
		struct ki_function *fn;

		ret = ki_function_analyze(r->t, syms[i], &fn, err);
		if (ret)
			break;
		ret = take_function(r, i, fn);
		ki_function_free(fn);
	}
	return ret;
}

static int resolve_functions(struct resolver *r, bool quiet)
{
	const struct ki_symbol **syms;
	struct ki_err err = {0};
	int ret;

	qsort(r->wishes.v, r->wishes.n, sizeof(*r->wishes.v), by_function);
	syms = part_wishes(r);
	if (!syms)
		return cli_no_memory();
	cli_progress_start(&r->progress, "analysing functions", r->parts.n, quiet);
	if (r->parts.n <= FEW)
		ret = analyze_few(r, syms, &err);
	else
		ret = ki_functions_analyze(r->t, syms, r->parts.n, 0, NULL, take_function, r, &err);
	cli_progress_end(&r->progress);
	free(syms);
	ki_vec_free(&r->parts);
	if (r->ret)
		return r->ret;
	return ret ? cli_fail(&err) : CLI_OK;
}

int points_ask(struct asked *a, const struct verb *self, const char *text)
{
	char **texts = realloc(a->texts, (a->n + 1) * sizeof(*texts));
	struct ki_pointspec *specs = realloc(a->specs, (a->n + 1) * sizeof(*specs));
	const char *why = "";

	a->texts = texts ? texts : a->texts;
	a->specs = specs ? specs : a->specs;
	if (!texts || !specs)
		return cli_no_memory();
	if (ki_pointspec_parse(text, &specs[a->n], &why))
		return self ? cli_misuse(self, "'%s' is no point: %s", text, why)
			    : cli_error("'%s' is no point: %s", text, why);
	texts[a->n] = strdup(text);
	if (!texts[a->n])
		return cli_no_memory();
	a->n++;
	return CLI_OK;
}

void points_forget(struct asked *a)
{
	for (size_t i = 0; i < a->n; i++)
		free(a->texts[i]);
	free(a->texts);
	free(a->specs);
}

static int take_metric(struct wanted *w, const struct verb *self, const char *name)
{
	static const char *const shapes[SHAPES] = {
		[SHAPE_BLOCKS] = "blocks", [SHAPE_EDGES] = "edges"};
	const struct ki_metric *m = ki_metric_find(name);

	for (unsigned int i = 0; i < SHAPES; i++)
		if (shapes[i] && !strcmp(name, shapes[i])) {
			w->shape = (enum shape)i;
			return CLI_OK;
		}
	for (unsigned int i = 0; i < w->n; i++)
		if (!strcmp(w->metrics[i]->name, name))
			return CLI_OK;
	if (w->n == METRICS_MAX)
		return cli_misuse(self, "more than %d metrics", METRICS_MAX);
	if (!m && !ki_metric_make(name, &w->made[w->n], NULL))
		m = w->made[w->n];
	if (!m)
		return cli_misuse(self,
				  "no metric '%s'; blocks, edges, or of those that kerninst "
				  "metrics lists; of events also cycles:k, cycles:u, r01c2",
				  name);
	w->metrics[w->n++] = m;
	return CLI_OK;
}

void points_drop_metrics(struct wanted *w)
{
	for (unsigned int i = 0; i < w->n; i++)
		ki_metric_free(w->made[i]);
	*w = (struct wanted){0};
}

int points_take_metrics(struct wanted *w, const struct verb *self, const char *list)
{
	char *copy = strdup(list), *rest = copy, *name;
	int ret = copy ? CLI_OK : cli_no_memory();

	points_drop_metrics(w);
	while (!ret && (name = strsep(&rest, ",")))
		ret = take_metric(w, self, name);
	if (!ret && w->shape != SHAPE_WHOLE && w->n)
		ret = cli_misuse(self, "-m %s: blocks and edges are counted, and nothing else",
				 list);
	free(copy);
	return ret;
}

int points_resolve(struct points *p, struct ki_target *t, const struct asked *a,
		   const struct points_how *how)
{
	struct resolver r = {.out = p, .t = t, .how = how};
	struct ki_err err = {0};
	int ret = CLI_OK;

	p->splits = how->splits;
	p->cpus = how->per_cpu ? ki_target_info(t)->cpus : 0;
	if (!how->put && ki_measure_new(t, &p->measure, &err))
		ret = cli_fail(&err);
	if (!ret && how->per_cpu)
		ki_measure_each_cpu(p->measure);
	if (!ret && how->metered)
		ki_measure_meter(p->measure);
	if (!ret && how->splits && how->splits->n)
		ki_measure_early(p->measure);
	if (!ret && how->sampled)
		ki_measure_sample(p->measure);
	for (size_t i = 0; !ret && i < a->n; i++)
		ret = wish(&r, &a->specs[i], a->texts[i]);
	if (!ret)
		ret = resolve_functions(&r, how->quiet);
	if (!ret && !p->v.n)
		ret = cli_error("no point: none of the functions has such a place");
	ki_vec_free(&r.wishes);
	return ret;
}

struct cell *points_cell(const struct points *p, const struct point *pt,
			 const struct ki_metric *metric, unsigned int part)
{
	for (size_t i = pt->cell; i < pt->cell + pt->ncells; i++)
		if (p->cells.v[i].metric == metric && p->cells.v[i].part == part)
			return &p->cells.v[i];
	return NULL;
}

void points_note_refusals(struct points *p)
{
	for (size_t i = 0; i < p->cells.n; i++)
		if (!p->cells.v[i].reason)
			p->cells.v[i].reason = ki_measure_refusal(p->measure, p->cells.v[i].curve);
}

size_t points_refused(const struct points *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->cells.n; i++)
		n += p->cells.v[i].reason != KI_R_OK;
	return n;
}

static void warn_reason(const char *who, const char *what, unsigned int reason)
{
	const char *hint = ki_reason_hint(reason);

	cli_warn("%s: %s: %s [%s]%s%s", who, what, ki_reason_text(reason), ki_reason_tag(reason),
		 *hint ? "; " : "", hint);
}

static void warn_each(const struct points *p, const struct point *pt)
{
	for (size_t i = pt->cell; i < pt->cell + pt->ncells; i++) {
		const struct cell *c = &p->cells.v[i];
		const char *part = points_part(p, c->part);
		char what[128];

		snprintf(what, sizeof(what), pt->ncells > 1 ? "no %s%s%.40s" : "not counted",
			 c->metric->name, part ? " of " : "", part ? part : "");
		if (c->reason)
			warn_reason(pt->name, what, c->reason);
	}
}

#define WARN_EACH 10

void points_warn_refused(const struct points *p)
{
	size_t counts[KI_R_COUNT] = {0}, all = points_refused(p);
	char who[64];

	for (size_t i = 0; i < p->cells.n; i++)
		counts[p->cells.v[i].reason < KI_R_COUNT ? p->cells.v[i].reason : 0]++;
	for (size_t i = 0; all <= WARN_EACH && i < p->v.n; i++)
		warn_each(p, &p->v.v[i]);
	for (unsigned int r = 1; all > WARN_EACH && r < KI_R_COUNT; r++) {
		snprintf(who, sizeof(who), "%zu points", counts[r]);
		if (counts[r])
			warn_reason(who, "not counted", r);
	}
}

void points_warn_deep(const struct points *p)
{
	for (size_t i = 0; i < p->v.n; i++)
		for (size_t k = p->v.v[i].cell; k < p->v.v[i].cell + p->v.v[i].ncells; k++) {
			const struct cell *c = &p->cells.v[k];
			uint64_t n = c->reason ? 0 : ki_measure_too_deep(p->measure, c->curve);

			if (n)
				cli_warn("%s %s: recursion too deep: %llu calls were more than 127 "
					 "deep inside themselves; their time is too short",
					 p->v.v[i].name, c->metric->name, (unsigned long long)n);
		}
}

void points_read(struct points *p, const struct ki_reading *from, const struct ki_reading *to)
{
	for (size_t i = 0; i < p->cells.n; i++) {
		struct cell *c = &p->cells.v[i];

		if (c->reason)
			continue;
		c->value = ki_reading_value(p->measure, from, to, c->curve, KI_ALL_CPUS);
		c->count = ki_reading_count(p->measure, from, to, c->curve, KI_ALL_CPUS);
		for (int cpu = 0; c->cpus && cpu < (int)p->cpus; cpu++)
			c->cpus[cpu] = (struct cpu_value){
				.value = ki_reading_value(p->measure, from, to, c->curve, cpu),
				.count = ki_reading_count(p->measure, from, to, c->curve, cpu)};
		if (c->buckets)
			ki_reading_buckets(p->measure, from, to, c->curve, c->buckets);
	}
}

void points_free(struct points *p)
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
