// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * The search: what is in question is measured, level by level, and what is true is expanded, until
 * nothing is in question any more.
 *
 *	in question := where threads begin
 *	while something is in question
 *		measure it		level.c
 *		for what is true: its callees, if they are new, are in question	expand.c
 */
#include <errno.h>
#include <stdio.h>

#include "crosswalk/async.h"
#include "kerninst/speed.h"
#include "util/clock.h"
#include "util/listen.h"
#include "util/sized.h"

#define THRESHOLD 0.25
#define SECONDS	  1.0
#define LIMIT	  0.05
#define LEVELS	  100

static int make_own(struct ki_crosswalk *w, struct ki_err *err)
{
	char text[32];

	snprintf(text, sizeof(text), "pid == %d", (int)w->pid);
	return ki_predicate_new(text, &w->own, err);
}

static void take_options(struct ki_crosswalk *w, const struct ki_crosswalk_options *o)
{
	w->o = *o;
	w->o.threshold = w->o.threshold > 0 ? w->o.threshold : THRESHOLD;
	w->o.seconds = w->o.seconds > 0 ? w->o.seconds : SECONDS;
	w->o.limit = w->o.limit > 0 ? w->o.limit : LIMIT;
	w->o.levels = w->o.levels ? w->o.levels : LEVELS;
}

int ki_crosswalk_new(pid_t pid, struct ki_target *kernel, const struct ki_crosswalk_options *o,
		     struct ki_crosswalk **out, struct ki_err *err)
{
	int ret = ki_sized(o->size, sizeof(*o), "search", err);
	struct ki_crosswalk *w = ret ? NULL : calloc(1, sizeof(*w));

	if (!w)
		return ret ? ret : ki_err_set(err, -ENOMEM, 0, "search: out of memory");
	w->pid = pid;
	take_options(w, o);
	w->kernel = w->o.user_only ? NULL : kernel;
	w->speed = ki_cpu_speed();
	ret = ki_crosswalk_take_metric(w, err);
	w->o.metric = NULL; /* it need not live on */
	if (!ret)
		ret = ki_target_new_process(pid, &w->process, err);
	if (!ret)
		ret = make_own(w, err);
	if (!ret)
		ret = ki_crosswalk_table_new(w, err);
	if (!ret && ki_stack_reader_new(w->process, &w->stacks, NULL))
		w->stacks = NULL;
	if (ret)
		ki_crosswalk_free(w);
	else
		*out = w;
	return ret;
}

void ki_crosswalk_free(struct ki_crosswalk *w)
{
	if (!w)
		return;
	ki_crosswalk_stand_free(&w->now);
	ki_crosswalk_parts_free(&w->parts);
	ki_crosswalk_usage_free(w);
	ki_table_map_free(w->table);
	ki_stack_reader_free(w->stacks);
	ki_crosswalk_graph_free(&w->graph);
	ki_crosswalk_elsewhere_free(w);
	ki_predicate_free(w->own);
	ki_target_free(w->process);
	free(w);
}

bool ki_crosswalk_is_whole(const struct ki_crosswalk *w)
{
	return !w->ended && !w->stopped;
}

struct ki_crosswalk_cost ki_crosswalk_cost(const struct ki_crosswalk *w)
{
	const double seconds = w->begun > 0 ? ki_now() - w->begun : 0;
	const double all = seconds * w->speed;

	return (struct ki_crosswalk_cost){seconds, all > 0 ? w->spent[0] / all : 0,
					  all > 0 ? w->spent[1] / all : 0};
}

const struct ki_crosswalk_node *ki_crosswalk_nodes(const struct ki_crosswalk *w, uint32_t *n)
{
	*n = (uint32_t)w->graph.nodes.n;
	return w->graph.nodes.v;
}

const struct ki_crosswalk_edge *ki_crosswalk_edges(const struct ki_crosswalk *w, uint32_t *n)
{
	*n = (uint32_t)w->graph.edges.n;
	return w->graph.edges.v;
}

