// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Both sides are measured at the same time, each by a measurement of its own: the program's in the
 * process, the kernel's under the condition that it is the process. What only the kernel knows of
 * a thread is measured there on both sides; it is told of the program's calls.
 *
 * Of some functions nothing tells where they end (they leave by a jump through a pointer). Then the
 * calls of it are measured, in those functions whose time it is a part of.
 */
#include "crosswalk/round.h"

#include <errno.h>

#include "callees/inside.h"
#include "kerninst/process_points.h"
#include "util/clock.h"

#define BREAKPOINT 390 /* instructions that one takes, with the kernel's */

/* What is measured of a node, while it is added. */
struct ask {
	struct ki_round *r;
	struct ki_round_row *row;
	struct ki_err *err;
};

static int no_memory(struct ki_err *err)
{
	return ki_err_set(err, -ENOMEM, 0, "search: out of memory");
}

static struct ki_crosswalk_node *node_of(const struct ki_round *r, const struct ki_round_row *row)
{
	return &r->w->graph.nodes.v[row->node];
}

static struct ki_target *target_of(const struct ki_crosswalk *w, unsigned int side)
{
	return side == KI_SIDE_KERNEL ? w->kernel : w->process;
}

static int add_point(const struct ask *a, const struct ki_function *fn,
		     const struct ki_spans *spans, const struct ki_point *at)
{
	const bool kernel = node_of(a->r, a->row)->kernel;
	const struct ki_measured_at where = {fn, spans, at, 0, kernel ? a->r->w->own : NULL};

	for (unsigned int i = 0; i < KI_ROUND_METRICS && a->r->metrics[i]; i++) {
		const struct ki_crosswalk_timed timed = {a->r->w, a->row->node};
		const struct ki_metric *metric = a->r->metrics[i];
		struct ki_measure *m = a->r->m[kernel];
		uint32_t curve;
		int ret = metric->lasts ? ki_crosswalk_add_timer(m, &timed, &where, &curve, a->err)
					: ki_measure_add(m, metric, &where, &curve, a->err);

		if (ret)
			return ret;
		if (ki_vec_push(&a->row->curves, curve))
			return no_memory(a->err);
	}
	return 0;
}

/* Of the function of a node: 0 also if there is none any more, and *fn is NULL. */
static int open_function(const struct ki_crosswalk *w, const struct ki_crosswalk_node *n,
			 struct ki_function **fn, struct ki_spans *spans, struct ki_err *err)
{
	struct ki_target *t = target_of(w, n->kernel);
	const struct ki_symbol *sym = ki_target_symbol_at(t, n->addr);
	int ret;

	*fn = NULL;
	if (!sym || sym->addr != n->addr)
		return ki_err_reason(err, KI_R_NO_SYMBOL, n->addr, "%s", n->name);
	ret = ki_function_analyze(t, sym, fn, err);
	if (!ret)
		ret = ki_spans_find(*fn, spans, err);
	return ret;
}

static int add_function(const struct ask *a)
{
	const struct ki_point whole = {.kind = KI_POINT_ENTRY};
	struct ki_function *fn;
	struct ki_spans spans = {0};
	int ret = open_function(a->r->w, node_of(a->r, a->row), &fn, &spans, a->err);

	if (!ret)
		ret = add_point(a, fn, &spans, &whole);
	ki_spans_free(&spans);
	ki_function_free(fn);
	return ret;
}

/* ---- by calls ---- */

/* Does this edge of a caller lead to the node? Through pointers: where it has been seen. */
static bool leads_to(const struct ki_function *fn, const struct ki_edge *e,
		     const struct ki_crosswalk_edge *known, uint64_t addr)
{
	if (known->how == KI_CROSSWALK_POINTER)
		return ki_callees_is_unknown(fn, e) && fn->insns[e->insn].addr == known->site;
	return (e->kind == KI_EDGE_CALL || e->kind == KI_EDGE_TAIL) && e->to == addr;
}

