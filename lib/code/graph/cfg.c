/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The graph of a function's blocks: who leads to whom, and the order of a depth-first walk.
 *
 * A function may have 100,000 blocks in one chain, so nothing here calls itself.
 *
 * The walk begins at block 0 and comes to the other entries after it, so that a loop that a cold
 * part enters in its middle still has the header that the function gives it. In reverse postorder
 * the entries are moved to the front: nothing but a loop to block 0 leads to them, so all edges
 * but retreating ones still point from earlier to later blocks.
 */
#include "code/graph/graph.h"

#include <errno.h>
#include <string.h>

struct walker {
	const struct ki_function *fn;
	struct ki_walk *w;
	uint32_t *stack, *cursor; /* blocks under way, and the next edge of each block */
	uint32_t *postorder, npost;
};

static int count_preds(struct ki_cfg *cfg)
{
	const struct ki_function *fn = cfg->fn;
	uint32_t *first = calloc((size_t)fn->nblocks + 2, sizeof(*first));

	cfg->pred_first = first;
	cfg->preds = ki_numbers_new(fn->nedges);
	if (!first || !cfg->preds)
		return -ENOMEM;
	for (uint32_t i = 0; i < fn->nedges; i++)
		if (ki_edge_is_inner(fn, &fn->edges[i]))
			first[fn->edges[i].to_block + 2]++;
	for (uint32_t b = 0; b < fn->nblocks; b++)
		first[b + 2] += first[b + 1];
	/* one place further than they belong, so that filling them in moves them there */
	for (uint32_t i = 0; i < fn->nedges; i++)
		if (ki_edge_is_inner(fn, &fn->edges[i]))
			cfg->preds[first[fn->edges[i].to_block + 1]++] = i;
	return 0;
}

static bool is_entry(const struct ki_cfg *cfg, uint32_t b)
{
	return !b || cfg->pred_first[b] == cfg->pred_first[b + 1];
}

static void reach(struct walker *k, uint32_t b, uint32_t parent, uint32_t *depth)
{
	struct ki_walk *w = k->w;

	w->number[b] = w->n;
	w->block[w->n] = b;
	w->parent[w->n] = parent;
	w->last[w->n] = w->n;
	w->n++;
	k->cursor[b] = k->fn->blocks[b].first_edge;
	k->stack[(*depth)++] = b;
}

static void walk_from(struct walker *k, uint32_t entry)
{
	struct ki_walk *w = k->w;
	uint32_t depth = 0;

	reach(k, entry, 0, &depth);
	while (depth) {
		uint32_t b = k->stack[depth - 1];
		const struct ki_block *block = &k->fn->blocks[b];
		const struct ki_edge *e;

		if (k->cursor[b] == block->first_edge + block->nedges) {
			w->last[w->number[b]] = w->n - 1;
			k->postorder[k->npost++] = b;
			depth--;
			continue;
		}
		e = &k->fn->edges[k->cursor[b]++];
		if (ki_edge_is_inner(k->fn, e) && w->number[e->to_block] == KI_NONE)
			reach(k, e->to_block, w->number[b], &depth);
	}
}

static void order_blocks(struct ki_cfg *cfg, const struct walker *k)
{
	const struct ki_function *fn = cfg->fn;
	uint32_t n = 0;

	for (uint32_t b = 0; b < fn->nblocks; b++)
		if (is_entry(cfg, b))
			cfg->rpo[n++] = b;
	for (uint32_t i = k->npost; i-- > 0;)
		if (!is_entry(cfg, k->postorder[i]))
			cfg->rpo[n++] = k->postorder[i];
	cfg->nreached = n;
	for (uint32_t b = 0; b < fn->nblocks; b++)
		if (k->w->number[b] == KI_NONE)
			cfg->rpo[n++] = b;
}

static void walk_all(struct ki_cfg *cfg, struct walker *k)
{
	struct ki_walk *w = k->w;

	for (uint32_t b = 0; b < k->fn->nblocks; b++)
		w->number[b] = KI_NONE;
	w->n = 1;
	w->block[0] = KI_NONE;
	w->parent[0] = 0;
	for (uint32_t b = 0; b < k->fn->nblocks; b++)
		if (is_entry(cfg, b))
			walk_from(k, b);
	w->last[0] = w->n - 1;
	order_blocks(cfg, k);
}

static int walk(struct ki_cfg *cfg, struct ki_walk *w)
{
	uint32_t n = cfg->fn->nblocks;
	struct walker k = {.fn = cfg->fn, .w = w};
	uint32_t *space = ki_numbers_new(3 * (size_t)n);

	w->block = ki_numbers_new((size_t)n + 1);
	w->number = ki_numbers_new(n);
	w->parent = ki_numbers_new((size_t)n + 1);
	w->last = ki_numbers_new((size_t)n + 1);
	cfg->rpo = ki_numbers_new(n);
	if (!space || !w->block || !w->number || !w->parent || !w->last || !cfg->rpo) {
		free(space);
		return -ENOMEM;
	}
	k.stack = space;
	k.cursor = space + n;
	k.postorder = space + 2 * (size_t)n;
	walk_all(cfg, &k);
	free(space);
	return 0;
}

static void free_walk(struct ki_walk *w)
{
	free(w->block);
	free(w->number);
	free(w->parent);
	free(w->last);
}

int ki_cfg_new(const struct ki_function *fn, struct ki_cfg **out, struct ki_err *err)
{
	struct ki_graph *g = calloc(1, sizeof(*g));
	struct ki_walk w = {0};
	int ret = g ? 0 : -ENOMEM;

	if (!ret) {
		g->cfg.fn = fn;
		ret = count_preds(&g->cfg);
	}
	if (!ret)
		ret = walk(&g->cfg, &w);
	if (!ret)
		ret = ki_dominators_find(g, &w);
	if (!ret)
		ret = ki_loops_find(g, &w);
	free_walk(&w);
	if (ret) {
		ki_cfg_free(g ? &g->cfg : NULL);
		return ki_err_set(err, ret, fn->start, "the graph of %u blocks: out of memory",
				  fn->nblocks);
	}
	*out = &g->cfg;
	return 0;
}

void ki_cfg_free(struct ki_cfg *cfg)
{
	struct ki_graph *g = (struct ki_graph *)cfg;

	if (!g)
		return;
	free(cfg->pred_first);
	free(cfg->preds);
	free(cfg->idom);
	free(cfg->rpo);
	free(cfg->loops);
	free(cfg->loop_of);
	free(g->dom_first);
	free(g->dom_size);
	free(g);
}

bool ki_cfg_dominates(const struct ki_cfg *cfg, uint32_t a, uint32_t b)
{
	const struct ki_graph *g = (const struct ki_graph *)cfg;

	return g->dom_size[a] && g->dom_size[b] && g->dom_first[b] >= g->dom_first[a] &&
	       g->dom_first[b] - g->dom_first[a] < g->dom_size[a];
}