int ki_crosswalk_reopen(struct ki_crosswalk *w, struct ki_err *err)
{
	int ret;

	ki_crosswalk_stand_free(&w->now);
	ki_stack_reader_free(w->stacks);
	ki_target_free(w->process);
	w->stacks = NULL;
	w->process = NULL;
	ret = ki_target_new_process(w->pid, &w->process, err);
	if (!ret && ki_stack_reader_new(w->process, &w->stacks, NULL))
		w->stacks = NULL;
	return ret;
}

/* What the process has mapped since: its functions are known then. */
static int refresh(struct ki_crosswalk *w, struct ki_err *err)
{
	struct ki_change *v;
	size_t n;
	bool mapped = false;
	int ret = ki_target_changes(w->process, &v, &n, err);

	for (size_t i = 0; !ret && i < n; i++) {
		w->ended |= v[i].kind == KI_CHANGE_ENDED || v[i].kind == KI_CHANGE_BECAME;
		mapped |= v[i].kind == KI_CHANGE_MAPPED || v[i].kind == KI_CHANGE_UNMAPPED;
	}
	if (!ret)
		ki_free(v);
	return ret || w->ended || !mapped ? ret : ki_crosswalk_reopen(w, err);
}

/* Those in question, from a number on. */
static int list_open(const struct ki_crosswalk *w, size_t from, ki_crosswalk_numbers *out,
		     struct ki_err *err)
{
	for (size_t i = from; i < w->graph.nodes.n; i++)
		if (w->graph.nodes.v[i].truth == KI_CROSSWALK_OPEN && ki_vec_push(out, (uint32_t)i))
			return ki_err_set(err, -ENOMEM, 0, "search: out of memory");
	return 0;
}

static int list_true(const struct ki_crosswalk *w, size_t from, size_t to,
		     ki_crosswalk_numbers *out, struct ki_err *err)
{
	for (size_t i = from; i < to; i++)
		if (w->graph.nodes.v[i].truth == KI_CROSSWALK_TRUE &&
		    w->graph.nodes.v[i].level < w->o.levels && ki_vec_push(out, (uint32_t)i))
			return ki_err_set(err, -ENOMEM, 0, "search: out of memory");
	return 0;
}

/* Nodes are numbered as they come: those from `from` on are of this level. */
static int do_level(struct ki_crosswalk *w, size_t from, struct ki_err *err)
{
	const size_t to = w->graph.nodes.n;
	ki_crosswalk_numbers open = {0}, found = {0};
	int ret = refresh(w, err);

	if (!ret && !w->ended)
		ret = list_open(w, from, &open, err);
	if (!ret && open.n)
		ret = ki_crosswalk_measure(w, &open, err);
	if (!ret && ki_crosswalk_is_whole(w))
		ret = list_true(w, from, to, &found, err);
	if (!ret && ki_crosswalk_is_whole(w))
		ret = ki_crosswalk_expand(w, &found, err);
	ki_vec_free(&open);
	ki_vec_free(&found);
	return ret;
}

/* A process that ends is found so by whatever wants something of it. */
static bool is_end(int ret)
{
	return ret == -ESRCH;
}

int ki_crosswalk_search(struct ki_crosswalk *w, const struct ki_listener *l, struct ki_err *err)
{
	struct ki_crosswalk_async *async = NULL;
	struct ki_err why = {0};
	int ret = ki_crosswalk_add_roots(w, &why);
	size_t from = 0;

	w->listener = l;
	w->begun = ki_now();
	if (!ret)
		ret = ki_crosswalk_async_new(w, &async, &why);
	while (!ret && from < w->graph.nodes.n && ki_crosswalk_is_whole(w)) {
		const size_t next = w->graph.nodes.n;

		if (!ki_listener_progress(l, "functions in question", next - from, next))
			w->stopped = true;
		else
			ret = do_level(w, from, &why);
		from = next;
	}
	ki_listener_over(l);
	ki_crosswalk_mark_last(&w->graph);
	if (is_end(ret)) {
		w->ended = true;
		ret = 0;
	}
	if (!ret)
		ret = ki_crosswalk_async_end(async, &why);
	ki_crosswalk_async_free(async);
	return ret && err ? (*err = why, ret) : ret;
}
