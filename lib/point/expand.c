// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * What a request means in a function: one point, or all of a kind. A point that is asked for twice
 * with the same order is there once.
 */
#include "point/resolve.h"

#include <errno.h>
#include <fnmatch.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/match.h"

/* [MODULE:]FUNCTION[@0xADDRESS] and what is wanted of it. */
static char *name_point(struct resolver *r, const struct request *w, const struct ki_point *at)
{
	const struct ki_symbol *sym = w->sym;
	char picked[32] = "", what[KI_POINT_NAME_LEN] = "", *name;

	if (ki_match_is_ambiguous(r->t, sym))
		snprintf(picked, sizeof(picked), "@0x%llx", (unsigned long long)sym->addr);
	if (at->kind != KI_POINT_ENTRY || w->spec->suffix == KI_POINTSPEC_ENTRY)
		ki_point_format(at, sym->addr, w->spec->order, what);
	if (asprintf(&name, "%s%s%s%s%s", sym->module, *sym->module ? ":" : "", sym->name, picked,
		     what) < 0)
		return NULL;
	return name;
}

static bool is_there(const struct resolver *r, const struct request *w, const struct ki_point *at)
{
	for (size_t i = r->first; i < r->out->v.n; i++) {
		const struct ki_point *old = &r->out->v.v[i].at;

		if (old->kind == at->kind && old->block == at->block && old->addr == at->addr &&
		    old->edge == at->edge && r->out->v.v[i].order == w->spec->order &&
		    (!r->how->separate || r->out->v.v[i].spec == w->spec))
			return true;
	}
	return false;
}

/* What the point is about: a block, an instruction, or all of the function. */
static void place_point(const struct ki_function *fn, struct ki_named_point *p)
{
	const struct ki_point *at = &p->at;

	switch (at->kind) {
	case KI_POINT_BLOCK:
	case KI_POINT_BLOCK_END:
		if (at->block >= fn->nblocks)
			return;
		p->addr = fn->blocks[at->block].start;
		p->size = fn->blocks[at->block].end - p->addr;
		return;
	case KI_POINT_EDGE:
		p->edge = fn->edges[at->edge];
		p->addr = fn->insns[p->edge.insn].addr;
		p->size = 0;
		return;
	case KI_POINT_INSN:
	case KI_POINT_AFTER:
		p->addr = at->addr;
		p->size = 0;
		return;
	default:
		return;
	}
}

static int add_cell(struct resolver *r, const struct ki_metric *metric, unsigned int part)
{
	struct ki_cell c = {.metric = metric, .part = part};

	if (r->how->per_cpu) {
		c.cpus = calloc(r->out->cpus, sizeof(*c.cpus));
		if (!c.cpus)
			return -ENOMEM;
	}
	if (metric->form == KI_FORM_HISTOGRAM) {
		c.buckets = calloc(KI_LOG2_BUCKETS, sizeof(*c.buckets));
		if (!c.buckets)
			return -ENOMEM;
	}
	if (!ki_vec_push(&r->out->cells, c))
		return 0;
	free(c.buckets);
	free(c.cpus);
	return -ENOMEM;
}

/* Calls of what is no function are counts. */
static const struct ki_metric *metric_of(const struct resolver *r, const struct request *w,
					 unsigned int i)
{
	const struct ki_metric *m = r->how->wanted.metrics[i];

	return m == ki_metric_find("calls") && w->spec->suffix != KI_POINTSPEC_NONE
		       ? ki_metric_find("count")
		       : m;
}

/* Each point has the metrics that are wanted, of each part. */
static int add_cells(struct resolver *r, const struct request *w, struct ki_named_point *p)
{
	const struct ki_wanted *wanted = &r->how->wanted;
	const unsigned int parts = ki_points_parts(r->out);

	p->cell = r->out->cells.n;
	if (wanted->shape != KI_SHAPE_WHOLE) {
		p->ncells = 1;
		return add_cell(r, ki_metric_find("count"), 0);
	}
	p->ncells = wanted->n * parts;
	for (unsigned int i = 0; i < wanted->n; i++)
		for (unsigned int part = 0; part < parts; part++)
			if (add_cell(r, metric_of(r, w, i), part))
				return -ENOMEM;
	return 0;
}

static char *prefixed(const struct resolver *r, char *name)
{
	char *all = name;

	if (!name || !r->how->prefix)
		return name;
	if (asprintf(&all, "%s%s", r->how->prefix, name) < 0)
		all = NULL;
	free(name);
	return all;
}

/* literal: the request is this point, and so what was written is its name. */
static int add_point(struct resolver *r, const struct request *w, struct ki_point at, bool literal)
{
	struct ki_named_point p = {
		.sym = w->sym, .at = at, .order = w->spec->order, .spec = w->spec};

	if (is_there(r, w, &at))
		return 0;
	p.addr = r->fn->start;
	p.size = w->sym->size;
	place_point(r->fn, &p);
	p.name = prefixed(r, literal && w->text ? strdup(w->text) : name_point(r, w, &at));
	if (!p.name || add_cells(r, w, &p) || ki_vec_push(&r->out->v, p)) {
		free(p.name);
		return ki_err_set(r->err, -ENOMEM, 0, "out of memory");
	}
	return 0;
}

