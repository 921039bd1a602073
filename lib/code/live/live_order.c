/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * In which order functions and their blocks are solved for liveness. Any order gives the same
 * result; a good one makes most of them be solved once.
 */
#include "code/program/program.h"
#include "code/live/fixpoint.h"

/* Depth first through the calls; a function is done when all that it calls are. */
int ki_live_order(const struct ki_program *p, uint32_t *order)
{
	uint32_t *next = calloc(p->nfunctions + 1ull, sizeof(*next)); /* 1 + the next call */
	uint32_t *stack = malloc((p->nfunctions + 1ull) * sizeof(*stack));
	uint32_t done = 0, depth = 0;

	for (uint32_t root = 0; next && stack && root < p->nfunctions; root++) {
		if (next[root])
			continue;
		next[root] = 1;
		stack[depth++] = root;
		while (depth) {
			uint32_t f = stack[depth - 1], callee = KI_NONE;

			if (next[f] <= p->functions[f].ncalls)
				callee =
					p->calls[p->functions[f].first_call + next[f]++ - 1].callee;
			else
				order[done++] = stack[--depth];
			if (callee != KI_NONE && !next[callee]) {
				next[callee] = 1;
				stack[depth++] = callee;
			}
		}
	}
	free(next);
	free(stack);
	return done == p->nfunctions ? 0 : -ENOMEM;
}

/* An edge or tail call leads from function `from` to function `to`. */
static void note_jump(struct ki_links *jumpers, uint32_t from, uint32_t to, bool count)
{
	if (count)
		jumpers->first[to + 2]++;
	else
		jumpers->v[jumpers->first[to + 1]++] = from;
}

static void note_jumps(const struct ki_program *p, struct ki_links *jumpers, bool count)
{
	for (uint32_t b = 0; b < p->nblocks; b++) {
		uint32_t f = p->blocks[b].function;

		for (uint32_t e = p->blocks[b].first_edge; e < p->blocks[b + 1].first_edge; e++) {
			uint32_t to = p->edges[e].to_block;

			if (to != KI_NONE && p->blocks[to].function != f)
				note_jump(jumpers, f, p->blocks[to].function, count);
		}
	}
	for (uint32_t c = 0; c < p->ncalls; c++)
		if (p->calls[c].callee != KI_NONE &&
		    KI_WHERE_KIND(p->calls[c].where) == KI_EDGE_TAIL)
			note_jump(jumpers, p->caller_of[c], p->calls[c].callee, count);
}

int ki_live_jumpers(const struct ki_program *p, struct ki_links *jumpers)
{
	jumpers->first = calloc(p->nfunctions + 2ull, sizeof(*jumpers->first));
	if (!jumpers->first)
		return -ENOMEM;
	note_jumps(p, jumpers, true);
	for (uint32_t f = 0; f < p->nfunctions; f++)
		jumpers->first[f + 2] += jumpers->first[f + 1];
	jumpers->v = malloc((jumpers->first[p->nfunctions + 1] + 1ull) * sizeof(*jumpers->v));
	if (!jumpers->v)
		return -ENOMEM;
	note_jumps(p, jumpers, false);
	return 0;
}

/* Does some edge of the function lead backward, so that one round is not enough? */
static bool has_back_edge(const struct ki_program *p, uint32_t f)
{
	const struct ki_program_function *pf = &p->functions[f];
	uint32_t end = pf->first_block + pf->nblocks;

	for (uint32_t b = pf->first_block; b < end; b++)
		for (uint32_t e = p->blocks[b].first_edge; e < p->blocks[b + 1].first_edge; e++)
			if (p->edges[e].to_block <= b && p->edges[e].to_block >= pf->first_block)
				return true;
	return false;
}

/* A function whose blocks are gone over. */
struct solving {
	const struct ki_program *p;
	uint32_t first_block, nblocks, first_edge;
	bool (*step)(void *arg, uint32_t block);
	void *arg;
};

static bool solving_step(void *arg, uint32_t b)
{
	struct solving *t = arg;

	return t->step(t->arg, t->first_block + b);
}

static uint32_t solving_first(void *arg, uint32_t b)
{
	struct solving *t = arg;

	return t->p->blocks[t->first_block + b].first_edge - t->first_edge;
}

static uint32_t solving_to(void *arg, uint32_t e)
{
	struct solving *t = arg;
	uint32_t to = t->p->edges[t->first_edge + e].to_block - t->first_block;

	return to < t->nblocks ? to : KI_NONE;
}

bool ki_live_solve(const struct ki_program *p, uint32_t f, bool (*step)(void *arg, uint32_t block),
		   void *arg)
{
	const struct ki_program_function *pf = &p->functions[f];
	uint32_t first = p->blocks[pf->first_block].first_edge;
	struct solving t = {p, pf->first_block, pf->nblocks, first, step, arg};
	struct ki_fixpoint all = {
		.arg = &t,
		.nblocks = pf->nblocks,
		.nedges = p->blocks[pf->first_block + pf->nblocks].first_edge - first,
		.step = solving_step,
		.first_edge = solving_first,
		.to = solving_to,
	};
	bool changed = false;

	for (uint32_t b = pf->first_block + pf->nblocks; b-- > pf->first_block;)
		changed |= step(arg, b);
	if (changed && has_back_edge(p, f))
		ki_fixpoint(&all);
	return changed;
}
