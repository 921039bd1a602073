// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * To put something in, or to take it out, may take the driver a while: until no task is where bytes
 * change. So what is to begin at a time is installed a little earlier, and taken out from its end
 * on, and records from before and after are thrown away: what is in the file is exact to the tick.
 */
#include "run/record/inside.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static struct ki_recorder_group *group_of(struct ki_recorder_group *g, size_t n,
					  const struct ki_recorder_ask *a)
{
	for (size_t i = 0; i < n; i++)
		if (g[i].at == a->at && g[i].until == a->until && g[i].asked_pid == a->pid)
			return &g[i];
	return &g[n];
}

/* Every group has room for all. */
static int add_ask(struct ki_recorder_group *g, struct ki_recorder_ask *a, size_t all,
		   struct ki_err *err)
{
	if (!g->asks) {
		g->asked_pid = a->pid;
		g->at = a->at;
		g->until = a->until;
		g->asks = calloc(all, sizeof(*g->asks));
	}
	if (!g->asks)
		return -ENOMEM;
	g->asks[g->asked.n] = a;
	return ki_points_ask(&g->asked, a->point, err);
}

int recorder_groups_make(struct ki_recorder_options *o, struct ki_recorder_group **groups,
			 size_t *n, struct ki_err *err)
{
	struct ki_recorder_group *all = calloc(o->asks.n + 1, sizeof(*all));
	int ret = all ? 0 : -ENOMEM;

	*groups = all;
	*n = 0;
	for (size_t i = 0; !ret && i < o->asks.n; i++) {
		struct ki_recorder_group *g = group_of(all, *n, &o->asks.v[i]);

		*n += g == &all[*n];
		g->totals = o->mode == KI_RECORDER_TOTALS;
		g->budgeted = o->budget > 0;
		g->newest = o->mode == KI_RECORDER_NEWEST;
		g->predicted = o->predict;
		g->prediction.pause = o->pause;
		ret = add_ask(g, &o->asks.v[i], o->asks.n, err);
	}
	return ret;
}

void recorder_groups_free(struct ki_recorder_group *g, size_t n)
{
	for (size_t i = 0; g && i < n; i++) {
		ki_points_free(&g[i].points);
		ki_asked_free(&g[i].asked);
		ki_prediction_free(&g[i].prediction);
		free(g[i].asks);
		free(g[i].seen);
		free(g[i].outside);
	}
	free(g);
}

static int make_record(void *arg, struct ki_snippet *s, struct ki_node **stmt, struct ki_err *err)
{
	const struct ki_record_making *m = arg;
	struct ki_node *nodes[KI_RECORD_WORDS];
	unsigned int n;
	int ret = ki_record_values_build(m->values, s, m, nodes, &n, err);

	if (ret)
		return ret;
	/* the condition's nodes are made after these */
	if (m->when)
		ki_predicate_hit(m->when, &m->written);
	*stmt = ki_stmt_record(s, m->ring, m->id, nodes, n);
	return *stmt ? 0 : ki_snippet_check(s, NULL, err);
}

static ki_measure_action *action_of(void *arg, const struct ki_named_point *p, void **action_arg)
{
	struct ki_recorder_group *g = arg;

	g->making.id = recorder_group_id(g, (size_t)(p - g->points.v.v));
	g->making.written = (struct ki_hit){.ring = g->making.ring, .id = g->making.id + 1};
	g->making.values = &g->asks[p->spec - g->asked.specs]->values;
	*action_arg = &g->making;
	return make_record;
}

/* Of each point: one for what is asked for, and one for what an instrument writes. */
static uint32_t ids_of(const struct ki_recorder_group *g)
{
	for (size_t i = 0; i < g->asked.n; i++)
		if (g->asks[i]->values.written.name)
			return 2;
	return 1;
}

int recorder_group_resolve(struct ki_recorder_group *g, const struct ki_record_making *to,
			   struct recorder_numbers *next, struct ki_recorder *r)
{
	struct ki_points_how how = {.size = sizeof(how),
				    .wanted = {.metrics = {ki_metric_find("count")}, .n = 1},
				    .moving = KI_MOVING_NEVER,
				    .when = r->when,
				    .separate = true,
				    .metered = g->budgeted,
				    .sampled = g->budgeted,
				    .action = g->totals ? NULL : action_of,
				    .arg = g,
				    .first = next->point};
	struct ki_target *of;
	int ret;

