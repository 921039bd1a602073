// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A profile of a function, which may be of another boot: it is believed if its blocks and edges are
 * those of the code that runs now.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/evolve.h"

static const struct ki_cover_function *find(const struct ki_coverage *c,
					    const struct ki_function *fn)
{
	const struct ki_symbol *sym = fn->symbol;

	for (size_t i = 0; i < c->nfunctions; i++) {
		const struct ki_cover_function *f = &c->functions[i];
		const char *module = f->module ? f->module : "", *own = sym->module;

		if (!strcmp(f->name, sym->name) && !strcmp(module, own ? own : "") &&
		    f->size == fn->end - fn->start)
			return f;
	}
	return NULL;
}

static bool is_call(const struct ki_edge *e)
{
	return e->kind == KI_EDGE_CALL || e->kind == KI_EDGE_CALL_INDIRECT;
}

static bool same_blocks(const struct ki_coverage *c, const struct ki_cover_function *f,
			const struct ki_function *fn)
{
	if (f->nblocks != fn->nblocks)
		return false;
	for (uint32_t i = 0; i < fn->nblocks; i++) {
		const struct ki_cover_block *b = &c->blocks[f->first_block + i];

		if (b->off != fn->blocks[i].start - fn->start ||
		    b->len != fn->blocks[i].end - fn->blocks[i].start)
			return false;
	}
	return true;
}

/* A profile's edges are those of the function but calls, in the same order. */
static bool same_edges(const struct ki_coverage *c, const struct ki_cover_function *f,
		       const struct ki_function *fn)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < fn->nedges; i++) {
		const struct ki_edge *e = &fn->edges[i];
		const struct ki_cover_edge *p = &c->edges[f->first_edge + n];

		if (is_call(e))
			continue;
		if (n == f->nedges || p->from != e->block || p->to != e->to_block ||
		    p->kind != e->kind)
			return false;
		n++;
	}
	return n == f->nedges;
}

/* Does control go there by itself in the patch, or through the text? */
static bool stays(const struct ki_function *fn, const struct ki_spans *spans,
		  const struct ki_edge *e)
{
	return (e->kind == KI_EDGE_FALL || e->kind == KI_EDGE_TAKEN || e->kind == KI_EDGE_JUMP) &&
	       ki_spans_at(spans, fn, fn->insns[e->insn].addr) &&
	       ki_spans_at(spans, fn, fn->blocks[e->to_block].start);
}

static void fill(const struct ki_coverage *c, const struct ki_cover_function *f,
		 const struct ki_function *fn, const struct ki_spans *spans, struct ki_lay_graph *g)
{
	const struct ki_cover_edge *p = &c->edges[f->first_edge];

	for (uint32_t i = 0; i < fn->nblocks; i++)
		g->blocks[i] = (struct ki_lay_block){
			.size = (uint32_t)(fn->blocks[i].end - fn->blocks[i].start),
			.count = c->blocks[f->first_block + i].count};
	for (uint32_t i = 0; i < fn->nedges; i++) {
		const struct ki_edge *e = &fn->edges[i];

		if (is_call(e))
			continue;
		if (e->to_block != KI_NONE && stays(fn, spans, e))
			g->edges[g->nedges++] =
				(struct ki_lay_edge){e->block, e->to_block, p->count};
		p++;
	}
}

/* Times that it was called: what came to its first block, but not from inside. */
static uint64_t calls_of(const struct ki_coverage *c, const struct ki_cover_function *f)
{
	uint64_t n = c->blocks[f->first_block].count, back = 0;

	for (uint32_t i = 0; i < f->nedges; i++)
		if (!c->edges[f->first_edge + i].to)
			back += c->edges[f->first_edge + i].count;
	return n > back ? n - back : 0;
}

int ki_evolve_graph(const struct ki_coverage *profile, const struct ki_function *fn,
		    const struct ki_spans *spans, struct ki_lay_graph *g, uint64_t *calls,
		    struct ki_err *err)
{
	const struct ki_cover_function *f = find(profile, fn);

	*g = (struct ki_lay_graph){.nblocks = fn->nblocks};
	if (profile->mode != KI_COVER_EDGES)
		return ki_err_set(err, -ENOENT, fn->start,
				  "the profile has no edges: make one with kerninst evolve --save, "
				  "or kerninst cover --mode edges");
	if (!f)
		return ki_err_set(err, -ENOENT, fn->start, "%s: not in the profile",
				  fn->symbol->name);
	if (f->reason)
		return ki_err_reason(err, f->reason, fn->start, "%s", fn->symbol->name);
	if (!same_blocks(profile, f, fn) || !same_edges(profile, f, fn))
		return ki_err_set(err, -ESTALE, fn->start,
				  "%s: the profile is of other code: make a new one",
				  fn->symbol->name);
	g->blocks = calloc(fn->nblocks + 1, sizeof(*g->blocks));
	g->edges = calloc(fn->nedges + 1, sizeof(*g->edges));
	if (!g->blocks || !g->edges) {
		ki_lay_graph_free(g);
		return ki_err_set(err, -ENOMEM, fn->start, "layout: out of memory");
	}
	fill(profile, f, fn, spans, g);
	*calls = calls_of(profile, f);
	return 0;
}

void ki_lay_graph_free(struct ki_lay_graph *g)
{
	free(g->blocks);
	free(g->edges);
	*g = (struct ki_lay_graph){0};
}
