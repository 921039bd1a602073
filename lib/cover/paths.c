// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Paths, counted. A thread has in its words the sum of the path that it is on, and how many calls
 * of the function it is in; where it is in more than one, the sums of the outer ones:
 *
 *	call		depth++; outer[depth - 2] = sum if depth > 1; sum = BIAS + step
 *	edge		sum += step
 *	edge back	number = sum - BIAS + step; count[number]++; sum = BIAS + begin of its block
 *	left		number = sum - BIAS + step; count[number]++; sum = outer[depth - 2]; depth--
 *
 * Words are 0 at first, and steps small enough that no sum of a path comes near to another multiple
 * of BIAS: so what began without being counted (before there were probes, where the condition did
 * not hold, too deep) has a number that is none, and is not counted. An interrupt that calls the
 * function leaves all words as it found them, whenever it comes: so depth is the first that a call
 * changes, and the last that is put back.
 *
 * Code that ends something is there before the code that begins it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cover/paths_live.h"
#include "metric/measure.h"
#include "splice/plan.h"
#include "target/process.h"

#define BIAS	    (1ull << 63)
#define ARRAY_MOST  4096       /* paths that have a counter each; more are rows of a table */
#define SHARED_MOST (1u << 20) /* the same in a process, where there are no tables */
#define ROWS	    16384
#define ORDERS_MOST 65000

/* ---- code ---- */

/* A snippet in the making. */
struct maker {
	const struct ki_paths *p;
	struct ki_snippet *s;
	struct ki_var depth, sum, was, number;
};

static struct ki_node *number_of(struct maker *m, uint64_t n)
{
	return ki_expr_const(m->s, KI_U64, n);
}

static struct ki_node *is(struct maker *m, enum ki_binary op, const struct ki_var *v, uint64_t n)
{
	return ki_expr_binary(m->s, op, ki_expr_var(m->s, v), number_of(m, n));
}

static struct ki_node *set(struct maker *m, const struct ki_var *v, struct ki_node *value)
{
	return ki_stmt_update(m->s, KI_SET, v, NULL, value);
}

static struct ki_node *then(struct maker *m, struct ki_node *first, struct ki_node *next)
{
	return ki_stmt_append(m->s, ki_stmt_append(m->s, NULL, first), next);
}

static struct ki_node *count_own(struct maker *m, unsigned int which)
{
	const struct ki_var v = {.name = which == BEGUN	 ? "begun"
					 : which == LEFT ? "left"
							 : "deep",
				 .kind = KI_VAR_CPU,
				 .type = KI_U64,
				 .first = m->p->first_own + which};

	return ki_stmt_update(m->s, KI_UPDATE_ADD, &v, NULL, number_of(m, 1));
}

static struct ki_var outer_of(const struct maker *m, uint32_t depth)
{
	return (struct ki_var){
		.kind = KI_VAR_THREAD, .type = KI_U64, .first = m->p->first_word + depth};
}

/* For each depth from 2 on what `make` does with the outer sum; `deeper` beyond. */
static struct ki_node *by_depth(struct maker *m, struct ki_node *deeper,
				struct ki_node *(*make)(struct maker *, const struct ki_var *))
{
	struct ki_node *chain = deeper;

	for (uint32_t d = KI_PATHS_DEEP; d >= 2; d--) {
		const struct ki_var outer = outer_of(m, d);

		chain = ki_stmt_if(m->s, is(m, KI_EQ, &m->was, d), make(m, &outer), chain);
	}
	return chain;
}

static struct ki_node *save(struct maker *m, const struct ki_var *outer)
{
	return set(m, outer, ki_expr_var(m->s, &m->sum));
}

static struct ki_node *restore(struct maker *m, const struct ki_var *outer)
{
	return set(m, &m->sum, ki_expr_var(m->s, outer));
}

/* count[number]++ */
static struct ki_node *count_path(struct maker *m)
{
	const struct ki_paths *p = m->p;
	const struct ki_var counts = {.name = "paths",
				      .kind = KI_VAR_CPU,
				      .type = KI_U64,
				      .first = p->first_count,
				      .count = (uint32_t)p->numbers->count};
	struct ki_node *number = ki_expr_var(m->s, &m->number);
	struct ki_table_var table;

