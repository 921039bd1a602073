/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Functions that do not return.
 *
 * First nothing is known to come back. A block leads back if some way out of it does: a return, a
 * jump that nobody can follow, a breakpoint, an edge to a block that leads back or into a function
 * that returns, a tail call of such a function. A call on the way of a function that does not
 * return stops all ways but those of exceptions. A function returns if its first block leads back.
 *
 * What is found out is carried backward along edges and calls, each of them once: so programs
 * in which everybody calls everybody, or all jump into one another's middle, take no longer.
 */
#include "code/program/program.h"

#define INT3 0xcc

struct search {
	struct ki_program *p;
	uint8_t *returns;   /* by function */
	uint8_t *leads;	    /* by block: leads back */
	uint8_t *ready;	    /* by block: would lead back if its calls did */
	uint32_t *block_of; /* by call */
	uint32_t *waits;    /* by block: its calls of what is not known to return */
	struct ki_links
		from; /* by block: 2 * the block that an edge comes from, + 1 if by exception */
	ki_vec(uint32_t) stack; /* blocks whose `leads` is new */
};

/* Cold parts and the like are walked through as if they were the function's. */
static int note(struct search *s, uint32_t b)
{
	if (s->leads[b])
		return 0;
	s->leads[b] = 1;
	return ki_vec_push(&s->stack, b);
}

/* Some way out of block b leads back, if control comes to the block's end. */
static int note_way(struct search *s, uint32_t b, bool exception)
{
	if (exception || !s->waits[b])
		return note(s, b);
	s->ready[b] = 1;
	return 0;
}

/* The block of each call: both are in order of address. */
static void find_blocks(struct search *s)
{
	const struct ki_program *p = s->p;

	for (uint32_t f = 0; f < p->nfunctions; f++) {
		const struct ki_program_function *pf = &p->functions[f];
		uint32_t b = pf->first_block, last = b + pf->nblocks - 1;

		for (uint32_t c = pf->first_call; c < pf->first_call + pf->ncalls; c++) {
			while (b < last && p->blocks[b + 1].off <= KI_WHERE_OFF(p->calls[c].where))
				b++;
			s->block_of[c] = b;
		}
	}
}

static int note_return(struct search *s, uint32_t f)
{
	const struct ki_program *p = s->p;
	const struct ki_program_function *pf = &p->functions[f];
	int ret = 0;

	s->returns[f] = 1;
	for (uint32_t i = p->callers.first[f]; !ret && i < p->callers.first[f + 1]; i++) {
		uint32_t call = p->callers.v[i], b = s->block_of[call];

		if (KI_WHERE_KIND(p->calls[call].where) == KI_EDGE_TAIL)
			ret = note_way(s, b, false);
		else if (!--s->waits[b] && s->ready[b])
			ret = note(s, b);
	}
	for (uint32_t b = pf->first_block; b < pf->first_block + pf->nblocks; b++)
		for (uint32_t i = s->from.first[b]; !ret && i < s->from.first[b + 1]; i++)
			if (p->blocks[s->from.v[i] / 2].function != f)
				ret = note_way(s, s->from.v[i] / 2, s->from.v[i] & 1);
	return ret;
}

static int carry(struct search *s)
{
	const struct ki_program *p = s->p;
	int ret = 0;

	while (!ret && s->stack.n) {
		uint32_t b = s->stack.v[--s->stack.n], f = p->blocks[b].function;

		for (uint32_t i = s->from.first[b]; !ret && i < s->from.first[b + 1]; i++)
			ret = note_way(s, s->from.v[i] / 2, s->from.v[i] & 1);
		if (!ret && b == p->functions[f].first_block && !s->returns[f])
			ret = note_return(s, f);
	}
	return ret;
}

static int link_edges(struct search *s)
{
	const struct ki_program *p = s->p;
	uint32_t *first = calloc(p->nblocks + 2ull, sizeof(*first));
	uint32_t *v = malloc((p->nedges + 1ull) * sizeof(*v));

	s->from = (struct ki_links){first, v};
	if (!first || !v)
		return -ENOMEM;
	for (uint32_t e = 0; e < p->nedges; e++)
		if (p->edges[e].to_block != KI_NONE)
			first[p->edges[e].to_block + 2]++;
	for (uint32_t b = 0; b < p->nblocks; b++)
		first[b + 2] += first[b + 1];
	for (uint32_t b = 0; b < p->nblocks; b++)
		for (uint32_t e = p->blocks[b].first_edge; e < p->blocks[b + 1].first_edge; e++) {
			const struct ki_pedge *edge = &p->edges[e];

			if (edge->to_block != KI_NONE)
				v[first[edge->to_block + 1]++] =
					2 * b + (KI_WHERE_KIND(edge->where) == KI_EDGE_FIXUP);
		}
	return 0;
}

