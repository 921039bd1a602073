/* SPDX-License-Identifier: GPL-2.0-only */
#include "common_program.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "code/program/program.h"
#include "common_live.h"

/* What takes a step for each byte, or a search for each instruction, is done up to here. */
#define EACH_BYTE (16u << 10)

void check_that(bool holds, const char *what, const char *file, int line)
{
	if (holds)
		return;
	fprintf(stderr, "%s:%d: does not hold: %s\n", file, line, what);
	abort();
}

static void check_insns(const struct ki_function *fn)
{
	uint64_t addr = fn->start;
	uint32_t inside = 0;

	for (uint32_t i = 0; i < fn->ninsns; i++) {
		const struct ki_insn *in = &fn->insns[i];
		const struct ki_block *b = ki_function_block_at(fn, in->addr);

		check(in->addr == addr && in->len >= 1 && in->len <= 15);
		addr += in->len;
		inside += in->kind != KI_INSN_PAD;
		check(ki_function_insn_at(fn, in->addr) == in);
		check(in->len == 1 || !ki_function_insn_at(fn, in->addr + 1));
		check((in->kind == KI_INSN_PAD) == !b);
		check(in->block_start == (b && b->start == in->addr));
		check(in->reason < KI_R_COUNT);
	}
	check(!fn->ninsns || addr == fn->end);
	for (uint32_t b = 0; b < fn->nblocks; b++)
		inside -= fn->blocks[b].count;
	check(!inside);
}

static void check_edges(const struct ki_function *fn)
{
	uint32_t next = 0;

	for (uint32_t b = 0; b < fn->nblocks; b++) {
		const struct ki_block *block = &fn->blocks[b];

		check(block->first_edge == next);
		next += block->nedges;
		for (uint32_t e = block->first_edge; e < next; e++) {
			const struct ki_edge *edge = &fn->edges[e];

			check(edge->block == b && edge->kind <= KI_EDGE_RETURN);
			check(edge->insn >= block->first &&
			      edge->insn < block->first + block->count);
			check(e == block->first_edge || edge[-1].insn <= edge->insn);
			check(edge->to_block == KI_NONE ||
			      fn->blocks[edge->to_block].start == edge->to);
		}
	}
	check(next == fn->nedges);
}

void check_function(const struct ki_function *fn)
{
	check_insns(fn);
	for (uint32_t b = 0; b < fn->nblocks; b++) {
		const struct ki_block *block = &fn->blocks[b];
		const struct ki_insn *last = &fn->insns[block->first + block->count - 1];

		check(block->count && block->first + block->count <= fn->ninsns);
		check(fn->insns[block->first].addr == block->start);
		check(last->addr + last->len == block->end);
		check(!b || block[-1].end <= block->start);
	}
	check(!fn->nblocks || fn->blocks[0].start == fn->start);
	check_edges(fn);
}

static bool same(const void *a, const void *b, size_t n, size_t size)
{
	return !n || !memcmp(a, b, n * size);
}

/* Which thread did what when must not be seen in the result. */
static void check_same(const struct ki_program *p, const struct ki_program *q)
{
	struct ki_program_totals a = p->totals, b = q->totals;

	a.read_seconds = b.read_seconds;
	a.parse_seconds = b.parse_seconds;
	a.liveness_seconds = b.liveness_seconds;
	a.peak_bytes = b.peak_bytes;
	check(!memcmp(&a, &b, sizeof(a)));
	check(p->nfunctions == q->nfunctions && p->nblocks == q->nblocks);
	check(p->ninsns == q->ninsns && p->nedges == q->nedges && p->ncalls == q->ncalls);
	check(same(p->functions, q->functions, p->nfunctions, sizeof(*p->functions)));
	check(same(p->lens, q->lens, p->ninsns, 1));
	check(same(p->blocks, q->blocks, p->nblocks + 1ull, sizeof(*p->blocks)));
	check(same(p->edges, q->edges, p->nedges, sizeof(*p->edges)));
	check(same(p->calls, q->calls, p->ncalls, sizeof(*p->calls)));
	if (!p->live || !q->live)
		return;
	check(same(p->live, q->live, p->nblocks, sizeof(*p->live)));
	check(same(p->use, q->use, p->nfunctions, sizeof(*p->use)));
	check(same(p->pass, q->pass, p->nfunctions, sizeof(*p->pass)));
	check(same(p->out, q->out, p->nfunctions, sizeof(*p->out)));
}

static void check_program_edges(const struct ki_program *p, const struct ki_program_block *b)
{
	for (uint32_t e = b->first_edge; e < b->first_edge + b->nedges; e++) {
		struct ki_program_block to;
		struct ki_program_edge edge;

		check(!ki_program_edge(p, e, &edge));
		check(edge.from >= b->start && edge.from < b->end);
		check(edge.kind <= KI_EDGE_RETURN && !ki_edge_is_call(edge.kind));
		check(edge.kind != KI_EDGE_FALL || edge.to == b->end);
		if (edge.to_block == KI_NONE)
			continue;
		check(!ki_program_block(p, edge.to_block, &to) && to.start == edge.to);
	}
}

