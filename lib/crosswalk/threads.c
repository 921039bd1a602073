// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Shares of each thread. At its end a timer adds what the call took to a row of a table:
 *
 *	table[node, thread] += took
 *
 * What is not over yet is in no row, but in what the timer says of all. It is given to the threads
 * that are inside at the end, then to those that have rows, by what each can still have.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "crosswalk/round.h"

#define ROWS 16384

typedef ki_vec(pid_t) ki_crosswalk_tids;

int ki_crosswalk_table_new(struct ki_crosswalk *w, struct ki_err *err)
{
	const struct ki_table_options o = {.size = sizeof(o), .keys = 2, .values = 1, .rows = ROWS};

	return w->o.threads && w->kernel ? ki_table_map_new(w->kernel, &o, &w->table, err) : 0;
}

static int add_to_row(void *arg, struct ki_snippet *s, const struct ki_var *words,
		      const struct ki_var *took, struct ki_node **stmt, struct ki_err *err)
{
	const struct ki_crosswalk_timed *t = arg;
	const struct ki_table_var table = ki_table_var_of(t->w->table, "threads");
	struct ki_node *keys[] = {ki_expr_const(s, KI_U64, t->node),
				  ki_expr_cast(s, KI_U64, ki_expr_fact(s, KI_FACT_PID))};

	(void)words;
	*stmt = ki_stmt_table(s, KI_TABLE_ADD,
			      &(struct ki_row_value){.table = &table, .keys = keys, .nkeys = 2},
			      ki_expr_var(s, took));
	return *stmt ? 0 : ki_snippet_check(s, NULL, err);
}

int ki_crosswalk_add_timer(struct ki_measure *m, const struct ki_crosswalk_timed *t,
			   const struct ki_measured_at *at, uint32_t *curve, struct ki_err *err)
{
	const struct ki_measure_ends ends = {.end = add_to_row, .arg = (void *)(uintptr_t)t};

	return t->w->table ? ki_measure_add_ends(m, t->w->metric, at, &ends, curve, err)
			   : ki_measure_add(m, t->w->metric, at, curve, err);
}

/* ---- what the rows say ---- */

static double unit_of(const struct ki_crosswalk *w)
{
	return w->what == KI_WHAT_EVENT ? 1 : 1e-9;
}

/* A call that ends now may have begun before the level did. No thread has more than its part; of
   one that has ended that is not known. */
static double at_most_part(const struct ki_crosswalk *w, pid_t tid, double share)
{
	const double part = ki_crosswalk_part(&w->parts, tid);

	return part > 0 && share > part ? part : share;
}

/* Of rows in order of their keys. */
static int add_rows(const struct ki_crosswalk *w, const struct ki_crosswalk_rows *rows,
		    uint32_t number, double all, double *sum)
{
	struct ki_crosswalk_node *n = &w->graph.nodes.v[number];

	for (size_t i = 0; i < rows->now->n; i++) {
		const uint64_t *key = ki_table_key(rows->now, i);
		const uint64_t *before = ki_table_find(rows->from, key);
		const uint64_t took = *ki_table_values(rows->now, i) - (before ? *before : 0);
		const double share =
			at_most_part(w, (pid_t)key[1], (double)took * unit_of(w) / all);

		if (key[0] != number || !took)
			continue;
		if (ki_crosswalk_share_add(n, (pid_t)key[1], share))
			return -ENOMEM;
		*sum += share;
	}
	return 0;
}

/* How much more it can have than it has. */
static double slack_of(const struct ki_crosswalk *w, const struct ki_crosswalk_node *n, pid_t tid)
{
	double slack = ki_crosswalk_part(&w->parts, tid);

	for (uint32_t i = 0; i < n->nthreads; i++)
		if (n->threads[i].tid == tid)
			slack -= n->threads[i].share;
	return slack > 0 ? slack : 0;
}

/* Give these threads what they can still have of it. */
static int spread(const struct ki_crosswalk *w, struct ki_crosswalk_node *n,
		  const ki_crosswalk_tids *tids, double *left)
{
	double all = 0, give;

	for (size_t i = 0; i < tids->n; i++)
		all += slack_of(w, n, tids->v[i]);
	give = *left < all ? *left : all;
	for (size_t i = 0; all > 0 && i < tids->n; i++)
		if (ki_crosswalk_share_add(n, tids->v[i], slack_of(w, n, tids->v[i]) * give / all))
			return -ENOMEM;
	*left -= give;
	return 0;
}

/* First those that are inside, then those with rows: they were so when the timer was read. */
static int share_out(const struct ki_crosswalk *w, struct ki_crosswalk_node *n,
		     const struct ki_crosswalk_stand *s, double left)
{
	ki_crosswalk_tids inside = {0}, known = {0};
	int ret = 0;

	for (size_t i = 0; s && !ret && i < s->threads.n; i++)
		if (ki_crosswalk_thread_in(w, &s->threads.v[i], n))
			ret = ki_vec_push(&inside, s->threads.v[i].tid);
	for (uint32_t i = 0; !ret && i < n->nthreads; i++)
		ret = ki_vec_push(&known, n->threads[i].tid);
	if (!ret)
		ret = spread(w, n, &inside, &left);
	if (!ret)
		ret = spread(w, n, &known, &left);
	ki_vec_free(&inside);
	ki_vec_free(&known);
	return ret ? -ENOMEM : 0;
}

int ki_crosswalk_rows_take(const struct ki_crosswalk *w, const struct ki_crosswalk_rows *rows,
			   uint32_t number, double share, double all)
{
	struct ki_crosswalk_node *n = &w->graph.nodes.v[number];
	double sum = 0;

	if (!w->table || !(all > 0))
		return 0;
	if (add_rows(w, rows, number, all, &sum))
		return -ENOMEM;
	return share > sum ? share_out(w, n, rows->stand, share - sum) : 0;
}

int ki_crosswalk_rows_read(const struct ki_crosswalk *w, struct ki_table_reading **out,
			   struct ki_err *err)
{
	return w->table ? ki_table_read(w->table, out, err) : 0;
}

void ki_crosswalk_rows_free(struct ki_crosswalk_rows *rows)
{
	ki_table_reading_free(rows->from);
	ki_table_reading_free(rows->now);
}

/* ---- what the threshold is compared with ---- */

static void name_thread(const struct ki_crosswalk *w, struct ki_crosswalk_share *s)
{
	char *text = ki_crosswalk_read_text(w->pid, s->tid, "comm");

	snprintf(s->name, sizeof(s->name), "%.*s", text ? (int)strcspn(text, "\n") : 0,
		 text ? text : "");
	free(text);
}

static int by_share(const void *a, const void *b)
{
	const struct ki_crosswalk_share *x = a, *y = b;

	if (x->share != y->share)
		return x->share < y->share ? 1 : -1;
	return (x->tid > y->tid) - (x->tid < y->tid);
}

void ki_crosswalk_judge(const struct ki_crosswalk *w, struct ki_crosswalk_node *n)
{
	double sum = 0;

	if (!w->o.threads || !w->now.threads.n)
		return;
	if (n->nthreads)
		qsort(n->threads, n->nthreads, sizeof(*n->threads), by_share);
	for (uint32_t i = 0; i < n->nthreads; i++) {
		sum += n->threads[i].share;
		name_thread(w, &n->threads[i]);
	}
	if (w->o.threads == KI_CROSSWALK_ANY)
		n->share = n->nthreads ? n->threads[0].share : 0;
	else
		n->share = sum / (double)w->now.threads.n;
}
