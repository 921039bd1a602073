/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Edge counts from block counts.
 *
 * The function becomes a network. A block whose count is known is two vertices: all that comes
 * into one is its count, and so is all that goes out of the other. A block whose count is not
 * known is one vertex: as much goes out as comes in. Calls from outside are edges from the world,
 * one to each entry; what leaves the function leads to the world; so does a block that nothing
 * leads out of, because it ends in a call that does not return or in a trap. How the function is
 * left tells nothing about how it was entered, so the world's own count is not known.
 *
 * An exception at an instruction is an edge like others, but nearly always its count is 0, and
 * with it unknown, hardly a count around it is determined. So exceptions count as 0 unless the
 * flow equations say otherwise: a network without them is tried first, and one with them if that
 * cannot be. If neither can be, the counts do not fit together, and exceptions are not what
 * explains it.
 */
#include "code/graph/flow.h"
#include "code/graph/graph.h"

#include <errno.h>

struct network {
	const struct ki_cfg *cfg;
	const uint64_t *counts;
	struct ki_flow flow;
	uint32_t *in, *out; /* vertices of each block */
	uint32_t nedges;    /* those of the function come first, then one for each entry */
	uint64_t *more_in, *more_out;
};

static bool is_call(const struct ki_edge *e)
{
	return e->kind == KI_EDGE_CALL || e->kind == KI_EDGE_CALL_INDIRECT;
}

static bool is_entry(const struct ki_cfg *cfg, uint32_t b)
{
	return !b || cfg->pred_first[b] == cfg->pred_first[b + 1];
}

/* Exceptions do not count here: a block may have one, and still end in a trap. */
static bool goes_on(const struct ki_function *fn, uint32_t b)
{
	const struct ki_block *block = &fn->blocks[b];

	for (uint32_t i = 0; i < block->nedges; i++) {
		const struct ki_edge *e = &fn->edges[block->first_edge + i];

		if (!is_call(e) && e->kind != KI_EDGE_FIXUP)
			return true;
	}
	return false;
}

static uint32_t number_vertices(struct network *n)
{
	uint32_t v = 1;

	for (uint32_t b = 0; b < n->cfg->fn->nblocks; b++) {
		n->in[b] = v++;
		n->out[b] = n->counts[b] == KI_COUNT_UNKNOWN ? n->in[b] : v++;
	}
	return v;
}

static uint32_t count_edges(const struct network *n)
{
	const struct ki_function *fn = n->cfg->fn;
	uint32_t e = fn->nedges;

	for (uint32_t b = 0; b < fn->nblocks; b++)
		e += is_entry(n->cfg, b) + !goes_on(fn, b);
	return e;
}

static void connect(struct network *n)
{
	const struct ki_function *fn = n->cfg->fn;
	uint32_t i = fn->nedges;

	for (uint32_t k = 0; k < fn->nedges; k++) {
		const struct ki_edge *e = &fn->edges[k];

		if (!is_call(e))
			ki_flow_connect(&n->flow, k, n->out[e->block],
					ki_edge_is_inner(fn, e) ? n->in[e->to_block] : 0);
	}
	for (uint32_t b = 0; b < fn->nblocks; b++)
		if (is_entry(n->cfg, b))
			ki_flow_connect(&n->flow, i++, 0, n->in[b]);
	for (uint32_t b = 0; b < fn->nblocks; b++)
		if (!goes_on(fn, b))
			ki_flow_connect(&n->flow, i++, n->out[b], 0);
	for (uint32_t b = 0; b < fn->nblocks; b++) {
		if (n->counts[b] == KI_COUNT_UNKNOWN)
			continue;
		n->flow.vertices[n->in[b]].left = n->counts[b];
		n->flow.vertices[n->out[b]].left = -(__int128)n->counts[b];
	}
}

/* The network, solved, with or without exceptions. */
static int try_flow(struct network *n, bool exceptions)
{
	const struct ki_function *fn = n->cfg->fn;
	int ret = ki_flow_new(&n->flow, number_vertices(n), n->nedges);

	if (ret)
		return ret;
	connect(n);
	for (uint32_t i = 0; i < fn->nedges && !exceptions; i++)
		if (fn->edges[i].kind == KI_EDGE_FIXUP)
			ki_flow_set(&n->flow, i, 0);
	return ki_flow_solve(&n->flow);
}

static bool has_exceptions(const struct ki_function *fn)
{
	for (uint32_t i = 0; i < fn->nedges; i++)
		if (fn->edges[i].kind == KI_EDGE_FIXUP)
			return true;
	return false;
}

static int solve(struct network *n)
{
	struct ki_flow without;
	int ret = try_flow(n, false);

	if (ret || !n->flow.inconsistent || !has_exceptions(n->cfg->fn))
		return ret;
	without = n->flow;
	ret = try_flow(n, true);
	if (!ret && n->flow.inconsistent) {
		ki_flow_free(&n->flow);
		n->flow = without;
	} else {
		ki_flow_free(&without);
	}
	return ret;
}

static uint64_t add(uint64_t a, uint64_t b)
{
	return a + b < a ? UINT64_MAX : a + b;
}

static bool is_open(const struct ki_flow_edge *e)
{
	return !e->known && e->tail != e->head;
}