/*
 * Does the block end in a breakpoint? Whoever handles it may go on anywhere: int3_selftest of the
 * kernel has a call emulated there.
 */
static bool breaks(const struct ki_program *p, uint32_t b)
{
	uint8_t len = p->lens[p->blocks[b + 1].first_insn - 1];
	struct ki_program_block block;
	struct ki_decoded d;
	const uint8_t *last;
	size_t avail;

	if (ki_program_block(p, b, &block))
		return false;
	/* Prefixes may stand before it. */
	last = ki_text_at(&p->text, block.end - len, &avail);
	if (!last || last[len - 1] != INT3)
		return false;
	ki_decode(last, len, block.end - len, &d);
	return d.traits & KI_TRAIT_INT3;
}

/* What the edges and calls out of the program, and returns, tell. */
static int note_exits(struct search *s)
{
	const struct ki_program *p = s->p;
	int ret = 0;

	for (uint32_t c = 0; c < p->ncalls; c++)
		if (KI_WHERE_KIND(p->calls[c].where) == KI_EDGE_CALL &&
		    p->calls[c].callee != KI_NONE)
			s->waits[s->block_of[c]]++;
	for (uint32_t c = 0; !ret && c < p->ncalls; c++) {
		uint32_t kind = KI_WHERE_KIND(p->calls[c].where);

		if (kind == KI_EDGE_TAIL_INDIRECT ||
		    (kind == KI_EDGE_TAIL && p->calls[c].callee == KI_NONE))
			ret = note_way(s, s->block_of[c], false);
	}
	for (uint32_t b = 0; !ret && b < p->nblocks; b++) {
		if (breaks(p, b))
			ret = note_way(s, b, false);
		for (uint32_t e = p->blocks[b].first_edge; e < p->blocks[b + 1].first_edge; e++) {
			uint32_t kind = KI_WHERE_KIND(p->edges[e].where);

			if (!ret && (kind == KI_EDGE_RETURN || p->edges[e].to_block == KI_NONE))
				ret = note_way(s, b, kind == KI_EDGE_FIXUP);
		}
	}
	for (uint32_t f = 0; !ret && f < p->nfunctions; f++)
		if (!(p->functions[f].flags & KI_FUNCTION_PARSED) || !p->functions[f].nblocks)
			ret = note_return(s, f);
	return ret;
}

/* Edges out of blocks with a call that does not come back. */
static void drop_edges(struct search *s)
{
	struct ki_program *p = s->p;
	uint32_t n = 0, first = 0;

	for (uint32_t b = 0; b < p->nblocks; b++) {
		uint32_t end = p->blocks[b + 1].first_edge;

		for (uint32_t e = first; e < end; e++)
			if (!s->waits[b] || KI_WHERE_KIND(p->edges[e].where) == KI_EDGE_FIXUP)
				p->edges[n++] = p->edges[e];
		first = end;
		p->blocks[b + 1].first_edge = n;
	}
	p->nedges = n;
}

static void mark(struct search *s)
{
	struct ki_program *p = s->p;

	for (uint32_t f = 0; f < p->nfunctions; f++)
		if (!s->returns[f]) {
			p->functions[f].flags |= KI_FUNCTION_NORETURN;
			p->totals.noreturn++;
		}
}

int ki_program_noreturn(struct ki_program *p)
{
	struct search s = {.p = p};
	int ret = -ENOMEM;

	s.returns = calloc(p->nfunctions + 1ull, 1);
	s.leads = calloc(p->nblocks + 1ull, 1);
	s.ready = calloc(p->nblocks + 1ull, 1);
	s.waits = calloc(p->nblocks + 1ull, sizeof(*s.waits));
	s.block_of = malloc((p->ncalls + 1ull) * sizeof(*s.block_of));
	if (s.returns && s.leads && s.ready && s.waits && s.block_of)
		ret = link_edges(&s);
	if (!ret) {
		find_blocks(&s);
		ret = note_exits(&s);
	}
	if (!ret)
		ret = carry(&s);
	if (!ret) {
		drop_edges(&s);
		mark(&s);
	}
	free(s.returns);
	free(s.leads);
	free(s.ready);
	free(s.waits);
	free(s.block_of);
	free(s.from.first);
	free(s.from.v);
	ki_vec_free(&s.stack);
	return ret;
}
