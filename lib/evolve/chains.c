// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * An order of functions by who calls whom (Ottoni and Maher, "Optimizing Function Placement for
 * Large-Scale Data-Center Applications", CGO 2017).
 *
 * Each function is a chain. From the hottest on, each one's chain is put after that of the function
 * that calls it most, unless both together are longer than a page. Chains then stand as hot as they
 * are, byte for byte.
 */
#include <errno.h>
#include <stdlib.h>

#include "evolve/inside.h"
#include "util/search.h"

#define PAGE 4096

struct chain {
	uint32_t first, last;
	uint64_t size, heat;
};

struct placer {
	const struct ki_lay_function *f;
	uint32_t n;
	uint32_t *caller; /* of each: who calls it most; n: nobody */
	uint32_t *next;	  /* of each: what stands after it in its chain; n: nothing */
	uint32_t *of;	  /* of each: its chain */
	struct chain *chains;
	uint32_t *order; /* room for one */
};

static int by_pair(const void *a, const void *b)
{
	const struct ki_lay_call *x = a, *y = b;

	if (x->to != y->to)
		return x->to < y->to ? -1 : 1;
	return (x->from > y->from) - (x->from < y->from);
}

/* Calls in order of pairs: those of one pair count together. */
static void find_callers(struct placer *p, struct ki_lay_call *calls, size_t n)
{
	uint64_t most = 0, sum = 0;

	qsort(calls, n, sizeof(*calls), by_pair);
	for (size_t i = 0; i < n; i++) {
		const struct ki_lay_call *c = &calls[i];

		if (!i || c->to != calls[i - 1].to)
			most = 0;
		sum = i && !by_pair(c, &calls[i - 1]) ? sum + c->count : c->count;
		if (sum > most && c->from != c->to) {
			most = sum;
			p->caller[c->to] = c->from;
		}
	}
}

static void put_after(struct placer *p, uint32_t f)
{
	struct chain *own = &p->chains[p->of[f]], *to;

	if (p->caller[f] == p->n || p->of[p->caller[f]] == p->of[f])
		return;
	to = &p->chains[p->of[p->caller[f]]];
	if (to->size + own->size > PAGE)
		return;
	for (uint32_t i = own->first; i != p->n; i = p->next[i])
		p->of[i] = p->of[p->caller[f]];
	p->next[to->last] = own->first;
	to->last = own->last;
	to->size += own->size;
	to->heat += own->heat;
	own->first = p->n;
}

/* Hotter first, byte for byte. What has no bytes is cold. */
static int hotter(uint64_t heat, uint64_t size, uint64_t heat2, uint64_t size2)
{
	double x = size ? (double)heat / (double)size : 0;
	double y = size2 ? (double)heat2 / (double)size2 : 0;

	return (x < y) - (x > y);
}

static int by_heat(const void *a, const void *b, void *arg)
{
	const struct placer *p = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	int way = hotter(p->f[x].heat, p->f[x].size, p->f[y].heat, p->f[y].size);

	return way ? way : (x > y) - (x < y);
}

static int by_chain(const void *a, const void *b, void *arg)
{
	const struct placer *p = arg;
	uint32_t x = *(const uint32_t *)a, y = *(const uint32_t *)b;
	const struct chain *c = &p->chains[x], *d = &p->chains[y];
	int way = hotter(c->heat, c->size, d->heat, d->size);

	return way ? way : (x > y) - (x < y);
}

static void place(struct placer *p, uint32_t *order)
{
	uint32_t at = 0;

	for (uint32_t i = 0; i < p->n; i++)
		p->order[i] = i;
	qsort_r(p->order, p->n, sizeof(*p->order), by_heat, p);
	for (uint32_t i = 0; i < p->n; i++)
		put_after(p, p->order[i]);
	for (uint32_t i = 0; i < p->n; i++)
		p->order[i] = i;
	qsort_r(p->order, p->n, sizeof(*p->order), by_chain, p);
	for (uint32_t i = 0; i < p->n; i++)
		for (uint32_t f = p->chains[p->order[i]].first; f != p->n; f = p->next[f])
			order[at++] = f;
}

int ki_lay_chain(const struct ki_lay_function *f, uint32_t n, struct ki_lay_call *calls,
		 size_t ncalls, uint32_t *order)
{
	uint32_t *room = malloc((4 * (size_t)n + 1) * sizeof(*room));
	struct placer p = {.f = f, .n = n, .chains = malloc((n + (size_t)1) * sizeof(*p.chains))};
	int ret = room && p.chains ? 0 : -ENOMEM;

	if (!ret) {
		p.caller = room;
		p.next = room + n;
		p.of = room + 2 * (size_t)n;
		p.order = room + 3 * (size_t)n;
		for (uint32_t i = 0; i < n; i++) {
			p.caller[i] = p.next[i] = n;
			p.of[i] = i;
			p.chains[i] = (struct chain){i, i, f[i].size, f[i].heat};
		}
		find_callers(&p, calls, ncalls);
		place(&p, order);
	}
	free(room);
	free(p.chains);
	return ret;
}

/* ---- of a plan ---- */

/* The number of the function that begins there; n: none. Functions in order of address. */
static uint32_t number_of(const struct ki_evolve *e, const uint32_t *at, uint64_t addr)
{
	size_t i = KI_FIRST(k, e->v.n, e->v.v[at[k]].fn->start >= addr);

	return i < e->v.n && e->v.v[at[i]].fn->start == addr ? at[i] : (uint32_t)e->v.n;
}

static int by_address(const void *a, const void *b, void *arg)
{
	const struct ki_evolve *e = arg;
	uint64_t x = e->v.v[*(const uint32_t *)a].fn->start;
	uint64_t y = e->v.v[*(const uint32_t *)b].fn->start;

	return (x > y) - (x < y);
}

static size_t list_calls(struct ki_evolve *e, uint32_t *at, struct ki_lay_call *calls)
{
	size_t n = 0;

	for (uint32_t i = 0; i < e->v.n; i++)
		at[i] = i;
	qsort_r(at, e->v.n, sizeof(*at), by_address, e);
	for (size_t i = 0; i < e->links.n; i++) {
		const struct ki_evolve_link *l = &e->links.v[i];
		uint32_t to = number_of(e, at, l->to);

		if (to < e->v.n)
			calls[n++] = (struct ki_lay_call){l->from, to, l->count};
	}
	return n;
}

int ki_evolve_take_turn(struct ki_evolve *e, struct ki_err *err)
{
	const uint32_t n = (uint32_t)e->v.n;
	struct ki_lay_function *f = malloc((n + (size_t)1) * sizeof(*f));
	struct ki_lay_call *calls = malloc((e->links.n + 1) * sizeof(*calls));
	uint32_t *order = malloc((n + (size_t)1) * sizeof(*order));
	int ret = f && calls && order ? 0 : -ENOMEM;

	for (uint32_t i = 0; !ret && i < n; i++)
		f[i] = e->v.v[i].size;
	if (!ret)
		ret = ki_lay_chain(f, n, calls, list_calls(e, order, calls), order);
	for (uint32_t i = 0; !ret && i < n; i++)
		e->v.v[order[i]].l.turn = i;
	free(f);
	free(calls);
	free(order);
	return ret ? ki_err_set(err, ret, 0, "layout: out of memory") : 0;
}
