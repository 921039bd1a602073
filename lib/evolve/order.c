// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * An order of blocks by how often control goes from one to another.
 *
 * Each hot block is a chain. Of all pairs of chains between which control goes, the one is joined
 * that gains most: one after the other, or one inside the other. That ends when nothing gains.
 * Chains then stand as hot as they are, byte for byte, that of the entry first.
 */
#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "evolve/order.h"

#define FORWARD	 1024 /* bytes: jumps that go farther than this are all alike */
#define BACKWARD 640
#define NEAR	 0.1 /* what a jump to the next byte would be worth; control that falls is worth 1 */
#define SPLIT	 64  /* a chain of more blocks is not split */
#define MOST	 512 /* hot blocks; of more the order stays */

double ki_lay_worth(uint64_t count, int64_t distance)
{
	if (!distance)
		return (double)count;
	if (distance > 0 && distance < FORWARD)
		return NEAR * (double)count * (1 - (double)distance / FORWARD);
	if (distance < 0 && distance > -BACKWARD)
		return NEAR * (double)count * (1 + (double)distance / BACKWARD);
	return 0;
}

#define ABSENT INT64_MIN

/* Of the blocks in `order`, where each begins; others: ABSENT. */
static void place(const struct ki_lay_graph *g, const uint32_t *order, uint32_t n, int64_t *at)
{
	int64_t addr = 0;

	for (uint32_t i = 0; i < n; i++) {
		at[order[i]] = addr;
		addr += g->blocks[order[i]].size;
	}
}

double ki_lay_score(const struct ki_lay_graph *g, const uint32_t *order, uint32_t n)
{
	int64_t *at = malloc((g->nblocks + 1) * sizeof(*at));
	double sum = 0;

	if (!at)
		return 0;
	for (uint32_t i = 0; i < g->nblocks; i++)
		at[i] = ABSENT;
	place(g, order, n, at);
	for (uint32_t i = 0; i < g->nedges; i++) {
		const struct ki_lay_edge *e = &g->edges[i];

		if (at[e->from] != ABSENT && at[e->to] != ABSENT)
			sum += ki_lay_worth(e->count,
					    at[e->to] - at[e->from] - g->blocks[e->from].size);
	}
	free(at);
	return sum;
}

/* ---- chains ---- */

struct chain {
	uint32_t *v;
	uint32_t n;
	uint64_t count, size;
	double score;
};

/* How two chains are joined best: b inside a, after its first `split` blocks. */
struct join {
	double gain;
	uint32_t split;
};

struct weaver {
	const struct ki_lay_graph *g;
	uint32_t *first; /* of each block: its edges in `out`, both directions; one more */
	uint32_t *out;
	struct chain *chains;
	uint32_t n;
	struct join *joins; /* n * n */
	int64_t *at;	    /* of each block; ABSENT */
	uint32_t *row;	    /* room for an order */
};

/* The worth of all edges inside an order; ABSENT everywhere before and after. */
static double worth_of(struct weaver *w, const uint32_t *row, uint32_t n)
{
	double sum = 0;

	place(w->g, row, n, w->at);
	for (uint32_t i = 0; i < n; i++)
		for (uint32_t k = w->first[row[i]]; k < w->first[row[i] + 1]; k++) {
			const struct ki_lay_edge *e = &w->g->edges[w->out[k]];

			if (w->at[e->to] != ABSENT)
				sum += ki_lay_worth(e->count, w->at[e->to] - w->at[e->from] -
								      w->g->blocks[e->from].size);
		}
	for (uint32_t i = 0; i < n; i++)
		w->at[row[i]] = ABSENT;
	return sum;
}

static uint32_t join_row(const struct chain *a, const struct chain *b, uint32_t split,
			 uint32_t *row)
{
	memcpy(row, a->v, split * sizeof(*row));
	memcpy(row + split, b->v, b->n * sizeof(*row));
	memcpy(row + split + b->n, a->v + split, (a->n - split) * sizeof(*row));
	return a->n + b->n;
}

