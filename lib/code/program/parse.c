/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Parsing: every function is analysed by the same steps as a single one, and what the program
 * keeps of it goes into the arrays of its chunk.
 */
#include <string.h>

#include "code/decode/memo.h"
#include "code/program/program.h"
#include "util/parallel.h"

#define PORTION_BYTES (128 << 10)

struct parser {
	struct ki_program *p;
	struct ki_analysis *analyses; /* one for each thread */
	bool runs;
	struct ki_err *err;
};

/* The symbols that are functions: no aliases. */
static int find_functions(struct ki_program *p)
{
	size_t nsymbols, n = 0;
	const struct ki_symbol *syms = ki_target_symbols(p->target, &nsymbols);

	if (p->functions)
		return 0;
	p->functions = calloc(nsymbols + 1, sizeof(*p->functions));
	p->starts = calloc(nsymbols + 1, sizeof(*p->starts));
	p->compiled = calloc(nsymbols + 1, 1);
	if (!p->functions || !p->starts || !p->compiled)
		return -ENOMEM;
	for (size_t i = 0; i < nsymbols; i++) {
		if (syms[i].alias || !ki_text_piece_at(&p->text, syms[i].addr))
			continue;
		p->starts[n] = syms[i].addr;
		p->functions[n++].symbol = &syms[i];
	}
	p->nfunctions = (uint32_t)n;
	return 0;
}

static int make_portions(struct ki_program *p)
{
	uint32_t first = 0, room = 0;
	uint64_t bytes = 0;

	for (uint32_t f = 0; f < p->nfunctions; f++) {
		bytes += p->functions[f].symbol->size;
		if (bytes < PORTION_BYTES && f + 1 < p->nfunctions)
			continue;
		if (p->nportions == room) {
			void *more;

			room = room ? 2 * room : 64;
			more = realloc(p->portions, room * sizeof(*p->portions));
			if (!more)
				return -ENOMEM;
			p->portions = more;
		}
		p->portions[p->nportions++] = (struct ki_portion){.first = first, .end = f + 1};
		first = f + 1;
		bytes = 0;
	}
	return 0;
}

static int add_way(struct ki_portion *c, const struct ki_analysis *a, const struct ki_edge *e)
{
	uint64_t off = a->fn->insns[e->insn].addr - a->fn->start;
	struct ki_raw_way way = {KI_WHERE(off, e->kind), e->to_block, e->to};

	return ki_edge_is_call(e->kind) ? ki_vec_push(&c->calls, way) : ki_vec_push(&c->edges, way);
}

static void count_edge(struct ki_program_totals *t, unsigned int kind)
{
	switch (kind) {
	case KI_EDGE_CALL:
		t->calls++;
		break;
	case KI_EDGE_CALL_INDIRECT:
		t->indirect_calls++;
		break;
	case KI_EDGE_TAIL:
		t->tail_calls++;
		break;
	case KI_EDGE_TAIL_INDIRECT:
		t->indirect_tail_calls++;
		break;
	case KI_EDGE_RETURN:
		t->returns++;
		break;
	}
}

/* How many of edges [from, to) are no calls. */
static uint32_t count_edges(const struct ki_function *fn, uint32_t from, uint32_t to)
{
	uint32_t n = 0;

	for (; from < to; from++)
		n += !ki_edge_is_call(fn->edges[from].kind);
	return n;
}

/* calls: how many of the function come before the block. */
static int add_runs(struct ki_portion *c, const struct ki_analysis *a, const struct ki_block *b,
		    uint32_t first_call, uint32_t calls)
{
	uint32_t edge = b->first_edge + b->nedges, number = (uint32_t)c->edges.n;
	size_t from = c->runs.n;
	int ret = ki_vec_push(&c->first_run, (uint32_t)from);

	if (!ret)
		ret = ki_runs_add(a, b, calls, &c->runs, NULL);
	/* The block's edges are the last ones; runs name them from the last to the first. */
	for (size_t i = from; !ret && i < c->runs.n; i++) {
		struct ki_run *r = &c->runs.v[i];

		if (r->event == KI_EVENT_CALL || r->event == KI_EVENT_TAIL)
			r->arg += first_call;
		if (r->event != KI_EVENT_FIXUP)
			continue;
		number -= count_edges(a->fn, r->arg, edge);
		edge = r->arg;
		r->arg = number;
	}
	return ret;
}

static int add_block(struct ki_portion *c, const struct ki_analysis *a, const struct ki_block *b,
		     uint32_t f)
{
	struct ki_pblock pb = {
		.off = (uint32_t)(b->start - a->fn->start),
		.first_insn = (uint32_t)c->lens.n,
		.first_edge = (uint32_t)c->edges.n,
		.function = f,
	};
	int ret = ki_vec_push(&c->blocks, pb);

	if (!ret)
		ret = ki_vec_reserve(&c->lens, b->count);
	for (uint32_t i = 0; !ret && i < b->count; i++)
		c->lens.v[c->lens.n++] = a->fn->insns[b->first + i].len;
	for (uint32_t e = b->first_edge; !ret && e < b->first_edge + b->nedges; e++) {
		count_edge(&c->totals, a->fn->edges[e].kind);
		ret = add_way(c, a, &a->fn->edges[e]);
	}
	return ret;
}

