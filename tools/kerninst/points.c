// SPDX-License-Identifier: GPL-2.0-only
/*
 * From what people wrote to counters and a plan, in three steps: what each text means becomes a
 * list of wishes (a function and what is wanted of it); wishes about one function are brought
 * together, so that each function is analysed once; each wish becomes points, each point one
 * counter and a chunk at every place it stands for.
 */
#include "points.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "command.h"
#include "match.h"
#include "points_code.h"
#include "points_grant.h"

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

static int wish(struct resolver *r, const struct pointspec *spec, const char *text)
{
	size_t before = r->wishes.n, count;
	int ret;

	r->spec = spec;
	r->text = text;
	if (spec->suffix == POINTSPEC_ADDRESS)
		return wish_address(r);
	ret = match_each(r->t, spec, add_wish, r, &count);
	if (ret)
		return ret;
	if (!count)
		return match_nothing(r->t, spec);
	if (count > 1 || pointspec_is_glob(spec->function))
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

/* Smaller functions are not worth it. */
#define MOVING_BLOCKS 4

static uint32_t next_chunk(const struct points *p)
{
	return (uint32_t)ki_plan_chunks(p->plan);
}

/* A point is counted at all its places or not at all: part of the exits is no count of exits. */
static unsigned int refusal_of(const struct ki_place *v, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (v[i].reason != KI_R_OK)
			return v[i].reason;
	return KI_R_OK;
}

static int plan_places(struct resolver *r, struct point *p, const struct ki_place *v, size_t n,
		       struct ki_err *err)
{
	int ret;

	ret = ki_counters_take(r->t, 1, &p->counter, err);
	if (ret)
		return ret;
	p->chunk = next_chunk(r->out);
	p->nchunks = (uint32_t)n;
	for (size_t i = 0; !ret && i < n; i++)
		ret = points_put_code(r, p, &v[i], err);
	return ret;
}

static int cannot_be(const struct resolver *r, const struct point *p, const struct ki_err *err)
{
	if (err->reason == KI_R_COUNTERS_FULL)
		cli_warn("%s: the first point without a counter", p->name);
	if (err->reason || !r->how->when)
		return cli_fail(err);
	return cli_error("%s: %s%s", p->name, err->msg,
			 p->at.kind == KI_POINT_EXIT && strstr(err->msg, "retval")
				 ? " at its jumps to other functions; use :exit:after"
				 : "");
}

static int plan_point(struct resolver *r, struct point *p)
{
	struct ki_err err = {0};
	struct ki_place *v = NULL;
	size_t n = 0;
	int ret;

	ret = ki_point_places(r->fn, &r->spans, &p->at, &v, &n, &err);
	if (!ret) {
		p->reason = r->fn->reason ? r->fn->reason : refusal_of(v, n);
		if (!p->reason)
			ret = plan_places(r, p, v, n, &err);
	}
	free(v);
	return ret ? cannot_be(r, p, &err) : CLI_OK;
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

/*
 * A counter in a function that is moved costs an instruction instead of three, but coming into the
 * function, and back into it from each call, costs a jump.
 */
static bool is_moved(const struct resolver *r)
{
	size_t points = r->out->v.n - r->first;

	if (r->fn->reason || r->how->moving == MOVING_NEVER)
		return false;
	return r->how->moving == MOVING_ALWAYS ||
	       (r->fn->nblocks >= MOVING_BLOCKS && points * 4 >= r->fn->nblocks * 3ull);
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
	if (!ret && is_moved(r) && ki_plan_move(r->out->plan, r->fn, &r->spans, &err))
		ret = cli_fail(&err);
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

int points_parse(struct asked *a, const struct verb *self, char **texts, int n)
{
	const char *why;

	a->texts = texts;
	a->specs = calloc((size_t)n, sizeof(*a->specs));
	if (!a->specs)
		return cli_no_memory();
	for (a->n = 0; a->n < (size_t)n; a->n++)
		if (pointspec_parse(texts[a->n], &a->specs[a->n], &why))
			return cli_misuse(self, "'%s' is no point: %s", texts[a->n], why);
	return CLI_OK;
}

static int want_per_cpu(struct points *p, unsigned int cpus)
{
	p->cpus = cpus;
	for (size_t i = 0; i < p->v.n; i++) {
		p->v.v[i].last_of = calloc(cpus, sizeof(uint64_t));
		p->v.v[i].value_of = calloc(cpus, sizeof(uint64_t));
		if (!p->v.v[i].last_of || !p->v.v[i].value_of)
			return cli_no_memory();
	}
	return CLI_OK;
}

int points_resolve(struct points *p, struct ki_target *t, const struct asked *a,
		   const struct points_how *how)
{
	struct resolver r = {.out = p, .t = t, .how = how};
	int ret = CLI_OK;

	if (ki_plan_new(&p->plan))
		ret = cli_no_memory();
	for (size_t i = 0; !ret && i < a->n; i++)
		ret = wish(&r, &a->specs[i], a->texts[i]);
	if (!ret)
		ret = resolve_functions(&r, how->quiet);
	if (!ret && !p->v.n)
		ret = cli_error("no point: none of the functions has such a place");
	if (!ret && how->per_cpu)
		ret = want_per_cpu(p, ki_target_info(t)->cpus);
	ki_vec_free(&r.wishes);
	return ret;
}

/* Each CPU by itself, so that they make the total. */
static uint64_t read_each(struct point *p, const struct ki_counter_map *map, unsigned int cpus)
{
	uint64_t sum = 0;

	for (unsigned int c = 0; c < cpus; c++) {
		uint64_t now = ki_counter_read_cpu(map, p->counter, c);

		p->value_of[c] = now - p->last_of[c];
		p->last_of[c] = now;
		sum += now;
	}
	return sum;
}

void points_read(struct points *p, const struct ki_counter_map *map)
{
	for (size_t i = 0; i < p->v.n; i++) {
		struct point *pt = &p->v.v[i];
		uint64_t now;

		if (pt->reason)
			continue;
		now = p->cpus ? read_each(pt, map, p->cpus) : ki_counter_read(map, pt->counter);
		pt->value = now - pt->last;
		pt->last = now;
	}
}

void points_note_refusals(struct points *p)
{
	for (size_t i = 0; i < p->v.n; i++) {
		struct point *pt = &p->v.v[i];

		for (uint32_t k = 0; !pt->reason && k < pt->nchunks; k++)
			pt->reason = ki_plan_refusal(p->plan, pt->chunk + k);
	}
}

size_t points_refused(const struct points *p)
{
	size_t n = 0;

	for (size_t i = 0; i < p->v.n; i++)
		n += p->v.v[i].reason != KI_R_OK;
	return n;
}

static void warn_reason(const char *who, unsigned int reason)
{
	const char *hint = ki_reason_hint(reason);

	cli_warn("%s: not counted: %s [%s]%s%s", who, ki_reason_text(reason), ki_reason_tag(reason),
		 *hint ? "; " : "", hint);
}

#define WARN_EACH 10

void points_warn_refused(const struct points *p)
{
	size_t counts[KI_R_COUNT] = {0}, all = points_refused(p);
	char who[64];

	for (size_t i = 0; i < p->v.n; i++) {
		const struct point *pt = &p->v.v[i];

		if (!pt->reason)
			continue;
		counts[pt->reason < KI_R_COUNT ? pt->reason : 0]++;
		if (all <= WARN_EACH)
			warn_reason(pt->name, pt->reason);
	}
	for (unsigned int r = 1; all > WARN_EACH && r < KI_R_COUNT; r++) {
		snprintf(who, sizeof(who), "%zu points", counts[r]);
		if (counts[r])
			warn_reason(who, r);
	}
}

void points_free(struct points *p)
{
	for (size_t i = 0; i < p->v.n; i++) {
		free(p->v.v[i].name);
		free(p->v.v[i].code);
		free(p->v.v[i].last_of);
		free(p->v.v[i].value_of);
	}
	ki_vec_free(&p->v);
	ki_plan_free(p->plan);
	p->plan = NULL;
}
