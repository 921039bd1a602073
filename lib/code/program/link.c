/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Linking: the portions' arrays become the program's, and addresses become numbers. Each chunk has
 * its own place in the program's arrays, so all of them are copied at once.
 */
#include <string.h>

#include "code/program/program.h"
#include "util/parallel.h"
#include "util/search.h"

struct linker {
	struct ki_program *p;
	bool runs;
};

void ki_program_portions_free(struct ki_program *p)
{
	for (uint32_t i = 0; i < p->nportions; i++) {
		struct ki_portion *c = &p->portions[i];

		ki_vec_free(&c->lens);
		ki_vec_free(&c->blocks);
		ki_vec_free(&c->edges);
		ki_vec_free(&c->calls);
		ki_vec_free(&c->runs);
		ki_vec_free(&c->first_run);
	}
	free(p->portions);
	p->portions = NULL;
	p->nportions = 0;
}

static void add_totals(struct ki_program_totals *t, const struct ki_program_totals *c)
{
	t->functions += c->functions;
	t->parsed += c->parsed;
	for (size_t r = 0; r < sizeof(t->refused) / sizeof(*t->refused); r++)
		t->refused[r] += c->refused[r];
	t->calls += c->calls;
	t->indirect_calls += c->indirect_calls;
	t->tail_calls += c->tail_calls;
	t->indirect_tail_calls += c->indirect_tail_calls;
	t->returns += c->returns;
	t->table_jumps += c->table_jumps;
	t->code_bytes += c->code_bytes;
}

/* Where each chunk's elements will stand; -EOVERFLOW if there are too many of them. */
static int lay_out(struct ki_program *p)
{
	uint64_t insns = 0, blocks = 0, edges = 0, calls = 0;

	for (uint32_t i = 0; i < p->nportions; i++) {
		struct ki_portion *c = &p->portions[i];

		c->base_insn = (uint32_t)insns;
		c->base_block = (uint32_t)blocks;
		c->base_edge = (uint32_t)edges;
		c->base_call = (uint32_t)calls;
		insns += c->lens.n;
		blocks += c->blocks.n;
		edges += c->edges.n;
		calls += c->calls.n;
		if (insns >= KI_NONE || blocks >= KI_NONE / 2 || edges >= KI_NONE ||
		    calls >= KI_NONE || c->runs.n >= KI_NONE)
			return -EOVERFLOW;
		add_totals(&p->totals, &c->totals);
	}
	p->ninsns = (uint32_t)insns;
	p->nblocks = (uint32_t)blocks;
	p->nedges = (uint32_t)edges;
	p->ncalls = (uint32_t)calls;
	return 0;
}

static int allocate(struct ki_program *p)
{
	p->lens = malloc(p->ninsns + 1);
	p->blocks = malloc((p->nblocks + 1ull) * sizeof(*p->blocks));
	p->edges = malloc((p->nedges + 1ull) * sizeof(*p->edges));
	p->calls = malloc((p->ncalls + 1ull) * sizeof(*p->calls));
	p->caller_of = malloc((p->ncalls + 1ull) * sizeof(*p->caller_of));
	p->portion_of = malloc((p->nfunctions + 1ull) * sizeof(*p->portion_of));
	p->first_run = malloc((p->nblocks + 1ull) * sizeof(*p->first_run));
	if (!p->lens || !p->blocks || !p->edges || !p->calls || !p->caller_of || !p->portion_of ||
	    !p->first_run)
		return -ENOMEM;
	p->blocks[p->nblocks] = (struct ki_pblock){0, p->ninsns, p->nedges, p->nfunctions};
	return 0;
}

/* First the blocks of all chunks, since edges lead to those of others. */
static int copy_blocks(void *arg, unsigned int thread, size_t i)
{
	struct linker *l = arg;
	struct ki_program *p = l->p;
	struct ki_portion *c = &p->portions[i];
	uint32_t n = 0;

	(void)thread;
	if (c->lens.n)
		memcpy(p->lens + c->base_insn, c->lens.v, c->lens.n);
	ki_vec_free(&c->lens);
	for (size_t b = 0; b < c->blocks.n; b++) {
		struct ki_pblock *to = &p->blocks[c->base_block + b];

		*to = c->blocks.v[b];
		to->first_insn += c->base_insn;
		to->first_edge += c->base_edge;
		if (l->runs)
			p->first_run[c->base_block + b] = c->first_run.v[b];
	}
	for (uint32_t f = c->first; f < c->end; f++) {
		p->functions[f].first_block = c->base_block + n;
		p->functions[f].first_call += c->base_call;
		p->portion_of[f] = (uint32_t)i;
		for (uint32_t k = 0; k < p->functions[f].ncalls; k++)
			p->caller_of[p->functions[f].first_call + k] = f;
		n += p->functions[f].nblocks;
	}
	ki_vec_free(&c->blocks);
	ki_vec_free(&c->first_run);
	return 0;
}

uint32_t ki_program_function_at(const struct ki_program *p, uint64_t addr)
{
	uint32_t lo = (uint32_t)KI_FIRST(i, p->nfunctions, p->starts[i] > addr);

	if (!lo || addr - p->starts[lo - 1] >= p->functions[lo - 1].symbol->size)
		return KI_NONE;
	return lo - 1;
}