	if (!p->table) {
		if (p->numbers->count == 1)
			return ki_stmt_update(m->s, KI_UPDATE_ADD, &counts, NULL, number_of(m, 1));
		return ki_stmt_update(m->s, KI_UPDATE_ADD, &counts, number, number_of(m, 1));
	}
	table = ki_table_var_of(p->table, "paths");
	return ki_stmt_table(m->s, KI_TABLE_ADD, &(struct ki_row_value){&table, 0, &number, 1},
			     number_of(m, 1));
}

/* Take the number of the path that ends here, and count it if it is one: then `more`, else
 * `otherwise`. */
static struct ki_node *end_path(struct maker *m, uint64_t step, struct ki_node *more,
				struct ki_node *otherwise)
{
	struct ki_node *number =
		ki_expr_binary(m->s, KI_ADD, ki_expr_var(m->s, &m->sum), number_of(m, step - BIAS));
	struct ki_node *take = set(m, &m->number, number);
	struct ki_node *yes = then(m, count_path(m), more);

	return then(
		m, take,
		ki_stmt_if(m->s, is(m, KI_LT, &m->number, m->p->numbers->count), yes, otherwise));
}

static struct ki_node *read_depth(struct maker *m)
{
	return set(m, &m->was, ki_expr_var(m->s, &m->depth));
}

static int make_call(struct maker *m, uint64_t step, struct ki_err *err)
{
	struct ki_node *one = ki_stmt_update(m->s, KI_UPDATE_ADD, &m->depth, NULL, number_of(m, 1));
	struct ki_node *begin =
		then(m, set(m, &m->sum, number_of(m, BIAS + step)), count_own(m, BEGUN));
	struct ki_node *lost =
		ki_stmt_if(m->s,
			   ki_expr_binary(m->s, KI_LAND, is(m, KI_EQ, &m->was, KI_PATHS_DEEP + 1),
					  is(m, KI_NE, &m->sum, 0)),
			   count_own(m, DEEP), NULL);
	struct ki_node *action, *all;

	action = ki_stmt_if(m->s, is(m, KI_LE, &m->was, KI_PATHS_DEEP), begin, count_own(m, DEEP));
	if (m->p->when) {
		int ret = ki_predicate_guard(m->p->when, m->s, NULL, action, &action, err);

		if (ret)
			return ret;
	}
	all = then(m, one, read_depth(m));
	all = then(m, all,
		   ki_stmt_if(m->s, is(m, KI_GT, &m->was, 1), by_depth(m, lost, save), NULL));
	all = then(m, all, set(m, &m->sum, number_of(m, 0)));
	ki_snippet_body(m->s, then(m, all, action));
	return 0;
}

static void make_leave(struct maker *m, uint64_t step)
{
	struct ki_node *none = set(m, &m->sum, number_of(m, 0));
	struct ki_node *zero = set(m, &m->sum, number_of(m, 0));
	struct ki_node *all = end_path(m, step, count_own(m, LEFT), NULL);
	struct ki_node *less =
		ki_stmt_update(m->s, KI_UPDATE_SUB, &m->depth, NULL, number_of(m, 1));

	all = then(m, read_depth(m), all);
	all = then(m, all,
		   ki_stmt_if(m->s, is(m, KI_GT, &m->was, 1), by_depth(m, none, restore), zero));
	all = then(m, all, ki_stmt_if(m->s, ki_expr_var(m->s, &m->was), less, NULL));
	ki_snippet_body(m->s, all);
}

/* The step with which paths begin at a block. */
static uint64_t step_of_begin(const struct ki_path_numbers *p, uint32_t block)
{
	for (uint32_t i = p->first[p->nblocks]; i < p->first[p->nblocks + 1]; i++)
		if (p->edges[i].kind == PATH_BEGIN && p->edges[i].to == block)
			return p->edges[i].step;
	return 0;
}

static void make_back(struct maker *m, const struct path_edge *e)
{
	uint64_t begin = step_of_begin(m->p->numbers, m->p->numbers->ways[e->edge]);

	ki_snippet_body(m->s, end_path(m, e->step, set(m, &m->sum, number_of(m, BIAS + begin)),
				       set(m, &m->sum, number_of(m, 0))));
}