static bool connected(const struct weaver *w, const struct chain *a, const struct chain *b)
{
	for (uint32_t i = 0; i < b->n; i++)
		w->at[b->v[i]] = 0;
	bool yes = false;

	for (uint32_t i = 0; i < a->n && !yes; i++)
		for (uint32_t k = w->first[a->v[i]]; k < w->first[a->v[i] + 1] && !yes; k++)
			yes = w->at[w->g->edges[w->out[k]].to] != ABSENT &&
			      w->g->edges[w->out[k]].count;
	for (uint32_t i = 0; i < b->n; i++)
		w->at[b->v[i]] = ABSENT;
	return yes;
}

/* b in a: before, after, and inside if a is not too long; nothing before the entry. */
static struct join best_join(struct weaver *w, const struct chain *a, const struct chain *b)
{
	struct join best = {0};
	double before = a->score + b->score;
	uint32_t step = a->n <= SPLIT ? 1 : a->n;
	uint32_t from = a->v[0] ? 0 : step, to = b->v[0] ? a->n : 0;

	if (!connected(w, a, b) && !connected(w, b, a))
		return best;
	for (uint32_t i = 0; from + i <= to; i += step) {
		uint32_t split = to - i, n = join_row(a, b, split, w->row);
		double gain = worth_of(w, w->row, n) - before;

		if (gain > best.gain * (1 + 1e-9))
			best = (struct join){gain, split};
	}
	return best;
}

static void look_at(struct weaver *w, uint32_t a)
{
	for (uint32_t b = 0; b < w->n; b++) {
		if (a == b || !w->chains[b].n || !w->chains[a].n)
			continue;
		w->joins[a * w->n + b] = best_join(w, &w->chains[a], &w->chains[b]);
		w->joins[b * w->n + a] = best_join(w, &w->chains[b], &w->chains[a]);
	}
}

/* The best of all; false: nothing gains. */
static bool best_pair(const struct weaver *w, uint32_t *a, uint32_t *b)
{
	double gain = 0;

	for (uint32_t i = 0; i < w->n; i++)
		for (uint32_t k = 0; k < w->n; k++)
			if (w->joins[i * w->n + k].gain > gain) {
				gain = w->joins[i * w->n + k].gain;
				*a = i;
				*b = k;
			}
	return gain > 0;
}

static int join(struct weaver *w, uint32_t a, uint32_t b)
{
	struct chain *x = &w->chains[a], *y = &w->chains[b];
	uint32_t n = join_row(x, y, w->joins[a * w->n + b].split, w->row);
	uint32_t *v = malloc(n * sizeof(*v));

	if (!v)
		return -ENOMEM;
	memcpy(v, w->row, n * sizeof(*v));
	free(x->v);
	free(y->v);
	*x = (struct chain){v, n, x->count + y->count, x->size + y->size, worth_of(w, v, n)};
	*y = (struct chain){0};
	for (uint32_t i = 0; i < w->n; i++)
		w->joins[b * w->n + i].gain = w->joins[i * w->n + b].gain = 0;
	look_at(w, a);
	return 0;
}

/* ---- */

static void weaver_free(struct weaver *w)
{
	for (uint32_t i = 0; w->chains && i < w->n; i++)
		free(w->chains[i].v);
	free(w->chains);
	free(w->joins);
	free(w->first);
	free(w->out);
	free(w->at);
	free(w->row);
}

/* Of each block, the edges that leave it. */
static void list_edges(struct weaver *w)
{
	const struct ki_lay_graph *g = w->g;

	for (uint32_t i = 0; i < g->nedges; i++)
		w->first[g->edges[i].from + 1]++;
	for (uint32_t i = 0; i < g->nblocks; i++)
		w->first[i + 1] += w->first[i];
	for (uint32_t i = g->nedges; i--;)
		w->out[--w->first[g->edges[i].from + 1]] = i;
	/* each is now where its block's begin: one place on from where it is looked for */
	memmove(w->first, w->first + 1, g->nblocks * sizeof(*w->first));
	w->first[g->nblocks] = g->nedges;
}