static void check_program_blocks(const struct ki_program *p, uint32_t f,
				 const struct ki_program_function *pf)
{
	uint64_t start = pf->symbol->addr, end = start;

	for (uint32_t b = pf->first_block; b < pf->first_block + pf->nblocks; b++) {
		struct ki_program_block block;

		check(!ki_program_block(p, b, &block));
		check(block.function == f && block.start >= end && block.end > block.start);
		check(b != pf->first_block || block.start == start);
		end = block.end;
		check(ki_program_block_at(p, block.start) == b);
		check(ki_program_block_at(p, block.end - 1) == b);
		check(ki_program_insn_at(p, block.start));
		check_program_edges(p, &block);
	}
	check(pf->code_size == end - start && pf->code_size <= pf->symbol->size);
}

static void check_program_calls(const struct ki_program *p, uint32_t f,
				const struct ki_program_function *pf)
{
	uint64_t last = 0;
	uint32_t n;
	const uint32_t *callers = ki_program_callers(p, f, &n);

	for (uint32_t c = pf->first_call; c < pf->first_call + pf->ncalls; c++) {
		struct ki_program_call call;

		check(!ki_program_call(p, c, &call));
		check(call.caller == f && ki_edge_is_call(call.kind));
		check(call.from >= last && ki_program_insn_at(p, call.from));
		check(ki_program_function_at(p, call.from) == f);
		last = call.from;
		check(call.callee == KI_NONE || p->starts[call.callee] == call.to);
	}
	for (uint32_t i = 0; i < n; i++) {
		struct ki_program_call call;

		check(!ki_program_call(p, callers[i], &call) && call.callee == f);
		check(!i || callers[i] > callers[i - 1]);
	}
}

static void check_totals(const struct ki_program *p)
{
	const struct ki_program_totals *t = ki_program_totals(p);
	uint64_t refused = 0, parsed = 0, noreturn = 0, parts = 0, mirrored = 0, known = 0;

	for (size_t r = 0; r < sizeof(t->refused) / sizeof(*t->refused); r++)
		refused += t->refused[r];
	for (uint32_t f = 0; f < p->nfunctions; f++) {
		uint32_t n;

		parsed += !!(p->functions[f].flags & KI_FUNCTION_PARSED);
		noreturn += !!(p->functions[f].flags & KI_FUNCTION_NORETURN);
		parts += p->functions[f].parent != f;
		ki_program_callers(p, f, &n);
		mirrored += n;
	}
	for (uint32_t c = 0; c < p->ncalls; c++)
		known += p->calls[c].callee != KI_NONE;
	check(refused == p->nfunctions && t->functions == p->nfunctions && t->parsed == parsed);
	check(t->noreturn == noreturn && t->parts == parts && mirrored == known);
	check(t->calls + t->indirect_calls + t->tail_calls + t->indirect_tail_calls == p->ncalls);
	check(t->code_bytes <= t->text_bytes);
}

/* Functions, blocks, edges and calls one after the other, with no number left out. */
static void check_program(const struct ki_program *p)
{
	struct ki_program_block block;
	struct ki_program_edge edge;
	struct ki_program_call call;
	uint32_t n, blocks = 0, insns = 0, calls = 0;
	const struct ki_program_function *pf = ki_program_functions(p, &n);

	for (uint32_t f = 0; f < n; f++) {
		check(!f || pf[f].symbol->addr > pf[f - 1].symbol->addr);
		check(ki_program_function_at(p, pf[f].symbol->addr) == f && pf[f].parent < n);
		check(pf[f].first_block == blocks && pf[f].first_call == calls);
		check_program_blocks(p, f, &pf[f]);
		check_program_calls(p, f, &pf[f]);
		blocks += pf[f].nblocks;
		insns += pf[f].ninsns;
		calls += pf[f].ncalls;
	}
	check(blocks == p->nblocks && insns == p->ninsns && calls == p->ncalls);
	check(ki_program_block(p, blocks, &block) == -ENOENT);
	check(ki_program_edge(p, p->nedges, &edge) == -ENOENT);
	check(ki_program_call(p, calls, &call) == -ENOENT);
	check_totals(p);
}

/* Each address of the program, and some around it. */
static void check_addresses(const struct ki_program *p)
{
	size_t n;
	const struct ki_text_range *r = ki_target_ranges(p->target, &n);
	uint32_t insns = 0;

	for (size_t i = 0; i < n; i++)
		for (uint64_t addr = r[i].start; addr != r[i].end; addr++) {
			bool in = ki_program_insn_at(p, addr);

			insns += in;
			check(!in || ki_program_block_at(p, addr) != KI_NONE);
		}
	check(insns == p->ninsns);
	check(!ki_program_insn_at(p, 0) || r[0].start == 0);
	check(ki_program_block_at(p, UINT64_MAX) == KI_NONE || r[n - 1].end == 0);
}

static struct ki_program *build(struct ki_target *t, unsigned int threads, bool live)
{
	struct ki_program_options o = {.size = sizeof(o), .threads = threads, .no_liveness = !live};
	struct ki_program *p = NULL;
	struct ki_err err = {0};

	check(!ki_program_new(t, &o, &p, &err));
	return p;
}

void check_target(struct ki_target *t)
{
	struct ki_program *p = build(t, 1, true), *q = build(t, 3, true);
	struct ki_program *dry = build(t, 2, false);
	ki_regset live;

	check_same(p, q);
	check_same(p, dry);
	check(ki_live_at(dry, 0, &live, NULL) == -ENODATA);
	ki_program_free(q);
	ki_program_free(dry);
	check_program(p);
	check_returns(p);
	if (p->text.total <= EACH_BYTE) {
		check_addresses(p);
		check_liveness(p);
	}
	ki_program_free(p);
}
