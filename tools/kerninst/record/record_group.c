// SPDX-License-Identifier: GPL-2.0-only
/*
 * To put something in, or to take it out, may take the driver a while: until no task is where bytes
 * change. So what is to begin at a time is installed a little earlier, and taken out from its end
 * on, and records from before and behind are thrown away: what is in the file is exact to the tick.
 */
#include "record/record_group.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "record/record_process.h"

static struct record_group *group_of(struct record_group *g, size_t n, const struct record_ask *a)
{
	for (size_t i = 0; i < n; i++)
		if (g[i].at == a->at && g[i].until == a->until && g[i].asked_pid == a->pid)
			return &g[i];
	return &g[n];
}

/* Every group has room for all. */
static int add_ask(struct record_group *g, struct record_ask *a, const struct verb *self,
		   size_t all)
{
	if (!g->asks) {
		g->asked_pid = a->pid;
		g->at = a->at;
		g->until = a->until;
		g->asks = calloc(all, sizeof(*g->asks));
	}
	if (!g->asks)
		return cli_no_memory();
	g->asks[g->asked.n] = a;
	return points_ask(&g->asked, self, a->point);
}

int record_groups_make(struct record_options *o, const struct verb *self,
		       struct record_group **groups, size_t *n)
{
	struct record_group *all = calloc(o->asks.n + 1, sizeof(*all));
	int ret = all ? CLI_OK : cli_no_memory();

	*groups = all;
	*n = 0;
	for (size_t i = 0; !ret && i < o->asks.n; i++) {
		struct record_group *g = group_of(all, *n, &o->asks.v[i]);

		*n += g == &all[*n];
		g->totals = o->mode == RECORD_TOTALS;
		g->budgeted = o->budget > 0;
		g->newest = o->mode == RECORD_NEWEST;
		g->predicted = o->cost;
		ret = add_ask(g, &o->asks.v[i], self, o->asks.n);
	}
	return ret;
}

void record_groups_free(struct record_group *g, size_t n)
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
	/* the condition's nodes are made behind these */
	if (m->when)
		ki_predicate_hit(m->when, &m->written);
	*stmt = ki_stmt_record(s, m->ring, m->id, nodes, n);
	return *stmt ? 0 : ki_snippet_check(s, NULL, err);
}

static ki_measure_act *act_of(void *arg, const struct ki_named_point *p, void **act_arg)
{
	struct record_group *g = arg;

	g->making.id = record_group_id(g, (size_t)(p - g->points.v.v));
	g->making.written = (struct ki_hit){.ring = g->making.ring, .id = g->making.id + 1};
	g->making.values = &g->asks[p->spec - g->asked.specs]->values;
	*act_arg = &g->making;
	return make_record;
}

/* Of each point: one for what is asked for, and one for what an instrument writes. */
static uint32_t ids_of(const struct record_group *g)
{
	for (size_t i = 0; i < g->asked.n; i++)
		if (g->asks[i]->values.written.name)
			return 2;
	return 1;
}

int record_group_resolve(struct record_group *g, struct ki_target *t, struct ki_predicate *when,
			 const struct ki_record_making *to, struct record_numbers *next, bool quiet)
{
	struct ki_points_how how = {.wanted = {.metrics = {ki_metric_find("count")}, .n = 1},
				    .moving = KI_MOVING_NEVER,
				    .when = when,
				    .separate = true,
				    .metered = g->budgeted,
				    .sampled = g->budgeted,
				    .act = g->totals ? NULL : act_of,
				    .arg = g,
				    .kernel = g->process ? t : NULL,
				    .prefix = g->process ? g->process->prefix : NULL,
				    .first = next->point};
	struct ki_target *of = g->process ? g->process->t : t;
	int ret;

	g->first = next->id;
	g->ids = ids_of(g);
	g->making = *to;
	g->making.when = when;
	ret = points_resolve(&g->points, of, &g->asked, &how, quiet);
	next->id += g->ids * (uint32_t)g->points.v.n;
	next->point += (uint32_t)g->points.v.n;
	if (!ret && g->predicted)
		ret = predict(&g->prediction, &g->points, t, &g->asked, &how);
	if (ret)
		return ret;
	g->seen = calloc(g->points.v.n + 1, sizeof(*g->seen));
	g->outside = calloc(g->points.v.n + 1, sizeof(*g->outside));
	return g->seen && g->outside ? CLI_OK : cli_no_memory();
}

void record_group_set_times(struct record_group *g, uint64_t start, uint32_t tsc_khz)
{
	g->from = g->at > 0 ? start + (uint64_t)(g->at * tsc_khz * 1e3) : 0;
	g->to = g->until > 0 ? start + (uint64_t)(g->until * tsc_khz * 1e3) : UINT64_MAX;
}

double record_group_lead(const struct record_group *g)
{
	if (g->totals || !(g->at > 0))
		return 0;
	return 0.5 + 1e-3 * (double)ki_plan_chunks(ki_measure_plan(g->points.measure));
}

bool record_group_owns(struct record_group *g, const struct ki_record *rec, bool *keep)
{
	uint32_t n = rec->id - g->first;

	if (rec->id < g->first || n >= g->ids * g->points.v.n)
		return false;
	*keep = rec->tsc >= g->from && rec->tsc < g->to;
	if (!*keep && n % g->ids == 0)
		g->outside[n / g->ids]++;
	return true;
}

uint64_t record_group_hits(const struct record_group *g, size_t i)
{
	const struct ki_cell *c = ki_points_first(&g->points, &g->points.v.v[i]);

	return g->totals ? g->seen[i]
			 : ki_measure_hits(g->points.measure, c->curve) - g->outside[i];
}

/* What an instrument writes at the point of `in`: one string is its point and, behind it, its name.
 */
static int describe_written(const struct ki_instrument *in, const struct ki_record_written *w,
			    record_instruments *out)
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

int record_group_describe(const struct record_group *g, record_instruments *out)
{
	static const struct ki_record_field count = {"count", "hits", KI_U64, KI_SHOW_DECIMAL};

	for (size_t i = 0; i < g->points.v.n; i++) {
		const struct ki_named_point *p = &g->points.v.v[i];
		const struct ki_record_values *v = &g->asks[p->spec - g->asked.specs]->values;
		struct ki_instrument in = {.id = record_group_id(g, i),
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

void record_instruments_free(record_instruments *v)
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