/* A request of one thing that does not exist is an error; of a glob's, it is passed over. */
static int no_such(const struct resolver *r, const struct request *w, const char *what, uint32_t n,
		   const char *verb)
{
	if (!w->text || r->fn->reason)
		return 0;
	return ki_err_set(r->err, -EINVAL, 0,
			  "%s: no such %s: %s has %u, numbered from 0; kerninst %s %s shows them",
			  w->text, what, w->sym->name, n, verb, w->sym->name);
}

static int not_a_boundary(const struct resolver *r, const struct request *w, uint64_t addr)
{
	const struct ki_function *fn = r->fn;
	unsigned long long off = addr - fn->start, start, end;
	char text[128];

	if (!w->text && w->spec->suffix != KI_POINTSPEC_ADDRESS)
		return 0;
	for (uint32_t i = 0; i < fn->ninsns; i++) {
		const struct ki_insn *in = &fn->insns[i];

		if (addr < in->addr || addr >= in->addr + in->len)
			continue;
		ki_insn_format(fn, in, text, sizeof(text));
		start = in->addr - fn->start;
		end = start + in->len;
		return ki_err_set(r->err, -EINVAL, 0,
				  "%s+0x%llx: inside the instruction '%s' from +0x%llx to +0x%llx; "
				  "use one of these",
				  w->sym->name, off, text, start, end);
	}
	return ki_err_set(
		r->err, -EINVAL, 0,
		"%s+0x%llx: no instruction of the function covers it; it has 0x%llx bytes",
		w->sym->name, off, (unsigned long long)(fn->end - fn->start));
}

static int expand_insn(struct resolver *r, const struct request *w, enum ki_point_kind kind)
{
	bool absolute = w->spec->suffix == KI_POINTSPEC_ADDRESS;
	uint64_t addr = absolute ? w->spec->number : w->sym->addr + w->spec->number;

	if (r->fn->reason == KI_R_OK && !ki_function_insn_at(r->fn, addr))
		return not_a_boundary(r, w, addr);
	return add_point(r, w, (struct ki_point){.kind = kind, .addr = addr}, true);
}

/* A function that is refused has no numbers that mean something: it is refused as a whole. */
static int expand_refused(struct resolver *r, const struct request *w)
{
	return add_point(r, w, (struct ki_point){.kind = KI_POINT_BLOCK}, true);
}

static int expand_block(struct resolver *r, const struct request *w, enum ki_point_kind kind)
{
	struct ki_point at = {.kind = kind, .block = (uint32_t)w->spec->number};
	struct ki_point there;

	if (r->fn->reason == KI_R_OK && ki_pointspec_point(w->spec, r->fn, &there))
		return no_such(r, w, "block", r->fn->nblocks, "list -v");
	return add_point(r, w, at, true);
}

static int expand_edge(struct resolver *r, const struct request *w, enum ki_point_kind kind)
{
	struct ki_point at;

	(void)kind;
	if (ki_pointspec_point(w->spec, r->fn, &at))
		return r->fn->reason ? expand_refused(r, w)
				     : no_such(r, w, "edge", r->fn->nedges, "cfg -f json");
	return add_point(r, w, at, true);
}

static int expand_blocks(struct resolver *r, const struct request *w, enum ki_point_kind kind)
{
	int ret = 0;

	if (!r->fn->nblocks)
		return expand_refused(r, w);
	for (uint32_t b = 0; !ret && b < r->fn->nblocks; b++)
		ret = add_point(r, w, (struct ki_point){.kind = kind, .block = b}, false);
	return ret;
}

/* By any of the names that the callee has. */
static bool is_call_to(const struct resolver *r, const struct ki_edge *e, const char *callee)
{
	const struct ki_symbol *sym, *all;
	size_t n;

	if (e->kind != KI_EDGE_CALL && e->kind != KI_EDGE_TAIL)
		return false;
	all = ki_target_symbols(r->t, &n);
	sym = ki_target_symbol_at(r->t, e->to);
	for (; sym && sym < all + n && sym->addr == e->to; sym++)
		if (!fnmatch(callee, sym->name, 0))
			return true;
	return false;
}

static bool edge_is_meant(const struct resolver *r, const struct ki_pointspec *spec,
			  const struct ki_edge *e)
{
	if (spec->suffix == KI_POINTSPEC_EDGE_BETWEEN)
		return e->block == spec->number && e->to_block == spec->to;
	return spec->suffix != KI_POINTSPEC_CALL_TO || is_call_to(r, e, spec->callee);
}