static int add_calls_of(const struct ask *a, const struct ki_crosswalk_edge *known)
{
	const struct ki_crosswalk *w = a->r->w;
	const uint64_t addr = node_of(a->r, a->row)->addr;
	struct ki_function *fn;
	struct ki_spans spans = {0};
	int ret = open_function(w, &w->graph.nodes.v[known->from], &fn, &spans, a->err);

	for (uint32_t i = 0; !ret && i < fn->nedges; i++) {
		const struct ki_point call = {.kind = KI_POINT_EDGE, .edge = i};

		if (leads_to(fn, &fn->edges[i], known, addr))
			ret = add_point(a, fn, &spans, &call);
	}
	ki_spans_free(&spans);
	ki_function_free(fn);
	return ret;
}

/* All of them, or none. */
static int add_calls(const struct ask *a)
{
	const struct ki_crosswalk_graph *g = &a->r->w->graph;
	int ret = 0;

	a->row->curves.n = 0;
	for (size_t i = 0; !ret && i < g->edges.n; i++) {
		const struct ki_crosswalk_edge *e = &g->edges.v[i];

		if (e->to == a->row->node && e->from != KI_NONE && e->from != e->to &&
		    g->nodes.v[e->from].kernel == g->nodes.v[e->to].kernel)
			ret = add_calls_of(a, e);
	}
	if (!ret && !a->row->curves.n)
		ret = -ENOENT;
	if (ret)
		a->row->curves.n = 0;
	return ret;
}

/* A function that is refused stays a row, with its reason. */
static int add_node(struct ki_round *r, uint32_t number, struct ki_err *err)
{
	struct ki_round_row row = {.node = number};
	struct ki_err why = {0};
	struct ask a = {r, &row, &why};
	int ret = node_of(r, &row)->by_calls ? -EOPNOTSUPP : add_function(&a);

	if (ret && ret != -ENOMEM) {
		a.err = NULL;
		if (!node_of(r, &row)->reason)
			node_of(r, &row)->reason = (uint16_t)why.reason;
		row.reason = node_of(r, &row)->reason;
		ret = add_calls(&a);
		node_of(r, &row)->by_calls = !ret;
		if (!ret)
			row.reason = KI_R_OK;
		else if (!row.reason)
			row.reason = KI_R_NO_DURATION;
	}
	if (ret == -ENOMEM || ki_vec_push(&r->rows, row)) {
		ki_vec_free(&row.curves);
		return no_memory(err);
	}
	return 0;
}

/* ---- what the driver refuses ---- */

static unsigned int refusal_of(const struct ki_round *r, const struct ki_round_row *row)
{
	unsigned int reason = row->reason;

	for (size_t i = 0; !reason && i < row->curves.n; i++)
		reason = ki_measure_refusal(r->m[node_of(r, row)->kernel], row->curves.v[i]);
	return reason;
}

static size_t rows_of(const struct ki_round *r, unsigned int side)
{
	size_t n = 0;

	for (size_t i = 0; i < r->rows.n; i++)
		n += node_of(r, &r->rows.v[i])->kernel == side && r->rows.v[i].curves.n;
	return n;
}

/* The driver is asked before anything is put in: by calls, perhaps, it can be had. */
static int ask_driver(struct ki_round *r, struct ki_err *err)
{
	const size_t n = r->rows.n;
	int ret = rows_of(r, KI_SIDE_KERNEL) ? ki_measure_check(r->m[KI_SIDE_KERNEL], err) : 0;

	for (size_t i = 0; !ret && i < n; i++) {
		struct ki_round_row *row = &r->rows.v[i];
		struct ask a = {r, row, NULL};
		const unsigned int reason = refusal_of(r, row);

		if (!node_of(r, row)->kernel || !reason || row->reason)
			continue;
		ret = add_calls(&a);
		node_of(r, row)->by_calls = !ret;
		if (ret && ret != -ENOMEM) {
			row->reason = (uint16_t)reason;
			ret = 0;
		}
	}
	return ret == -ENOMEM ? no_memory(err) : ret;
}

static void note_refusals(struct ki_round *r)
{
	for (size_t i = 0; i < r->rows.n; i++) {
		struct ki_round_row *row = &r->rows.v[i];

		row->reason = (uint16_t)refusal_of(r, row);
		if (row->reason)
			row->curves.n = 0;
	}
}

static int take_before(struct ki_round *r, struct ki_err *err)
{
	ki_crosswalk_stand_free(r->before);
	return ki_crosswalk_stand_take(r->w, true, r->before, err);
}

