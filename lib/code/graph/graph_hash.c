// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A hash of a function's graph: by what does not depend on where it was loaded, nor on what the
 * kernel writes there while it runs.
 */
#include "kerninst/cfg.h"

#include <stdlib.h>

#include <xxhash.h>

#include "util/vec.h"

#define LEAVES KI_EDGE_CALL /* the kind of all edges that leave the function */

/* Little-endian on every machine that has this code. */
typedef ki_vec(uint32_t) words;

struct arc {
	uint32_t block, to, kind;
};

static bool is_call(const struct ki_edge *e)
{
	return e->kind == KI_EDGE_CALL || e->kind == KI_EDGE_CALL_INDIRECT;
}

static int compare(const void *a, const void *b)
{
	const struct arc *x = a, *y = b;

	if (x->block != y->block)
		return x->block < y->block ? -1 : 1;
	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->kind > y->kind) - (x->kind < y->kind);
}

/* Calls are left out: ftrace and static calls write them. */
static uint32_t take_arcs(const struct ki_function *fn, struct arc *arcs)
{
	uint32_t n = 0, kept = 0;

	for (uint32_t i = 0; i < fn->nedges; i++) {
		const struct ki_edge *e = &fn->edges[i];

		if (!is_call(e))
			arcs[n++] = (struct arc){e->block, e->to_block,
						 e->to_block == KI_NONE ? LEAVES : e->kind};
	}
	qsort(arcs, n, sizeof(*arcs), compare);
	for (uint32_t i = 0; i < n; i++)
		if (!i || compare(&arcs[i], &arcs[kept - 1]) != 0)
			arcs[kept++] = arcs[i];
	return kept;
}

static void put(words *w, uint32_t word)
{
	w->v[w->n++] = word;
}

static void put_graph(const struct ki_function *fn, const struct arc *arcs, uint32_t n, words *w)
{
	put(w, fn->nblocks);
	for (uint32_t i = 0; i < fn->nblocks; i++) {
		put(w, (uint32_t)(fn->blocks[i].start - fn->start));
		put(w, (uint32_t)(fn->blocks[i].end - fn->blocks[i].start));
	}
	put(w, n);
	for (uint32_t i = 0; i < n; i++) {
		put(w, arcs[i].block);
		put(w, arcs[i].to);
		put(w, arcs[i].kind);
	}
}

int ki_cfg_hash(const struct ki_function *fn, uint64_t *hash)
{
	struct arc *arcs = calloc(fn->nedges + 1, sizeof(*arcs));
	words w = {0};
	int ret = -ENOMEM;

	*hash = 0;
	if (arcs && !ki_vec_reserve(&w, 2 + 2 * (size_t)fn->nblocks + 3 * (size_t)fn->nedges)) {
		put_graph(fn, arcs, take_arcs(fn, arcs), &w);
		*hash = XXH3_64bits(w.v, w.n * sizeof(*w.v));
		*hash += !*hash;
		ret = 0;
	}
	ki_vec_free(&w);
	free(arcs);
	return ret;
}
