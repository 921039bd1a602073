/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Sweeps from the last block to the first are all that compilers' code needs. But where jumps
 * lead backward one after the other, each sweep carries the truth one block on: then it is cheaper
 * to know who jumps where, and to look only at what may have changed.
 */
#include "code/live/fixpoint.h"

#include <stdlib.h>

#include "kerninst/code.h"
#include "util/vec.h"

#define SWEEPS 8

struct work {
	const struct ki_fixpoint *s;
	uint32_t *first; /* nblocks + 2: of whom a block is wanted, in `from` */
	uint32_t *from;
	uint32_t *stack;
	bool *queued;
	uint32_t n;
};

static bool sweep(const struct ki_fixpoint *s)
{
	bool changed = false;

	for (uint32_t b = s->nblocks; b-- > 0;)
		changed |= s->step(s->arg, b);
	return changed;
}

static void link_edges(struct work *w)
{
	const struct ki_fixpoint *s = w->s;

	for (uint32_t e = 0; e < s->nedges; e++) {
		uint32_t to = s->to(s->arg, e);

		if (to != KI_NONE)
			w->first[to + 2]++;
	}
	for (uint32_t b = 0; b < s->nblocks; b++)
		w->first[b + 2] += w->first[b + 1];
	for (uint32_t b = 0; b < s->nblocks; b++) {
		uint32_t end = s->first_edge(s->arg, b + 1);

		for (uint32_t e = s->first_edge(s->arg, b); e < end; e++) {
			uint32_t to = s->to(s->arg, e);

			if (to != KI_NONE)
				w->from[w->first[to + 1]++] = b;
		}
	}
}

static void push(struct work *w, uint32_t b)
{
	if (w->queued[b])
		return;
	w->queued[b] = true;
	w->stack[w->n++] = b;
}

static void run(struct work *w)
{
	for (uint32_t b = 0; b < w->s->nblocks; b++)
		push(w, b);
	while (w->n) {
		uint32_t b = w->stack[--w->n];

		w->queued[b] = false;
		if (!w->s->step(w->s->arg, b))
			continue;
		for (uint32_t i = w->first[b]; i < w->first[b + 1]; i++)
			push(w, w->from[i]);
		if (b)
			push(w, b - 1);
	}
}

bool ki_fixpoint(const struct ki_fixpoint *s)
{
	struct work w = {.s = s};
	bool changed = false;

	for (unsigned int i = 0; i < SWEEPS; i++) {
		if (!sweep(s))
			return changed;
		changed = true;
	}
	w.first = calloc(s->nblocks + 2ull, sizeof(*w.first));
	w.from = malloc((s->nedges + 1ull) * sizeof(*w.from));
	w.stack = malloc((s->nblocks + 1ull) * sizeof(*w.stack));
	w.queued = calloc(s->nblocks + 1ull, sizeof(*w.queued));
	if (w.first && w.from && w.stack && w.queued) {
		link_edges(&w);
		run(&w);
	} else {
		/* Without memory for it: the long way. */
		while (sweep(s))
			;
	}
	free(w.first);
	free(w.from);
	free(w.stack);
	free(w.queued);
	return changed;
}