/* Of a block whose count is not known: what its neighbours can give it, or take. */
static void find_bounds(struct network *n)
{
	const struct ki_flow *f = &n->flow;

	for (uint32_t i = 0; i < f->nedges; i++) {
		const struct ki_flow_edge *e = &f->edges[i];

		if (!is_open(e))
			continue;
		n->more_in[e->head] = add(n->more_in[e->head], ki_flow_out_left(f, e->tail));
		n->more_out[e->tail] = add(n->more_out[e->tail], ki_flow_in_left(f, e->head));
	}
}

/* The bound of one side, `left` it has by itself and `more` comes from its other side. */
static uint64_t bound(uint64_t own, __int128 left, uint64_t more)
{
	__int128 sum = left + more;

	if (own != UINT64_MAX || more == UINT64_MAX)
		return own;
	return sum < 0 ? 0 : (uint64_t)sum;
}

static uint64_t estimate(const struct network *n, const struct ki_flow_edge *e)
{
	const struct ki_flow *f = &n->flow;
	const struct ki_flow_vertex *tail = &f->vertices[e->tail], *head = &f->vertices[e->head];
	uint64_t give = UINT64_MAX, take = UINT64_MAX;

	if (e->tail == e->head)
		return KI_COUNT_UNKNOWN;
	if (e->tail)
		give = bound(ki_flow_out_left(f, e->tail), -tail->left, n->more_in[e->tail]);
	if (e->head)
		take = bound(ki_flow_in_left(f, e->head), head->left, n->more_out[e->head]);
	return give < take ? give : take;
}

/* The count of a call's block, and whether it is estimated. */
static uint64_t count_of(const struct network *n, uint32_t b, bool *estimated)
{
	const struct ki_flow_vertex *v = &n->flow.vertices[n->in[b]];
	uint64_t in = n->more_in[n->in[b]], out = n->more_out[n->in[b]];

	*estimated = false;
	if (n->counts[b] != KI_COUNT_UNKNOWN)
		return n->counts[b];
	if (!v->in && in != KI_COUNT_UNKNOWN)
		return in;
	if (!v->out && out != KI_COUNT_UNKNOWN)
		return out;
	*estimated = true;
	return in < out ? in : out;
}

/* From here on more_in and more_out are what flows into each vertex, and out of it. */
static void add_up(struct network *n)
{
	const struct ki_flow *f = &n->flow;

	for (uint32_t v = 0; v < f->nvertices; v++)
		n->more_in[v] = n->more_out[v] = 0;
	for (uint32_t i = 0; i < f->nedges; i++) {
		const struct ki_flow_edge *e = &f->edges[i];

		n->more_in[e->head] = add(n->more_in[e->head], e->value);
		n->more_out[e->tail] = add(n->more_out[e->tail], e->value);
	}
}

static void fill_in(struct network *n, struct ki_edge_counts *out)
{
	const struct ki_function *fn = n->cfg->fn;
	const struct ki_flow_edge *edges = n->flow.edges;

	for (uint32_t i = 0; i < fn->nedges; i++) {
		if (is_call(&fn->edges[i])) {
			out->edges[i] = count_of(n, fn->edges[i].block, &out->estimated[i]);
		} else {
			out->edges[i] = edges[i].value;
			out->estimated[i] = !edges[i].known;
		}
		out->nestimated += out->estimated[i];
	}
	if (fn->nblocks) {
		out->entered = edges[fn->nedges].value;
		out->entered_estimated = !edges[fn->nedges].known;
	}
	out->inconsistent = n->flow.inconsistent;
}

static int count_all(struct network *n, struct ki_edge_counts *out)
{
	struct ki_flow *f = &n->flow;
	int ret = solve(n);

	if (ret)
		return ret;
	n->more_in = calloc((size_t)f->nvertices, sizeof(*n->more_in));
	n->more_out = calloc((size_t)f->nvertices, sizeof(*n->more_out));
	if (!n->more_in || !n->more_out)
		return -ENOMEM;
	find_bounds(n);
	for (uint32_t i = 0; i < f->nedges; i++)
		if (!f->edges[i].known)
			f->edges[i].value = estimate(n, &f->edges[i]);
	add_up(n);
	fill_in(n, out);
	return 0;
}

int ki_edge_counts(const struct ki_cfg *cfg, const uint64_t *counts, struct ki_edge_counts *out,
		   struct ki_err *err)
{
	const struct ki_function *fn = cfg->fn;
	struct network n = {.cfg = cfg, .counts = counts};
	int ret = -ENOMEM;

	*out = (struct ki_edge_counts){.edges = calloc((size_t)fn->nedges + 1, sizeof(uint64_t)),
				       .estimated = calloc((size_t)fn->nedges + 1, sizeof(bool))};
	n.in = ki_numbers_new(fn->nblocks);
	n.out = ki_numbers_new(fn->nblocks);
	n.nedges = count_edges(&n);
	if (out->edges && out->estimated && n.in && n.out)
		ret = count_all(&n, out);
	ki_flow_free(&n.flow);
	free(n.in);
	free(n.out);
	free(n.more_in);
	free(n.more_out);
	if (ret) {
		ki_edge_counts_free(out);
		ki_err_set(err, ret, fn->start, "edge counts of %u blocks: out of memory",
			   fn->nblocks);
	}
	return ret;
}

void ki_edge_counts_free(struct ki_edge_counts *ec)
{
	free(ec->edges);
	free(ec->estimated);
	ec->edges = NULL;
	ec->estimated = NULL;
}
