/* SPDX-License-Identifier: GPL-2.0-only */
#include "common_graph.h"

#include <stdlib.h>

static uint8_t kind_of(const struct arc *a, uint32_t before)
{
	static const uint8_t kinds[] = {KI_EDGE_FALL, KI_EDGE_TAKEN, KI_EDGE_TABLE};

	if (a->kind)
		return a->kind;
	return a->to == OUT ? KI_EDGE_RETURN : kinds[before < 2 ? before : 2];
}

void graph_make(struct graph *g, uint32_t nblocks, const struct arc *arcs, uint32_t narcs)
{
	struct ki_function *fn = &g->fn;
	struct ki_err err = {0};
	uint32_t at = 0;

	*fn = (struct ki_function){.start = 0x1000, .nblocks = nblocks, .nedges = narcs};
	fn->blocks = calloc(nblocks + 1, sizeof(*fn->blocks));
	fn->edges = calloc(narcs + 1, sizeof(*fn->edges));
	assert_true(fn->blocks && fn->edges);
	for (uint32_t i = 0; i < narcs; i++)
		fn->blocks[arcs[i].from].nedges++;
	for (uint32_t b = 0; b < nblocks; b++) {
		fn->blocks[b].start = 0x1000 + b;
		fn->blocks[b].end = 0x1001 + b;
		fn->blocks[b].first_edge = at;
		at += fn->blocks[b].nedges;
		fn->blocks[b].nedges = 0;
	}
	for (uint32_t i = 0; i < narcs; i++) {
		struct ki_block *b = &fn->blocks[arcs[i].from];

		fn->edges[b->first_edge + b->nedges] =
			(struct ki_edge){.block = arcs[i].from,
					 .to_block = arcs[i].to,
					 .insn = arcs[i].from,
					 .kind = kind_of(&arcs[i], b->nedges)};
		b->nedges++;
	}
	assert_int_equal(ki_cfg_new(fn, &g->cfg, &err), 0);
}

void graph_free(struct graph *g)
{
	ki_cfg_free(g->cfg);
	free(g->fn.blocks);
	free(g->fn.edges);
}

uint32_t graph_edge(const struct graph *g, uint32_t from, uint32_t to)
{
	for (uint32_t i = 0; i < g->fn.nedges; i++)
		if (g->fn.edges[i].block == from && g->fn.edges[i].to_block == to)
			return i;
	fail_msg("no edge from %u to %u", from, to);
	return 0;
}

uint32_t graph_random(uint64_t *state, uint32_t n)
{
	*state = *state * 6364136223846793005u + 1442695040888963407u;
	return (uint32_t)((*state >> 33) % n);
}
