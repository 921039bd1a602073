// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Numbers of paths.
 *
 * A walk over the function's blocks from the entry finds the edges back: those to a block from
 * which the walk came. Each of them, u to v, is taken out; for it stand an edge from u to the
 * outside, and one from the outside to v. What is left has no cycle. From the end on, each vertex
 * gets the number of ways from it to the outside, and each of its edges a value, the number of ways
 * by those before it: so the sums of values over all ways are 0, 1, 2, ..., each once.
 */
#include <errno.h>
#include <stdlib.h>

#include "cover/choice.h"
#include "cover/paths.h"

/* ---- the walk ---- */

enum { WHITE, GRAY, BLACK };

struct walk {
	const struct ki_function *fn;
	struct ki_path_numbers *p;
	uint32_t *stack, *cursor;
	uint8_t *color;
	bool *back; /* of each edge */
	uint32_t depth, end;
};

static void enter(struct walk *w, uint32_t b)
{
	w->color[b] = GRAY;
	w->cursor[b] = w->fn->blocks[b].first_edge;
	w->stack[w->depth++] = b;
}

/* All below it has been seen: it comes before that in the order. */
static void leave(struct walk *w)
{
	uint32_t b = w->stack[--w->depth];

	w->color[b] = BLACK;
	w->p->order[--w->end] = b;
	w->p->nreached++;
}

static void walk_edge(struct walk *w, uint32_t number)
{
	const struct ki_edge *e = &w->fn->edges[number];

	if (ki_cover_is_call(e) || e->to_block == KI_NONE)
		return;
	if (w->color[e->to_block] == WHITE)
		enter(w, e->to_block);
	else
		w->back[number] = w->color[e->to_block] == GRAY;
}

static void walk_all(struct walk *w)
{
	struct ki_path_numbers *p = w->p;

	enter(w, 0);
	while (w->depth) {
		uint32_t b = w->stack[w->depth - 1];
		const struct ki_block *at = &w->fn->blocks[b];

		if (w->cursor[b] == at->first_edge + at->nedges)
			leave(w);
		else
			walk_edge(w, w->cursor[b]++);
	}
	for (uint32_t i = 0; i < p->nreached; i++)
		p->order[i] = p->order[w->end + i];
	for (uint32_t b = 0; b < p->nblocks; b++)
		p->position[b] = KI_NONE;
	for (uint32_t i = 0; i < p->nreached; i++)
		p->position[p->order[i]] = i;
}

/* ---- the graph ---- */

static void add(struct ki_path_numbers *p, uint32_t from, uint32_t to, uint32_t edge, uint8_t kind)
{
	p->edges[p->nedges++] =
		(struct path_edge){.from = from, .to = to, .edge = edge, .kind = kind};
}

static void add_from(struct walk *w, uint32_t b)
{
	const struct ki_block *at = &w->fn->blocks[b];
	struct ki_path_numbers *p = w->p;

	p->first[b] = p->nedges;
	if (p->position[b] == KI_NONE)
		return;
	for (uint32_t i = at->first_edge; i < at->first_edge + at->nedges; i++) {
		const struct ki_edge *e = &w->fn->edges[i];

		if (ki_cover_is_call(e))
			continue;
		if (e->to_block == KI_NONE)
			add(p, b, p->nblocks, i, PATH_LEAVE);
		else if (w->back[i])
			add(p, b, p->nblocks, i, PATH_BACK);
		else
			add(p, b, e->to_block, i, PATH_INNER);
	}
	if (p->nedges == p->first[b])
		add(p, b, p->nblocks, KI_NONE, PATH_STOP);
}

/* From the outside: to the entry, and to each block that an edge back leads to, once. */
static void add_begins(struct walk *w)
{
	struct ki_path_numbers *p = w->p;
	uint8_t *done = w->color;

	for (uint32_t b = 0; b < p->nblocks; b++)
		done[b] = false;
	p->first[p->nblocks] = p->nedges;
	add(p, p->nblocks, 0, KI_NONE, PATH_ENTRY);
	for (uint32_t i = 0; i < w->fn->nedges; i++) {
		uint32_t to = w->fn->edges[i].to_block;

		if (!w->back[i] || done[to])
			continue;
		done[to] = true;
		add(p, p->nblocks, to, KI_NONE, PATH_BEGIN);
	}
	p->first[p->nblocks + 1] = p->nedges;
}

static void note_ways(struct walk *w)
{
	for (uint32_t i = 0; i < w->fn->nedges; i++)
		w->p->ways[i] =
			ki_cover_is_call(&w->fn->edges[i]) ? KI_NONE : w->fn->edges[i].to_block;
}

/* ---- the numbers ---- */

/* Values of the edges from a vertex; how many ways there are from it. Too many: KI_PATHS_MOST + 1.
 */
static uint64_t number_from(struct ki_path_numbers *p, uint32_t v, const uint64_t *ways)
{
	uint64_t sum = 0;

	for (uint32_t i = p->first[v]; i < p->first[v + 1]; i++) {
		struct path_edge *e = &p->edges[i];

		e->value = sum;
		sum += e->to == p->nblocks ? 1 : ways[e->to];
		if (sum > KI_PATHS_MOST)
			return KI_PATHS_MOST + 1;
	}
	return sum;
}

static int number_all(struct walk *w)
{
	struct ki_path_numbers *p = w->p;
	uint64_t *ways = calloc(p->nblocks, sizeof(*ways));

	if (!ways)
		return -ENOMEM;
	for (uint32_t i = p->nreached; i--;)
		ways[p->order[i]] = number_from(p, p->order[i], ways);
	p->count = number_from(p, p->nblocks, ways);
	free(ways);
	return 0;
}