	g->process = g->asked_pid ? ki_opened_find(r->processes, g->asked_pid) : NULL;
	how.kernel = g->process ? r->t : NULL;
	how.prefix = g->process ? g->process->prefix : NULL;
	of = g->process ? g->process->t : r->t;
	g->first = next->id;
	g->ids = ids_of(g);
	g->making = *to;
	g->making.when = r->when;
	ret = ki_points_find(&g->points, of, &g->asked, &how, r->listener, &r->err);
	next->id += g->ids * (uint32_t)g->points.v.n;
	next->point += (uint32_t)g->points.v.n;
	g->prediction.listener = r->listener;
	if (!ret && g->predicted)
		ret = ki_predict_for(&g->prediction, &g->points, of, &g->asked, &how, &r->err);
	if (ret)
		return ret;
	g->seen = calloc(g->points.v.n + 1, sizeof(*g->seen));
	g->outside = calloc(g->points.v.n + 1, sizeof(*g->outside));
	return g->seen && g->outside ? 0 : -ENOMEM;
}

void recorder_group_set_times(struct ki_recorder_group *g, uint64_t start, uint32_t tsc_khz)
{
	g->from = g->at > 0 ? start + (uint64_t)(g->at * tsc_khz * 1e3) : 0;
	g->to = g->until > 0 ? start + (uint64_t)(g->until * tsc_khz * 1e3) : UINT64_MAX;
}

double recorder_group_lead(const struct ki_recorder_group *g)
{
	if (g->totals || !(g->at > 0))
		return 0;
	return 0.5 + 1e-3 * (double)ki_plan_chunks(ki_measure_plan(g->points.measure));
}

bool recorder_group_owns(struct ki_recorder_group *g, const struct ki_record *rec, bool *keep)
{
	uint32_t n = rec->id - g->first;

	if (rec->id < g->first || n >= g->ids * g->points.v.n)
		return false;
	*keep = rec->tsc >= g->from && rec->tsc < g->to;
	if (!*keep && n % g->ids == 0)
		g->outside[n / g->ids]++;
	return true;
}

uint64_t recorder_group_hits(const struct ki_recorder_group *g, size_t i)
{
	const struct ki_cell *c = ki_points_first(&g->points, &g->points.v.v[i]);

	return g->totals ? g->seen[i]
			 : ki_measure_hits(g->points.measure, c->curve) - g->outside[i];
}

/* What an instrument writes at the point of `in`: one string is its point and, after it, its name.
 */
static int describe_written(const struct ki_instrument *in, const struct ki_record_written *w,
			    struct ki_recorder_instruments *out)
{
	struct ki_instrument written = *in;
	char *point;

	if (asprintf(&point, "%s=%s%c%s=%s", in->point, w->name, 0, in->name, w->name) < 0)
		return -ENOMEM;
	written.id++;
	written.point = point;
	written.name = point + strlen(point) + 1;
	written.fields = w->fields;
	written.nfields = w->n;
	if (!ki_vec_push(out, written))
		return 0;
	free(point);
	return -ENOMEM;
}

int recorder_group_describe(const struct ki_recorder_group *g, struct ki_recorder_instruments *out)
{
	static const struct ki_record_field count = {"count", "hits", KI_U64, KI_SHOW_DECIMAL};

	for (size_t i = 0; i < g->points.v.n; i++) {
		const struct ki_named_point *p = &g->points.v.v[i];
		const struct ki_record_values *v = &g->asks[p->spec - g->asked.specs]->values;
		struct ki_instrument in = {.id = recorder_group_id(g, i),
					   .name = p->name,
					   .addr = p->addr,
					   .on = g->at,
					   .off = g->until,
					   .fields = g->totals ? &count : v->fields,
					   .nfields = g->totals ? 1 : v->n};
		char what[KI_POINT_NAME_LEN] = "", *point;

		if (ki_points_first(&g->points, p)->reason)
			continue;
		ki_point_format(&p->at, p->sym->addr, p->order, what);
		if (asprintf(&point, "%s%s@0x%llx%s", g->process ? g->process->prefix : "",
			     p->sym->name, (unsigned long long)p->sym->addr, what) < 0)
			return -ENOMEM;
		in.point = point;
		if (ki_vec_push(out, in)) {
			free(point);
			return -ENOMEM;
		}
		if (v->written.name && !g->totals && describe_written(&in, &v->written, out))
			return -ENOMEM;
	}
	return 0;
}

void recorder_instruments_free(struct ki_recorder_instruments *v)
{
	for (size_t i = 0; i < v->n; i++) {
		union {
			const char *from;
			char *to;
		} point = {v->v[i].point};

		free(point.to);
	}
	ki_vec_free(v);
}