static int make(struct maker *m, const struct path_edge *e, struct ki_err *err)
{
	m->depth = (struct ki_var){"depth", KI_VAR_THREAD, KI_U64, m->p->first_word, 0};
	m->sum = (struct ki_var){"sum", KI_VAR_THREAD, KI_U64, m->p->first_word + 1, 0};
	m->was = (struct ki_var){"was", KI_VAR_LOCAL, KI_U64, 0, 0};
	m->number = (struct ki_var){"number", KI_VAR_LOCAL, KI_U64, 1, 0};
	switch (e->kind) {
	case PATH_ENTRY:
		return make_call(m, e->step, err);
	case PATH_INNER:
		ki_snippet_body(m->s, ki_stmt_update(m->s, KI_UPDATE_ADD, &m->sum, NULL,
						     number_of(m, e->step)));
		return 0;
	case PATH_BACK:
		make_back(m, e);
		return 0;
	default:
		make_leave(m, e->step);
		return 0;
	}
}

/* ---- places ---- */

static int add(struct ki_paths *p, const struct path_edge *e, const struct ki_place *place,
	       uint16_t order, struct ki_err *err)
{
	struct maker m = {.p = p};
	struct ki_site_regs site;
	uint32_t id;
	int ret = ki_snippet_new(&m.s);

	if (ret)
		return ki_err_set(err, -ENOMEM, 0, "paths: out of memory");
	ret = make(&m, e, err);
	ki_measure_site(p->fn, place, &site);
	if (!ret)
		ret = ki_plan_add_snippet(p->plan,
					  &(struct ki_insertion){p->fn, &p->spans, place, order},
					  m.s, &site, &id, err);
	ki_snippet_free(m.s);
	return ret;
}

/* What ends, or goes on: of several at one place the one that comes first runs first. */
static int add_edges(struct ki_paths *p, struct ki_err *err)
{
	const struct ki_path_numbers *n = p->numbers;
	int ret = 0;

	for (uint32_t i = 0; !ret && i < n->first[n->nblocks]; i++) {
		const struct path_edge *e = &n->edges[i];

		if (e->kind != PATH_INNER || e->step)
			ret = add(p, e, &e->place, (uint16_t)(n->position[e->from] + 1), err);
	}
	return ret;
}

static int add_entry(struct ki_paths *p, struct ki_err *err)
{
	const struct ki_point pt = {.kind = KI_POINT_ENTRY};
	const struct ki_path_numbers *n = p->numbers;
	struct ki_place *v;
	size_t k;
	int ret = ki_point_places(p->fn, &p->spans, &pt, &v, &k, err);

	if (ret)
		return ret;
	if (v->reason)
		ret = ki_err_reason(err, v->reason, v->addr, "%s: its entry", p->fn->symbol->name);
	else
		ret = add(p, &n->edges[n->first[n->nblocks]], v, 0, err);
	free(v);
	return ret;
}

static bool in_process(const struct ki_paths *p)
{
	return ki_target_kind(p->t) == KI_TARGET_PROCESS;
}

/* All or nothing: one bundle. */
static int put_in_process(struct ki_paths *p, struct ki_err *err)
{
	const struct ki_process *process = p->t->own;
	int ret = ki_process_new(p->t, p->plan, process->counters, &p->process, err);

	for (uint32_t i = 0; !ret && i < ki_plan_chunks(p->plan); i++) {
		const struct ki_chunk *c = &p->plan->chunks.v[i].c;
		const unsigned int reason = ki_plan_refusal(p->plan, i);

		if (reason)
			ret = ki_err_reason(err, reason, p->plan->windows.v[c->window].addr,
					    "%s: a place of its paths", p->fn->symbol->name);
	}
	return ret;
}

static int put_in(struct ki_paths *p, struct ki_err *err)
{
	if (!in_process(p))
		return ki_plan_apply(p->plan, p->t, false, err);
	ki_plan_bundle_end(p->plan);
	return put_in_process(p, err);
}