/* A side on which nothing is in question is not touched. */
static int start_sides(struct ki_round *r, struct ki_err *err)
{
	int ret = ask_driver(r, err);

	for (unsigned int side = 0; !ret && side < KI_SIDES; side++) {
		if (side == KI_SIDE_KERNEL && r->before)
			ret = take_before(r, err);
		if (!ret && rows_of(r, side)) {
			ret = ki_measure_start(r->m[side], err);
			continue;
		}
		ki_measure_free(r->m[side]);
		r->m[side] = NULL;
	}
	if (!ret)
		note_refusals(r);
	for (unsigned int side = 0; !ret && side < KI_SIDES; side++)
		if (r->m[side])
			ret = ki_measure_read(r->m[side], &r->from[side], err);
	r->begun = ki_now();
	return ret;
}

int ki_round_open(struct ki_round *r, struct ki_crosswalk *w,
		  const struct ki_metric *const *metrics, const ki_crosswalk_numbers *open,
		  struct ki_err *err)
{
	int ret = 0;

	*r = (struct ki_round){.w = w, .told = w->told && metrics[0]->lasts, .before = r->before};
	for (unsigned int i = 0; i < KI_ROUND_METRICS && metrics[i]; i++)
		r->metrics[i] = metrics[i];
	for (unsigned int side = 0; !ret && side < KI_SIDES; side++)
		if (target_of(w, side))
			ret = ki_measure_new(r->told ? w->kernel : target_of(w, side), &r->m[side],
					     err);
	if (!ret && r->told)
		ki_measure_tell(r->m[KI_SIDE_PROGRAM], w->process);
	for (size_t i = 0; !ret && i < open->n; i++)
		if (w->graph.nodes.v[open->v[i]].truth == KI_CROSSWALK_OPEN)
			ret = add_node(r, open->v[i], err);
	return ret ? ret : start_sides(r, err);
}

void ki_round_close(struct ki_round *r)
{
	for (unsigned int side = 0; side < KI_SIDES; side++) {
		ki_reading_free(r->from[side]);
		ki_measure_free(r->m[side]);
	}
	for (size_t i = 0; i < r->rows.n; i++)
		ki_vec_free(&r->rows.v[i].curves);
	ki_vec_free(&r->rows);
}

static double sum_of(const struct ki_round *r, const struct ki_round_row *row, unsigned int metric,
		     struct ki_reading *const *now)
{
	const unsigned int step = r->metrics[1] ? KI_ROUND_METRICS : 1;
	const unsigned int side = node_of(r, row)->kernel;
	double sum = 0;

	for (size_t i = metric; i < row->curves.n; i += step)
		sum += ki_reading_value(r->m[side], r->from[side], now[side], row->curves.v[i],
					KI_ALL_CPUS);
	return sum;
}

int ki_round_read(const struct ki_round *r, unsigned int metric, double *values, struct ki_err *err)
{
	struct ki_reading *now[KI_SIDES] = {0};
	int ret = 0;

	for (unsigned int side = 0; !ret && side < KI_SIDES; side++)
		if (r->m[side])
			ret = ki_measure_read(r->m[side], &now[side], err);
	for (size_t i = 0; !ret && i < r->rows.n; i++)
		values[i] = sum_of(r, &r->rows.v[i], metric, now);
	for (unsigned int side = 0; side < KI_SIDES; side++)
		ki_reading_free(now[side]);
	return ret;
}

void ki_round_charge(const struct ki_round *r, const double *calls)
{
	for (size_t i = 0; i < r->rows.n; i++) {
		const struct ki_round_row *row = &r->rows.v[i];
		const unsigned int side = node_of(r, row)->kernel;
		unsigned int cost = 0;

		/* Each of its places is passed by its part of the calls: the dearest is taken. */
		for (size_t k = 0; k < row->curves.n; k++) {
			const unsigned int one = ki_measure_cost(r->m[side], row->curves.v[k]);

			cost = one > cost ? one : cost;
		}
		if (r->told && side == KI_SIDE_PROGRAM)
			cost += 2 * BREAKPOINT;
		r->w->spent[side] += calls[i] * cost;
	}
}

bool ki_round_ended(const struct ki_round *r)
{
	const struct ki_splice_process *s =
		r->m[KI_SIDE_PROGRAM] ? ki_measure_process(r->m[KI_SIDE_PROGRAM]) : NULL;

	return s && ki_process_points_ended(s);
}
