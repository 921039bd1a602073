/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Graphs of functions against what is found by simpler means: dominators by leaving a block out,
 * edge counts by walks through the function that count everything.
 */
#include "common_cfg.h"

#include <stdlib.h>
#include <string.h>

#include "common_program.h"
#include "kerninst/cfg.h"

#define MOST_BLOCKS 48
#define WALKS	    8
#define MOST_STEPS  300

/* An edge that blocks of the function have between them. */
static bool is_inner(const struct ki_edge *e)
{
	return e->to_block != KI_NONE && e->kind <= KI_EDGE_FIXUP;
}

static void check_preds(const struct ki_cfg *cfg)
{
	const struct ki_function *fn = cfg->fn;
	uint32_t inner = 0;

	for (uint32_t e = 0; e < fn->nedges; e++)
		inner += is_inner(&fn->edges[e]);
	check(!cfg->pred_first[0] && cfg->pred_first[fn->nblocks] == inner);
	for (uint32_t b = 0; b < fn->nblocks; b++)
		for (uint32_t i = cfg->pred_first[b]; i < cfg->pred_first[b + 1]; i++) {
			const struct ki_edge *e = &fn->edges[cfg->preds[i]];

			check(cfg->preds[i] < fn->nedges && is_inner(e) && e->to_block == b);
		}
}

static void check_order(const struct ki_cfg *cfg)
{
	uint32_t n = cfg->fn->nblocks;
	bool *seen = calloc(n + 1ull, sizeof(*seen));

	check(seen != NULL && cfg->nreached <= n);
	for (uint32_t i = 0; i < n; i++) {
		uint32_t b = cfg->rpo[i], above = cfg->idom[b];

		check(b < n && !seen[b]);
		seen[b] = true;
		check(ki_cfg_dominates(cfg, b, b) == (i < cfg->nreached));
		check(above == KI_NONE || (above != b && ki_cfg_dominates(cfg, above, b)));
		check(above == KI_NONE || !ki_cfg_dominates(cfg, b, above));
	}
	free(seen);
}

/* What is reached from the entries without block `without`. */
static void reach(const struct ki_cfg *cfg, uint32_t without, bool *reached)
{
	const struct ki_function *fn = cfg->fn;
	bool changed = true;

	for (uint32_t b = 0; b < fn->nblocks; b++)
		reached[b] = b != without && (!b || cfg->pred_first[b] == cfg->pred_first[b + 1]);
	while (changed) {
		changed = false;
		for (uint32_t e = 0; e < fn->nedges; e++) {
			const struct ki_edge *edge = &fn->edges[e];

			if (!is_inner(edge) || !reached[edge->block] || reached[edge->to_block] ||
			    edge->to_block == without)
				continue;
			reached[edge->to_block] = changed = true;
		}
	}
}

static void check_dominators(const struct ki_cfg *cfg)
{
	bool all[MOST_BLOCKS], some[MOST_BLOCKS];
	uint32_t n = cfg->fn->nblocks;

	reach(cfg, KI_NONE, all);
	for (uint32_t a = 0; a < n; a++) {
		reach(cfg, a, some);
		for (uint32_t b = 0; b < n; b++)
			check(ki_cfg_dominates(cfg, a, b) == (all[a] && all[b] && !some[b]));
	}
}

static void check_loops(const struct ki_cfg *cfg)
{
	uint32_t n = cfg->fn->nblocks;
	uint32_t *blocks = calloc(cfg->nloops + 1ull, sizeof(*blocks));

	check(blocks != NULL);
	for (uint32_t b = 0; b < n; b++)
		for (uint32_t l = cfg->loop_of[b]; l != KI_NONE; l = cfg->loops[l].parent) {
			check(l < cfg->nloops);
			blocks[l]++;
			check(cfg->loops[l].irreducible ||
			      ki_cfg_dominates(cfg, cfg->loops[l].header, b));
		}
	for (uint32_t l = 0; l < cfg->nloops; l++) {
		const struct ki_loop *loop = &cfg->loops[l];

		check(loop->nblocks == blocks[l] && cfg->loop_of[loop->header] == l);
		check(loop->parent == KI_NONE
			      ? loop->depth == 1
			      : loop->parent < l &&
					loop->depth == cfg->loops[loop->parent].depth + 1);
	}
	free(blocks);
}

struct walk {
	uint64_t blocks[MOST_BLOCKS];
	uint64_t *edges;
	uint32_t random;
};

static uint32_t next(struct walk *w)
{
	w->random = w->random * 1664525 + 1013904223;
	return w->random >> 8;
}

/* One of the edges that control may leave the block by; KI_NONE: it stays there. */
static uint32_t choose(struct walk *w, const struct ki_function *fn, uint32_t b)
{
	const struct ki_block *block = &fn->blocks[b];
	uint32_t found = KI_NONE, n = 0;

	for (uint32_t e = block->first_edge; e < block->first_edge + block->nedges; e++) {
		uint8_t kind = fn->edges[e].kind;

		if (kind != KI_EDGE_CALL && kind != KI_EDGE_CALL_INDIRECT &&
		    kind != KI_EDGE_FIXUP && next(w) % ++n == 0)
			found = e;
	}
	return found;
}

/* From the entry until control has left; false: it takes too long. */
static bool walk(struct walk *w, const struct ki_function *fn)
{
	uint32_t b = 0;

	for (unsigned int i = 0; i < MOST_STEPS; i++) {
		uint32_t e = choose(w, fn, b);

		w->blocks[b]++;
		if (e == KI_NONE)
			return true;
		w->edges[e]++;
		if (!is_inner(&fn->edges[e]))
			return true;
		b = fn->edges[e].to_block;
	}
	return false;
}

static void check_counts(const struct ki_cfg *cfg)
{
	const struct ki_function *fn = cfg->fn;
	struct walk w = {.random = fn->nedges * 31 + fn->ninsns};
	struct ki_edge_counts ec;
	bool whole = true;

	w.edges = calloc(fn->nedges + 1ull, sizeof(*w.edges));
	check(w.edges != NULL);
	for (unsigned int i = 0; whole && i < WALKS; i++)
		whole = walk(&w, fn);
	for (unsigned int unknown = 0; whole && unknown < 2; unknown++) {
		for (uint32_t b = 0; unknown && b < fn->nblocks; b++)
			if (next(&w) % 3 == 0)
				w.blocks[b] = KI_COUNT_UNKNOWN;
		check(!ki_edge_counts(cfg, w.blocks, &ec, NULL));
		check(!ec.inconsistent && (ec.entered_estimated || ec.entered == WALKS));
		for (uint32_t e = 0; e < fn->nedges; e++)
			check(ec.estimated[e] || fn->edges[e].kind == KI_EDGE_CALL ||
			      fn->edges[e].kind == KI_EDGE_CALL_INDIRECT ||
			      ec.edges[e] == w.edges[e]);
		ki_edge_counts_free(&ec);
	}
	free(w.edges);
}

void check_cfg(const struct ki_function *fn)
{
	struct ki_cfg *cfg;

	check(!ki_cfg_new(fn, &cfg, NULL));
	check_preds(cfg);
	check_order(cfg);
	check_loops(cfg);
	if (fn->nblocks && fn->nblocks <= MOST_BLOCKS) {
		check_dominators(cfg);
		check_counts(cfg);
	}
	ki_cfg_free(cfg);
}
