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

struct wish {
	const struct ki_symbol *sym;
	const struct pointspec *spec;
	const char *text; /* as written; NULL if that names several things */
	size_t order;
};

struct resolver {
	struct points *out;
	struct ki_target *t;
	bool blocks;
	ki_vec(struct wish) wishes;
	const struct pointspec *spec; /* the one being matched */
	const char *text;

	/* The function at hand. */
	struct ki_function *fn;
	struct ki_spans spans;
	size_t first; /* its first point */
};

static int add_wish(void *ctx, const struct ki_symbol *sym)
{
	struct resolver *r = ctx;
	struct wish w = {.sym = sym, .spec = r->spec, .text = r->text, .order = r->wishes.n};

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
	return (wa->order > wb->order) - (wa->order < wb->order);
}

/* [MODULE:]FUNCTION[@0xADDRESS] and what is wanted of it. */
static char *name_point(struct resolver *r, const struct wish *w, const struct ki_point *at)
{
	const struct ki_symbol *sym = w->sym;
	char picked[32] = "", what[40] = "", *name;

	if (match_is_ambiguous(r->t, sym))
		snprintf(picked, sizeof(picked), "@0x%llx", (unsigned long long)sym->addr);
	if (at->kind == KI_POINT_BLOCK)
		snprintf(what, sizeof(what), ":block/%u", at->block);
	else if (at->kind == KI_POINT_EXIT)
		snprintf(what, sizeof(what), ":exit");
	else if (at->kind == KI_POINT_INSN)
		snprintf(what, sizeof(what), "+0x%llx", (unsigned long long)(at->addr - sym->addr));
	else if (w->spec->suffix == POINTSPEC_ENTRY)
		snprintf(what, sizeof(what), ":entry");
	if (asprintf(&name, "%s%s%s%s%s", sym->module, *sym->module ? ":" : "", sym->name, picked,
		     what) < 0)
		return NULL;
	return name;
}

static bool is_there(const struct resolver *r, const struct ki_point *at)
{
	for (size_t i = r->first; i < r->out->v.n; i++) {
		const struct ki_point *old = &r->out->v.v[i].at;

		if (old->kind == at->kind && old->block == at->block && old->addr == at->addr)
			return true;
	}
	return false;
}

static int add_point(struct resolver *r, const struct wish *w, struct ki_point at)
{
	const struct ki_function *fn = r->fn;
	bool literal = w->text && (at.kind != KI_POINT_BLOCK || w->spec->suffix == POINTSPEC_BLOCK);
	struct point p = {.sym = w->sym, .at = at, .addr = fn->start, .size = w->sym->size};

	if (is_there(r, &at))
		return CLI_OK;
	if (at.kind == KI_POINT_BLOCK && at.block < fn->nblocks) {
		p.addr = fn->blocks[at.block].start;
		p.size = fn->blocks[at.block].end - p.addr;
	} else if (at.kind == KI_POINT_INSN) {
		p.addr = at.addr;
		p.size = 0;
	}
	p.name = literal ? strdup(w->text) : name_point(r, w, &at);
	if (!p.name || ki_vec_push(&r->out->v, p)) {
		free(p.name);
		return cli_no_memory();
	}
	return CLI_OK;
}

/* A wish of one thing that does not exist is an error; of a glob's, it is passed over. */
static int no_such_block(const struct resolver *r, const struct wish *w)
{
	if (!w->text)
		return CLI_OK;
	return cli_error("%s: no such block: %s has %u, numbered from 0; kerninst list -v %s "
			 "shows them",
			 w->text, w->sym->name, r->fn->nblocks, w->sym->name);
}

static int not_a_boundary(const struct resolver *r, const struct wish *w, uint64_t addr)
{
	const struct ki_function *fn = r->fn;
	unsigned long long off = addr - fn->start, start, end;
	char text[128];

	if (!w->text && w->spec->suffix != POINTSPEC_ADDRESS)
		return CLI_OK;
	for (uint32_t i = 0; i < fn->ninsns; i++) {
		const struct ki_insn *in = &fn->insns[i];

		if (addr < in->addr || addr >= in->addr + in->len)
			continue;
		ki_insn_format(fn, in, text, sizeof(text));
		start = in->addr - fn->start;
		end = start + in->len;
		return cli_error("%s+0x%llx: inside the instruction '%s' from +0x%llx to +0x%llx; "
				 "use one of these",
				 w->sym->name, off, text, start, end);
	}
	return cli_error("%s+0x%llx: no instruction of the function covers it; it has 0x%llx bytes",
			 w->sym->name, off, (unsigned long long)(fn->end - fn->start));
}