static int expand_edges(struct resolver *r, const struct request *w, enum ki_point_kind kind)
{
	size_t before = r->out->v.n;
	int ret = 0;

	if (!r->fn->nedges)
		return r->fn->reason ? expand_refused(r, w) : 0;
	for (uint32_t e = 0; !ret && e < r->fn->nedges; e++)
		if (edge_is_meant(r, w->spec, &r->fn->edges[e]))
			ret = add_point(r, w, (struct ki_point){.kind = kind, .edge = e}, false);
	if (ret || r->out->v.n > before || !w->text)
		return ret;
	return ki_err_set(r->err, -EINVAL, 0, "%s: %s has no such %s; kerninst %s %s shows them",
			  w->text, w->sym->name,
			  w->spec->suffix == KI_POINTSPEC_CALL_TO ? "call" : "edge",
			  w->spec->suffix == KI_POINTSPEC_CALL_TO ? "calls" : "cfg", w->sym->name);
}

/* Does anything come after the instruction? */
static bool goes_on(const struct ki_function *fn, uint32_t i)
{
	const struct ki_insn *in = &fn->insns[i];

	switch (in->kind) {
	case KI_INSN_JMP:
	case KI_INSN_JMP_INDIRECT:
	case KI_INSN_RET:
	case KI_INSN_BAD:
		return false;
	default:
		return !(in->flags & KI_INSN_NORETURN);
	}
}

static int expand_insns(struct resolver *r, const struct request *w, enum ki_point_kind kind)
{
	const struct ki_function *fn = r->fn;
	int ret = 0;

	if (!fn->nblocks)
		return expand_refused(r, w);
	for (uint32_t i = 0; !ret && i < fn->ninsns; i++)
		if (fn->insns[i].kind != KI_INSN_PAD && (kind == KI_POINT_INSN || goes_on(fn, i)))
			ret = add_point(r, w,
					(struct ki_point){.kind = kind, .addr = fn->insns[i].addr},
					false);
	return ret;
}

static int expand_whole(struct resolver *r, const struct request *w, enum ki_point_kind kind)
{
	return add_point(r, w, (struct ki_point){.kind = kind}, true);
}

struct expansion {
	int (*expand)(struct resolver *r, const struct request *w, enum ki_point_kind kind);
	enum ki_point_kind kind;
};

static const struct expansion expansions[] = {
	[KI_POINTSPEC_ENTRY] = {expand_whole, KI_POINT_ENTRY},
	[KI_POINTSPEC_EXIT] = {expand_whole, KI_POINT_EXIT},
	[KI_POINTSPEC_EXIT_AFTER] = {expand_whole, KI_POINT_EXIT_AFTER},
	[KI_POINTSPEC_CALLS] = {expand_whole, KI_POINT_CALLS},
	[KI_POINTSPEC_RETURNS] = {expand_whole, KI_POINT_RETURNS},
	[KI_POINTSPEC_BLOCK] = {expand_block, KI_POINT_BLOCK},
	[KI_POINTSPEC_BLOCK_END] = {expand_block, KI_POINT_BLOCK_END},
	[KI_POINTSPEC_OFFSET] = {expand_insn, KI_POINT_INSN},
	[KI_POINTSPEC_ADDRESS] = {expand_insn, KI_POINT_INSN},
	[KI_POINTSPEC_AFTER] = {expand_insn, KI_POINT_AFTER},
	[KI_POINTSPEC_EDGE] = {expand_edge, KI_POINT_EDGE},
	[KI_POINTSPEC_BLOCKS] = {expand_blocks, KI_POINT_BLOCK},
	[KI_POINTSPEC_EDGES] = {expand_edges, KI_POINT_EDGE},
	[KI_POINTSPEC_EDGE_BETWEEN] = {expand_edges, KI_POINT_EDGE},
	[KI_POINTSPEC_CALL_TO] = {expand_edges, KI_POINT_EDGE},
	[KI_POINTSPEC_INSNS] = {expand_insns, KI_POINT_INSN},
	[KI_POINTSPEC_BLOCK_ENDS] = {expand_blocks, KI_POINT_BLOCK_END},
	[KI_POINTSPEC_AFTERS] = {expand_insns, KI_POINT_AFTER},
};

static const struct expansion alone[KI_SHAPES] = {
	[KI_SHAPE_WHOLE] = {expand_whole, KI_POINT_ENTRY},
	[KI_SHAPE_BLOCKS] = {expand_blocks, KI_POINT_BLOCK},
	[KI_SHAPE_EDGES] = {expand_edges, KI_POINT_EDGE},
};

int ki_points_expand(struct resolver *r, const struct request *w)
{
	const struct expansion *g = w->spec->suffix == KI_POINTSPEC_NONE
					    ? &alone[r->how->wanted.shape]
					    : &expansions[w->spec->suffix];

	return g->expand(r, w, g->kind);
}