/* Number of the last block of function f that starts at or before offset off. */
static uint32_t block_before(const struct ki_program *p, uint32_t f, uint64_t off)
{
	uint32_t lo = p->functions[f].first_block, hi = lo + p->functions[f].nblocks;

	if (lo == hi || p->blocks[lo].off > off)
		return KI_NONE;
	while (hi - lo > 1) {
		uint32_t mid = lo + (hi - lo) / 2;

		if (p->blocks[mid].off <= off)
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

uint32_t ki_program_block_from(const struct ki_program *p, uint64_t addr)
{
	uint32_t f = ki_program_function_at(p, addr), b;

	if (f == KI_NONE)
		return KI_NONE;
	b = block_before(p, f, addr - p->starts[f]);
	return b != KI_NONE && p->blocks[b].off == addr - p->starts[f] ? b : KI_NONE;
}

uint32_t ki_program_block_at(const struct ki_program *p, uint64_t addr)
{
	uint32_t f = ki_program_function_at(p, addr), b;
	struct ki_program_block block;

	if (f == KI_NONE)
		return KI_NONE;
	b = block_before(p, f, addr - p->starts[f]);
	if (b == KI_NONE || ki_program_block(p, b, &block) || addr >= block.end)
		return KI_NONE;
	return b;
}

static void link_edges(struct ki_program *p, struct ki_portion *c, uint32_t f, uint32_t first,
		       uint32_t end)
{
	for (uint32_t e = first; e < end; e++) {
		const struct ki_raw_way *from = &c->edges.v[e];
		struct ki_pedge *to = &p->edges[c->base_edge + e];

		to->where = from->where;
		to->to_block = KI_NONE;
		if (from->to_block != KI_NONE)
			to->to_block = p->functions[f].first_block + from->to_block;
		else if (from->to)
			to->to_block = ki_program_block_from(p, from->to);
	}
}

static int copy_rest(void *arg, unsigned int thread, size_t i)
{
	struct linker *l = arg;
	struct ki_program *p = l->p;
	struct ki_portion *c = &p->portions[i];

	(void)thread;
	for (uint32_t f = c->first; f < c->end; f++) {
		uint32_t b = p->functions[f].first_block, end = b + p->functions[f].nblocks;

		link_edges(p, c, f, p->blocks[b].first_edge - c->base_edge,
			   p->blocks[end].first_edge - c->base_edge);
	}
	for (size_t k = 0; k < c->calls.n; k++) {
		struct ki_pcall *to = &p->calls[c->base_call + k];
		uint64_t addr = c->calls.v[k].to;

		to->where = c->calls.v[k].where;
		to->callee = addr ? ki_program_function_at(p, addr) : KI_NONE;
		if (to->callee != KI_NONE && p->starts[to->callee] != addr)
			to->callee = KI_NONE;
	}
	for (size_t k = 0; k < c->runs.n; k++) {
		struct ki_run *r = &c->runs.v[k];

		if (r->event == KI_EVENT_CALL || r->event == KI_EVENT_TAIL)
			r->arg += c->base_call;
		else if (r->event == KI_EVENT_FIXUP)
			r->arg = p->edges[c->base_edge + r->arg].to_block;
	}
	ki_vec_free(&c->calls);
	return 0;
}

static int by_value(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return x < y ? -1 : x > y;
}

/* Places inside known functions, where no block starts, that a jump leads to. */
static int find_entries(struct ki_program *p, bool *again)
{
	size_t before = p->entries.n;

	for (uint32_t i = 0; i < p->nportions; i++) {
		struct ki_portion *c = &p->portions[i];

		for (size_t e = 0; e < c->edges.n; e++) {
			const struct ki_raw_way *w = &c->edges.v[e];

			if (w->to_block != KI_NONE || !w->to ||
			    p->edges[c->base_edge + e].to_block != KI_NONE ||
			    KI_WHERE_KIND(w->where) != KI_EDGE_TABLE)
				continue;
			if (ki_vec_push(&p->entries, w->to))
				return -ENOMEM;
		}
	}
	*again = p->entries.n > before;
	if (*again)
		qsort(p->entries.v, p->entries.n, sizeof(*p->entries.v), by_value);
	return 0;
}

int ki_program_link(struct ki_program *p, bool runs, bool *again, struct ki_err *err)
{
	struct linker l = {.p = p, .runs = runs};
	int ret = lay_out(p);

	if (ret == -EOVERFLOW)
		return ki_err_set(err, -E2BIG, 0, "more code than a program can hold");
	ret = allocate(p);
	if (!ret)
		ret = ki_parallel(p->nportions, p->threads, copy_blocks, &l);
	if (!ret)
		ret = ki_parallel(p->nportions, p->threads, copy_rest, &l);
	if (!ret)
		ret = find_entries(p, again);
	for (uint32_t i = 0; i < p->nportions; i++)
		ki_vec_free(&p->portions[i].edges);
	return ret ? ki_err_set(err, ret, 0, "out of memory for the program") : 0;
}