static int add_blocks(struct ki_portion *c, const struct ki_analysis *a, uint32_t f, bool runs)
{
	uint32_t first_call = (uint32_t)c->calls.n;
	int ret = 0;

	for (uint32_t b = 0; !ret && b < a->fn->nblocks; b++) {
		uint32_t calls = (uint32_t)c->calls.n - first_call;

		ret = add_block(c, a, &a->fn->blocks[b], f);
		if (!ret && runs)
			ret = add_runs(c, a, &a->fn->blocks[b], first_call, calls);
	}
	return ret;
}

static int add_function(struct parser *ps, struct ki_portion *c, const struct ki_analysis *a,
			uint32_t f)
{
	struct ki_program_function *pf = &ps->p->functions[f];
	const struct ki_function *fn = a->fn;
	uint32_t calls = (uint32_t)c->calls.n;
	size_t insns = c->lens.n;
	int ret = add_blocks(c, a, f, ps->runs);

	pf->parent = f;
	pf->nblocks = fn->nblocks;
	pf->ninsns = (uint32_t)(c->lens.n - insns);
	pf->first_call = calls;
	pf->ncalls = (uint32_t)c->calls.n - calls;
	pf->code_size = 0;
	if (fn->nblocks)
		pf->code_size = (uint32_t)(fn->blocks[fn->nblocks - 1].end - fn->start);
	pf->reason = fn->reason;
	pf->unparsed = a->unparsed;
	pf->flags = a->unparsed == KI_R_OK ? KI_FUNCTION_PARSED : 0;
	ps->p->compiled[f] = ki_function_compiled(a->fn);
	c->totals.functions++;
	c->totals.parsed += a->unparsed == KI_R_OK;
	c->totals.refused[fn->reason]++;
	c->totals.table_jumps += a->ways.n != 0;
	for (uint32_t b = 0; b < fn->nblocks; b++)
		c->totals.code_bytes += fn->blocks[b].end - fn->blocks[b].start;
	return ret;
}

static int too_large(struct parser *ps, struct ki_portion *c, uint32_t f)
{
	struct ki_program_function *pf = &ps->p->functions[f];

	pf->parent = f;
	pf->reason = pf->unparsed = KI_R_FUNCTION_TOO_LARGE;
	pf->first_call = (uint32_t)c->calls.n;
	c->totals.functions++;
	c->totals.refused[pf->reason]++;
	return 0;
}

/* Room for what so much text usually needs; what is not used is never touched. */
static int reserve(const struct parser *ps, struct ki_portion *c)
{
	uint64_t bytes = ps->p->starts[c->end - 1] - ps->p->starts[c->first];

	if (bytes > 4 * PORTION_BYTES)
		bytes = 4 * PORTION_BYTES;
	if (ki_vec_reserve(&c->lens, bytes / 3) || ki_vec_reserve(&c->blocks, bytes / 16) ||
	    ki_vec_reserve(&c->edges, bytes / 10) || ki_vec_reserve(&c->calls, bytes / 32) ||
	    ki_vec_reserve(&c->runs, bytes / 8) || ki_vec_reserve(&c->first_run, bytes / 16))
		return -ENOMEM;
	return 0;
}

static int parse_portion(void *arg, unsigned int thread, size_t i)
{
	struct parser *ps = arg;
	struct ki_portion *c = &ps->p->portions[i];
	struct ki_analysis *a = &ps->analyses[thread];
	int ret = reserve(ps, c);

	for (uint32_t f = c->first; !ret && f < c->end; f++) {
		const struct ki_symbol *sym = ps->p->functions[f].symbol;

		if (sym->size >= KI_FUNCTION_MAX) {
			ret = too_large(ps, c, f);
			continue;
		}
		ret = ki_analysis_run(a, sym, NULL);
		if (!ret)
			ret = add_function(ps, c, a, f);
	}
	return ret;
}

static int init_thread(struct parser *ps, unsigned int i)
{
	struct ki_analysis *a = &ps->analyses[i];
	int ret = ki_analysis_init(a, ps->p->target, ps->err);

	a->text = &ps->p->text;
	a->entries = ps->p->entries.v;
	a->nentries = ps->p->entries.n;
	return ret ? ret : ki_memo_new(&a->memo);
}

int ki_program_parse(struct ki_program *p, bool runs, struct ki_err *err)
{
	struct parser ps = {.p = p, .runs = runs, .err = err};
	int ret = find_functions(p);

	if (!ret)
		ret = make_portions(p);
	ps.analyses = calloc(p->threads, sizeof(*ps.analyses));
	if (!ret && !ps.analyses)
		ret = -ENOMEM;
	for (unsigned int i = 0; !ret && i < p->threads; i++)
		ret = init_thread(&ps, i);
	if (!ret)
		ret = ki_parallel(p->nportions, p->threads, parse_portion, &ps);
	for (unsigned int i = 0; ps.analyses && i < p->threads; i++) {
		ki_memo_free(ps.analyses[i].memo);
		ki_analysis_free(&ps.analyses[i]);
	}
	free(ps.analyses);
	return ret == -ENOMEM ? ki_err_set(err, ret, 0, "out of memory for the program") : ret;
}