static int weaver_new(struct weaver *w, const uint32_t *hot)
{
	const struct ki_lay_graph *g = w->g;

	w->first = calloc(g->nblocks + 2, sizeof(*w->first));
	w->out = calloc(g->nedges + 1, sizeof(*w->out));
	w->at = malloc((g->nblocks + 1) * sizeof(*w->at));
	w->row = calloc(g->nblocks + 1, sizeof(*w->row));
	w->chains = calloc(w->n, sizeof(*w->chains));
	w->joins = calloc((size_t)w->n * w->n, sizeof(*w->joins));
	if (!w->first || !w->out || !w->at || !w->row || !w->chains || !w->joins)
		return -ENOMEM;
	for (uint32_t i = 0; i <= g->nblocks; i++)
		w->at[i] = ABSENT;
	list_edges(w);
	for (uint32_t i = 0; i < w->n; i++) {
		uint32_t *v = malloc(sizeof(*v));

		if (!v)
			return -ENOMEM;
		*v = hot[i];
		w->chains[i] = (struct chain){v, 1, g->blocks[*v].count, g->blocks[*v].size + 1, 0};
		w->chains[i].score = worth_of(w, v, 1);
	}
	return 0;
}

static bool has_entry(const struct chain *c)
{
	return c->n && !c->v[0];
}

/* The entry's first, then the hottest, byte for byte; equal ones as they were. */
static int by_heat(const void *a, const void *b)
{
	const struct chain *x = a, *y = b;
	bool ex = has_entry(x), ey = has_entry(y);
	double hx = x->n ? (double)x->count / (double)x->size : -1;
	double hy = y->n ? (double)y->count / (double)y->size : -1;

	if (ex != ey)
		return ex ? -1 : 1;
	if (hx < hy || hx > hy)
		return hx > hy ? -1 : 1;
	return x->n && y->n ? (x->v[0] > y->v[0]) - (x->v[0] < y->v[0]) : 0;
}

/* The first n of `order` are hot: into a better order. */
static int weave(const struct ki_lay_graph *g, uint32_t *order, uint32_t n)
{
	struct weaver w = {.g = g, .n = n};
	int ret = weaver_new(&w, order);
	uint32_t a = 0, b = 0, at = 0;

	for (uint32_t i = 0; !ret && i < n; i++)
		look_at(&w, i);
	while (!ret && best_pair(&w, &a, &b))
		ret = join(&w, a, b);
	if (!ret)
		qsort(w.chains, n, sizeof(*w.chains), by_heat);
	for (uint32_t i = 0; !ret && i < n; i++) {
		if (w.chains[i].n)
			memcpy(order + at, w.chains[i].v, w.chains[i].n * sizeof(*order));
		at += w.chains[i].n;
	}
	weaver_free(&w);
	return ret;
}

int ki_lay_hot_first(const struct ki_lay_graph *g, uint64_t hot, uint32_t *order, uint32_t *nhot)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < g->nblocks; i++)
		if (!i || g->blocks[i].count > hot)
			order[n++] = i;
	*nhot = n;
	for (uint32_t i = 1; i < g->nblocks; i++)
		if (g->blocks[i].count <= hot)
			order[n++] = i;
	return 0;
}

int ki_lay_ext_tsp(const struct ki_lay_graph *g, uint64_t hot, uint32_t *order, uint32_t *nhot)
{
	ki_lay_hot_first(g, hot, order, nhot);
	return *nhot <= MOST ? weave(g, order, *nhot) : 0;
}

int ki_lay_reverse(const struct ki_lay_graph *g, uint64_t hot, uint32_t *order, uint32_t *nhot)
{
	(void)hot;
	for (uint32_t i = 0; i < g->nblocks; i++)
		order[i] = g->nblocks - 1 - i;
	*nhot = g->nblocks;
	return 0;
}

ki_lay_policy *ki_lay_policy_find(const char *name)
{
	static const struct {
		const char *name;
		ki_lay_policy *policy;
	} table[] = {{"ext-tsp", ki_lay_ext_tsp},
		     {"hot-first", ki_lay_hot_first},
		     {"reverse", ki_lay_reverse}};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (!strcmp(name, table[i].name))
			return table[i].policy;
	return NULL;
}
