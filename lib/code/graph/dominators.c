/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Dominators after Lengauer and Tarjan, in their simpler form: O(m log n) on every graph.
 *
 * The iteration of Cooper, Harvey and Kennedy is shorter and as fast on what compilers make, but
 * two jump tables that share 50,000 targets cost it billions of steps, and code comes from files
 * that anybody can write.
 *
 * Blocks go by their numbers in the walk. `semi` is the semidominator: the least number from
 * which a path leads to the block through greater numbers only. `label` of a block is the one
 * with the least semidominator between it and the root of its tree in the forest of blocks that
 * have been dealt with (`above`); paths in that forest are compressed as they are looked at.
 */
#include "code/graph/graph.h"

#include <errno.h>

struct finder {
	const struct ki_cfg *cfg;
	const struct ki_walk *w;
	uint32_t *semi, *label, *above, *idom;
	uint32_t *bucket, *next; /* lists of those with this semidominator */
	uint32_t *path;
};

static void compress(struct finder *f, uint32_t v)
{
	uint32_t n = 0;

	for (; f->above[f->above[v]] != KI_NONE; v = f->above[v])
		f->path[n++] = v;
	while (n) {
		uint32_t a;

		v = f->path[--n];
		a = f->above[v];
		if (f->semi[f->label[a]] < f->semi[f->label[v]])
			f->label[v] = f->label[a];
		f->above[v] = f->above[a];
	}
}

static uint32_t least(struct finder *f, uint32_t v)
{
	if (f->above[v] != KI_NONE)
		compress(f, v);
	return f->label[v];
}

static void set_semi(struct finder *f, uint32_t v)
{
	const struct ki_cfg *cfg = f->cfg;
	uint32_t b = f->w->block[v];

	f->semi[v] = f->w->parent[v];
	for (uint32_t i = cfg->pred_first[b]; i < cfg->pred_first[b + 1]; i++) {
		uint32_t p = f->w->number[cfg->fn->edges[cfg->preds[i]].block], u;

		if (p == KI_NONE)
			continue;
		u = least(f, p);
		if (f->semi[u] < f->semi[v])
			f->semi[v] = f->semi[u];
	}
	f->next[v] = f->bucket[f->semi[v]];
	f->bucket[f->semi[v]] = v;
}

static void find(struct finder *f)
{
	for (uint32_t v = 0; v < f->w->n; v++) {
		f->semi[v] = f->label[v] = v;
		f->above[v] = f->bucket[v] = KI_NONE;
	}
	for (uint32_t v = f->w->n; v-- > 1;) {
		uint32_t parent = f->w->parent[v];

		set_semi(f, v);
		f->above[v] = parent;
		for (uint32_t i = f->bucket[parent]; i != KI_NONE; i = f->next[i]) {
			uint32_t u = least(f, i);

			f->idom[i] = f->semi[u] < f->semi[i] ? u : parent;
		}
		f->bucket[parent] = KI_NONE;
	}
	f->idom[0] = KI_NONE;
	for (uint32_t v = 1; v < f->w->n; v++)
		if (f->idom[v] != f->semi[v])
			f->idom[v] = f->idom[f->idom[v]];
}

/*
 * Numbers in preorder of the dominator tree, without walking it: a dominator has a smaller
 * number in the walk, so sizes add up from the back, and each takes its place after the ones
 * before it from the front. `next` of a block is the place of the next one below it.
 */
static void number_tree(struct ki_graph *g, const struct finder *f)
{
	uint32_t *size = f->bucket, *next = f->next;

	for (uint32_t v = 0; v < f->w->n; v++)
		size[v] = 1;
	for (uint32_t v = f->w->n; v-- > 1;)
		size[f->idom[v]] += size[v];
	next[0] = 1;
	for (uint32_t b = 0; b < g->cfg.fn->nblocks; b++) {
		g->cfg.idom[b] = KI_NONE;
		g->dom_first[b] = g->dom_size[b] = 0;
	}
	for (uint32_t v = 1; v < f->w->n; v++) {
		uint32_t b = f->w->block[v], place = next[f->idom[v]];

		next[f->idom[v]] += size[v];
		next[v] = place + 1;
		g->cfg.idom[b] = f->w->block[f->idom[v]];
		g->dom_first[b] = place;
		g->dom_size[b] = size[v];
	}
}

int ki_dominators_find(struct ki_graph *g, const struct ki_walk *w)
{
	struct finder f = {.cfg = &g->cfg, .w = w};
	uint32_t **parts[] = {&f.semi, &f.label, &f.above, &f.idom, &f.bucket, &f.next, &f.path};
	uint32_t *space = ki_numbers_new(7 * (size_t)w->n);

	g->cfg.idom = ki_numbers_new(g->cfg.fn->nblocks);
	g->dom_first = ki_numbers_new(g->cfg.fn->nblocks);
	g->dom_size = ki_numbers_new(g->cfg.fn->nblocks);
	if (!space || !g->cfg.idom || !g->dom_first || !g->dom_size) {
		free(space);
		return -ENOMEM;
	}
	for (size_t i = 0; i < sizeof(parts) / sizeof(*parts); i++)
		*parts[i] = space + i * w->n;
	find(&f);
	number_tree(g, &f);
	free(space);
	return 0;
}