static int new_walk(const struct ki_function *fn, struct ki_path_numbers *p, struct walk *w)
{
	const size_t n = fn->nblocks, m = fn->nedges;

	*w = (struct walk){.fn = fn, .p = p, .end = fn->nblocks};
	p->nblocks = fn->nblocks;
	p->edges = calloc(n + 2 * m + 2, sizeof(*p->edges));
	p->first = calloc(n + 2, sizeof(*p->first));
	p->order = calloc(n + 1, sizeof(*p->order));
	p->position = calloc(n + 1, sizeof(*p->position));
	p->ways = calloc(m + 1, sizeof(*p->ways));
	w->stack = calloc(n + 1, sizeof(*w->stack));
	w->cursor = calloc(n + 1, sizeof(*w->cursor));
	w->color = calloc(n + 1, 1);
	w->back = calloc(m + 1, sizeof(*w->back));
	return p->edges && p->first && p->order && p->position && p->ways && w->stack &&
			       w->cursor && w->color && w->back
		       ? 0
		       : -ENOMEM;
}

static int build(const struct ki_function *fn, struct ki_path_numbers *p)
{
	struct walk w;
	int ret = new_walk(fn, p, &w);

	if (!ret) {
		walk_all(&w);
		for (uint32_t b = 0; b < fn->nblocks; b++)
			add_from(&w, b);
		add_begins(&w);
		note_ways(&w);
		ret = number_all(&w);
	}
	free(w.stack);
	free(w.cursor);
	free(w.color);
	free(w.back);
	return ret;
}

/* A jump inside the function leads to no place but those of its table. */
static bool jumps_are_known(const struct ki_function *fn)
{
	uint32_t told = 0, jumps = 0;

	for (uint32_t i = 0; i < fn->ninsns; i++)
		jumps += fn->insns[i].kind == KI_INSN_JMP_INDIRECT;
	for (uint32_t e = 0; e < fn->nedges; e++)
		told += fn->edges[e].kind == KI_EDGE_TAIL_INDIRECT ||
			(fn->edges[e].kind == KI_EDGE_TABLE &&
			 (!e || fn->edges[e - 1].insn != fn->edges[e].insn));
	return jumps == told && !fn->guessed && ki_cover_contained(fn);
}

/* Every way control comes to a block has to be an edge. */
static int check(const struct ki_function *fn, struct ki_err *err)
{
	if (fn->reason)
		return ki_err_reason(err, fn->reason, fn->start, "%s", fn->symbol->name);
	if (!fn->nblocks || !jumps_are_known(fn))
		return ki_err_set(err, -EOPNOTSUPP, fn->start,
				  "%s: not all of its jumps are known, so neither are its paths",
				  fn->symbol->name);
	for (uint32_t b = 1; b < fn->nblocks; b++)
		if (fn->blocks[b].entered || ki_place_address_taken(fn, fn->blocks[b].start))
			return ki_err_set(err, -EOPNOTSUPP, fn->blocks[b].start,
					  "%s: other code (a part that the compiler has moved "
					  "away?) jumps to its block %u, so paths do not begin and "
					  "end in it alone",
					  fn->symbol->name, b);
	return 0;
}

int ki_path_numbers_new(const struct ki_function *fn, struct ki_path_numbers **out,
			struct ki_err *err)
{
	struct ki_path_numbers *p;
	int ret = check(fn, err);

	if (ret)
		return ret;
	p = calloc(1, sizeof(*p));
	if (!p || build(fn, p))
		ret = ki_err_set(err, -ENOMEM, fn->start, "paths: out of memory");
	else if (p->count > KI_PATHS_MOST)
		ret = ki_err_set(err, -EOPNOTSUPP, fn->start,
				 "%s has more than 2^60 paths; count its edges: kerninst stat -m "
				 "edges",
				 fn->symbol->name);
	if (ret)
		ki_path_numbers_free(p);
	else
		*out = p;
	return ret;
}

void ki_path_numbers_free(struct ki_path_numbers *p)
{
	if (!p)
		return;
	free(p->edges);
	free(p->first);
	free(p->order);
	free(p->position);
	free(p->ways);
	free(p);
}

uint64_t ki_path_numbers_count(const struct ki_path_numbers *p)
{
	return p->count;
}

/* ---- back to the path ---- */

/* Of a vertex's edges, the last one with at most that value: they go up. */
static const struct path_edge *follow(const struct ki_path_numbers *p, uint32_t v, uint64_t left)
{
	const struct path_edge *e = &p->edges[p->first[v]];

	for (uint32_t i = p->first[v] + 1; i < p->first[v + 1] && p->edges[i].value <= left; i++)
		e = &p->edges[i];
	return e;
}

int ki_path_of(const struct ki_path_numbers *p, uint64_t number, struct ki_path *out)
{
	const struct path_edge *e;

	*out = (struct ki_path){.to = KI_NONE, .edge = KI_NONE};
	if (number >= p->count)
		return -EINVAL;
	out->blocks = calloc((size_t)p->nreached + 1, sizeof(*out->blocks));
	if (!out->blocks)
		return -ENOMEM;
	e = follow(p, p->nblocks, number);
	out->called = e->kind == PATH_ENTRY;
	while (e->to != p->nblocks) {
		number -= e->value;
		out->blocks[out->nblocks++] = e->to;
		e = follow(p, e->to, number);
	}
	out->end = e->kind == PATH_LEAVE  ? KI_PATH_LEAVES
		   : e->kind == PATH_BACK ? KI_PATH_BACK
					  : KI_PATH_STOPS;
	out->edge = e->edge;
	if (e->kind == PATH_BACK)
		out->to = p->ways[e->edge];
	return 0;
}

void ki_path_free(struct ki_path *p)
{
	free(p->blocks);
	p->blocks = NULL;
}