static int grant_insn(struct resolver *r, const struct wish *w)
{
	bool absolute = w->spec->suffix == POINTSPEC_ADDRESS;
	uint64_t addr = absolute ? w->spec->number : w->sym->addr + w->spec->number;

	if (r->fn->reason == KI_R_OK && !ki_function_insn_at(r->fn, addr))
		return not_a_boundary(r, w, addr);
	return add_point(r, w, (struct ki_point){.kind = KI_POINT_INSN, .addr = addr});
}

static int grant_blocks(struct resolver *r, const struct wish *w)
{
	int ret = CLI_OK;

	if (!r->fn->nblocks)
		return add_point(r, w, (struct ki_point){.kind = KI_POINT_BLOCK});
	for (uint32_t b = 0; !ret && b < r->fn->nblocks; b++)
		ret = add_point(r, w, (struct ki_point){.kind = KI_POINT_BLOCK, .block = b});
	return ret;
}

static int grant(struct resolver *r, const struct wish *w)
{
	struct ki_point at = {.kind = KI_POINT_ENTRY};

	switch (w->spec->suffix) {
	case POINTSPEC_NONE:
		return r->blocks ? grant_blocks(r, w) : add_point(r, w, at);
	case POINTSPEC_ENTRY:
		return add_point(r, w, at);
	case POINTSPEC_EXIT:
		at.kind = KI_POINT_EXIT;
		return add_point(r, w, at);
	case POINTSPEC_BLOCK:
		at.kind = KI_POINT_BLOCK;
		at.block = (uint32_t)w->spec->number;
		if (at.block >= r->fn->nblocks && r->fn->reason == KI_R_OK)
			return no_such_block(r, w);
		return add_point(r, w, at);
	case POINTSPEC_OFFSET:
	case POINTSPEC_ADDRESS:
		return grant_insn(r, w);
	}
	return CLI_ERROR;
}

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
	struct ki_code code;
	uint32_t id;
	int ret;

	ret = ki_counters_take(r->t, 1, &p->counter, err);
	if (ret)
		return ret;
	p->chunk = next_chunk(r->out);
	p->nchunks = (uint32_t)n;
	for (size_t i = 0; !ret && i < n; i++) {
		ki_snippet_count(&code, p->counter, v[i].flags_live);
		ret = ki_plan_add(r->out->plan, r->fn, &r->spans, &v[i], 0, &code, &id, err);
	}
	return ret;
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
	if (ret && err.reason == KI_R_COUNTERS_FULL)
		cli_warn("%s: the first point without a counter", p->name);
	return ret ? cli_fail(&err) : CLI_OK;
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
	if (ki_function_analyze(r->t, w->sym, &r->fn, &err))
		return cli_fail(&err);
	if (ki_spans_find(r->fn, &r->spans, &err))
		ret = cli_fail(&err);
	for (size_t i = 0; !ret && i < n; i++)
		ret = grant(r, &w[i]);
	for (size_t i = r->first; !ret && i < r->out->v.n; i++)
		ret = plan_point(r, &r->out->v.v[i]);
	note_entry(r);
	ki_spans_free(&r->spans);
	ki_function_free(r->fn);
	return ret;
}

static int resolve_functions(struct resolver *r, bool quiet)
{
	struct cli_progress progress;
	size_t n = r->wishes.n;
	int ret = CLI_OK;

	qsort(r->wishes.v, n, sizeof(*r->wishes.v), by_function);
	cli_progress_start(&progress, "analysing points", n, quiet);
	for (size_t i = 0, end; !ret && i < n; i = end) {
		for (end = i + 1; end < n; end++)
			if (r->wishes.v[end].sym->addr != r->wishes.v[i].sym->addr)
				break;
		if (i && wait_is_interrupted())
			ret = cli_error("interrupted while analysing; nothing is installed");
		else
			ret = resolve_function(r, &r->wishes.v[i], end - i);
		cli_progress_at(&progress, end);
	}
	cli_progress_end(&progress);
	return ret;
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

int points_resolve(struct points *p, struct ki_target *t, const struct asked *a, bool blocks,
		   bool quiet)
{
	struct resolver r = {.out = p, .t = t, .blocks = blocks};
	int ret = CLI_OK;

	if (ki_plan_new(&p->plan))
		ret = cli_no_memory();
	for (size_t i = 0; !ret && i < a->n; i++)
		ret = wish(&r, &a->specs[i], a->texts[i]);
	if (!ret)
		ret = resolve_functions(&r, quiet);
	if (!ret && !p->v.n)
		ret = cli_error("no point: none of the functions has such a place");
	ki_vec_free(&r.wishes);
	return ret;
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
	for (size_t i = 0; i < p->v.n; i++)
		free(p->v.v[i].name);
	ki_vec_free(&p->v);
	ki_plan_free(p->plan);
	p->plan = NULL;
}