static int install(struct ki_paths *p, struct ki_err *err)
{
	uint32_t bundle;
	int ret = p->numbers->nreached < ORDERS_MOST
			  ? ki_plan_new(&p->plan)
			  : ki_err_set(err, -EOPNOTSUPP, p->fn->start, "%s: too many blocks",
				       p->fn->symbol->name);

	if (ret)
		return ki_err_set(err, ret, 0, "paths: out of memory");
	if (in_process(p) && ki_plan_bundle_begin(p->plan, &bundle))
		return ki_err_set(err, -ENOMEM, 0, "paths: out of memory");
	ret = add_edges(p, err);
	ki_plan_stage(p->plan, 1);
	if (!ret)
		ret = add_entry(p, err);
	if (!ret)
		ret = put_in(p, err);
	p->installed = !ret;
	return ret;
}

/* ---- words ---- */

static int take_shared(struct ki_paths *p, struct ki_err *err)
{
	if (p->numbers->count > SHARED_MOST)
		return ki_err_set(err, -EOPNOTSUPP, p->fn->start,
				  "%s: it has %" PRIu64 " paths; in a process those of functions "
				  "with up to %u can be counted: kerninst cover --mode edges has "
				  "its edges",
				  p->fn->symbol->name, p->numbers->count, SHARED_MOST);
	return ki_counters_take(p->t, (uint32_t)p->numbers->count, &p->first_count, err);
}

/* A counter for each path, or a table of those that are taken. */
static int take_counts(struct ki_paths *p, struct ki_err *err)
{
	const struct ki_table_options o = {.size = sizeof(o), .keys = 1, .values = 1, .rows = ROWS};
	struct ki_err why = {0};
	int ret = -ENOSPC;

	if (in_process(p))
		return take_shared(p, err);
	if (p->numbers->count <= ARRAY_MOST)
		ret = ki_counters_take(p->t, (uint32_t)p->numbers->count, &p->first_count, &why);
	return ret ? ki_table_map_new(p->t, &o, &p->table, err) : 0;
}

static int take_words(struct ki_paths *p, struct ki_err *err)
{
	int ret = take_counts(p, err);

	if (!ret)
		ret = ki_counters_take(p->t, OWN, &p->first_own, err);
	/* depth, the sum, and the outer ones, of depth 2 and more */
	if (!ret)
		ret = ki_words_take(p->t, KI_PATHS_DEEP + 1, &p->first_word, err);
	if (!ret && !in_process(p))
		ret = ki_counter_map_new(p->t, &p->counters, err);
	return ret;
}

static int open_function(struct ki_paths *p, const struct ki_symbol *sym, struct ki_err *err)
{
	int ret = ki_function_analyze(p->t, sym, &p->fn, err);

	if (!ret)
		ret = ki_path_numbers_new(p->fn, &p->numbers, err);
	if (!ret)
		ret = ki_spans_find(p->fn, &p->spans, err);
	return ret ? ret : ki_paths_spread(p->numbers, p->fn, &p->spans, err);
}

int ki_paths_new(struct ki_target *t, const struct ki_symbol *sym, const struct ki_predicate *when,
		 struct ki_paths **out, struct ki_err *err)
{
	struct ki_paths *p = calloc(1, sizeof(*p));
	int ret;

	if (!p)
		return ki_err_set(err, -ENOMEM, 0, "paths: out of memory");
	p->t = t;
	p->when = when;
	if (when && ki_predicate_inside(when, 0))
		ret = ki_err_set(err, -EOPNOTSUPP, 0, "paths: inside() cannot be asked for here");
	else
		ret = open_function(p, sym, err);
	if (!ret)
		ret = take_words(p, err);
	if (!ret)
		ret = install(p, err);
	if (ret)
		ki_paths_free(p);
	else
		*out = p;
	return ret;
}

int ki_paths_remove(struct ki_paths *p, struct ki_err *err)
{
	int ret = 0;

	if (p->process)
		ret = ki_process_remove(p->process, err);
	else if (p->installed)
		ret = ki_plan_remove(p->plan, p->t, err);
	p->installed = ret != 0;
	return ret;
}

void ki_paths_free(struct ki_paths *p)
{
	if (!p)
		return;
	ki_paths_remove(p, NULL);
	ki_process_free(p->process);
	ki_plan_free(p->plan);
	ki_table_map_free(p->table);
	ki_counter_map_free(p->counters);
	ki_spans_free(&p->spans);
	ki_path_numbers_free(p->numbers);
	ki_function_free(p->fn);
	free(p);
}
