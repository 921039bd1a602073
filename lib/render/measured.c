// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/measured.h"

#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "kerninst/cfg_view.h"
#include "util/cpulist.h"
#include "out/json.h"
#include "out/table.h"
#include "render/measured_cost.h"
#include "kerninst/value_text.h"

/* A block is hot that runs more often than in every 20th call of its function. */
#define HOT_SHARE 20

static const char *const shape_names[KI_SHAPES] = {
	[KI_SHAPE_BLOCKS] = "blocks",
	[KI_SHAPE_EDGES] = "edges",
};

/* Calls are counts. */
static const struct ki_metric *column_of(const struct ki_metric *m)
{
	return m == ki_metric_find("calls") ? ki_metric_find("count") : m;
}

static void add_column(struct ki_measured *r, const struct ki_metric *m)
{
	struct ki_measured_column *c = &r->columns[r->ncolumns];
	bool counts = m == ki_metric_find("count");

	if (m->form == KI_FORM_HISTOGRAM)
		return;
	for (unsigned int i = 0; i < r->ncolumns; i++)
		if (r->columns[i].metric == m)
			return;
	c->metric = m;
	c->rated = counts || (r->timed && m->form == KI_FORM_TOTAL);
	for (unsigned int i = 0; m->name[i] && i < KI_MEASURED_TITLE - 1; i++)
		c->title[i] = (char)toupper((unsigned char)m->name[i]);
	snprintf(c->rate, sizeof(c->rate), counts ? "RATE/S" : "%.30s/S", c->title);
	r->ncolumns++;
}

static int new_table(struct ki_measured *r)
{
	static const struct ki_column more[KI_SHAPES][4] = {
		[KI_SHAPE_BLOCKS] = {{"SIZE", KI_ALIGN_RIGHT, 5},
				     {"ENTRIES", KI_ALIGN_RIGHT, 12},
				     {"SHARE", KI_ALIGN_RIGHT, 8},
				     {"HEAT", KI_ALIGN_LEFT, 0}},
		[KI_SHAPE_EDGES] = {{"FROM", KI_ALIGN_RIGHT, 5},
				    {"TO", KI_ALIGN_LEFT, 5},
				    {"KIND", KI_ALIGN_LEFT, 0}},
	};
	struct ki_column all[2 * KI_METRICS_MAX + 13 + MEASURED_COST_COLUMNS];
	unsigned int n = 0;

	if (r->timed)
		all[n++] = (struct ki_column){"TIME", KI_ALIGN_RIGHT, 8};
	if (r->per_cpu)
		all[n++] = (struct ki_column){"CPU", KI_ALIGN_RIGHT, 3};
	for (unsigned int i = 0; i < r->ncolumns; i++) {
		all[n++] = (struct ki_column){r->columns[i].title, KI_ALIGN_RIGHT, 12};
		if (r->columns[i].rated)
			all[n++] = (struct ki_column){r->columns[i].rate, KI_ALIGN_RIGHT, 12};
	}
	n += ki_measured_cost_columns(r, all + n);
	if (r->split)
		all[n++] = (struct ki_column){"PART", KI_ALIGN_LEFT, 0};
	all[n++] = (struct ki_column){"POINT", KI_ALIGN_LEFT, 0};
	all[n++] = (struct ki_column){"ADDRESS", KI_ALIGN_LEFT, 18};
	for (unsigned int i = 0; i < 4 && more[r->shape][i].title; i++)
		all[n++] = more[r->shape][i];
	return ki_table_new(&r->table, all, n);
}

int ki_measured_new(struct ki_measured *r, const struct ki_points *p, bool json)
{
	r->split = ki_points_part(p, 0) != NULL;
	for (size_t i = 0; i < p->cells.n; i++)
		add_column(r, column_of(p->cells.v[i].metric));
	return json ? 0 : new_table(r);
}

void ki_measured_free(struct ki_measured *r)
{
	ki_table_free(r->table);
	r->table = NULL;
}

int ki_measured_table(const struct ki_measured *r, struct ki_table *t)
{
	int ret = r->separator ? ki_table_print_csv(t, r->out, r->separator)
			       : ki_table_print(t, r->out, r->bold);

	return ret || fflush(r->out) ? -EIO : 0;
}

/* What a point is sorted by. */
struct rank {
	const struct ki_named_point *p;
	double value;
};

static int by_value(const void *a, const void *b)
{
	const struct rank *ra = a, *rb = b;

	if (ra->value != rb->value)
		return ra->value > rb->value ? -1 : 1;
	return (ra->p > rb->p) - (ra->p < rb->p); /* the order of address */
}

/* How the block's count stands to its function's entries. */
static void share_cells(struct ki_table *t, const struct ki_points *p,
			const struct ki_named_point *pt, int cpu)
{
	const struct ki_cell *c = ki_points_first(p, pt);
	const struct ki_cell *e = pt->entry ? ki_points_first(p, &p->v.v[pt->entry - 1]) : NULL;
	uint64_t count, entries;

	if (!e || e->reason || pt->at.kind != KI_POINT_BLOCK) {
		ki_table_cell(t, "-");
		ki_table_cell(t, "-");
		ki_table_cell(t, "-");
		return;
	}
	count = ki_value_count(c, cpu);
	entries = ki_value_count(e, cpu);
	ki_table_cell(t, "%" PRIu64, entries);
	if (entries)
		ki_table_cell(t, "%.1f%%", 100.0 * (double)count / (double)entries);
	else
		ki_table_cell(t, "-");
	ki_table_cell(t, count > entries / HOT_SHARE ? "hot" : "cold");
}

/* Where the edge leads: a block, a function, or nowhere that is known. */
static const char *edge_to(const struct ki_named_point *pt, char *buf, size_t len)
{
	const struct ki_edge *e = &pt->edge;

	if (e->to_block != KI_NONE)
		snprintf(buf, len, "%u", e->to_block);
	else if (e->to)
		snprintf(buf, len, "0x%" PRIx64, e->to);
	else
		snprintf(buf, len, "-");
	return buf;
}

static void edge_cells(struct ki_table *t, const struct ki_named_point *pt)
{
	char to[32];

	if (pt->at.kind != KI_POINT_EDGE) {
		ki_table_cell(t, "-");
		ki_table_cell(t, "-");
		ki_table_cell(t, "-");
		return;
	}
	ki_table_cell(t, "%u", pt->edge.block);
	ki_table_cell(t, "%s", edge_to(pt, to, sizeof(to)));
	ki_table_cell(t, "%s", ki_edge_kind_name(pt->edge.kind));
}

static void block_cells(struct ki_table *t, const struct ki_points *p,
			const struct ki_named_point *pt, int cpu)
{
	if (pt->size)
		ki_table_cell(t, "%" PRIu64, pt->size);
	else
		ki_table_cell(t, "-");
	share_cells(t, p, pt, cpu);
}

static void value_cells(struct ki_measured *r, const struct ki_points *p,
			const struct ki_named_point *pt, double seconds, int cpu, unsigned int part)
{
	char text[KI_VALUE_TEXT];

	for (unsigned int i = 0; i < r->ncolumns; i++) {
		const struct ki_measured_column *col = &r->columns[i];
		const struct ki_cell *c = ki_points_cell(p, pt, col->metric, part);

		if (!c && col->metric == ki_metric_find("count"))
			c = ki_points_cell(p, pt, ki_metric_find("calls"), part);
		if (cpu >= 0 && c && !c->cpus)
			c = NULL;
		if (!c)
			ki_table_cell(r->table, "-");
		else
			ki_table_cell(r->table, "%s",
				      r->separator ? ki_value_plain(c, cpu, text)
						   : ki_value_text(c, cpu, text));
		if (col->rated)
			ki_table_cell(r->table, "%s",
				      c ? ki_value_rate(c, cpu, seconds, text) : "-");
	}
}

/* Of one CPU, or of all: -1. */
struct row_of {
	double time, seconds;
	int cpu;
	unsigned int part;
};

static void text_row(struct ki_measured *r, const struct ki_points *p,
		     const struct ki_named_point *pt, const struct row_of *of)
{
	struct ki_table *t = r->table;

	if (r->timed)
		ki_table_cell(t, "%.3f", of->time);
	if (r->per_cpu && of->cpu < 0)
		ki_table_cell(t, "all");
	else if (r->per_cpu)
		ki_table_cell(t, "%d", of->cpu);
	value_cells(r, p, pt, of->seconds, of->cpu, of->part);
	ki_measured_cost_cells(r, pt, of->cpu, of->part);
	if (r->split)
		ki_table_cell(t, "%s", ki_points_part(p, of->part));
	ki_table_cell(t, "%s", pt->name);
	ki_table_cell(t, "0x%" PRIx64, pt->addr);
	if (r->shape == KI_SHAPE_BLOCKS)
		block_cells(t, p, pt, of->cpu);
	else if (r->shape == KI_SHAPE_EDGES)
		edge_cells(t, pt);
}

static bool has_counted(const struct ki_points *p, const struct ki_named_point *pt,
			unsigned int cpu, unsigned int part)
{
	for (size_t i = pt->cell; i < pt->cell + pt->ncells; i++)
		if (p->cells.v[i].part == part && p->cells.v[i].cpus &&
		    p->cells.v[i].cpus[cpu].count)
			return true;
	return false;
}

/* Of each part the total, then each CPU that runs or has counted something. */
static void text_rows(struct ki_measured *r, const struct ki_points *p,
		      const struct ki_named_point *pt, double time, double seconds)
{
	for (unsigned int part = 0; part < ki_points_parts(p); part++) {
		text_row(r, p, pt, &(struct row_of){time, seconds, -1, part});
		for (unsigned int cpu = 0; r->per_cpu && cpu < p->cpus; cpu++)
			if (ki_cpulist_is_online(cpu) || has_counted(p, pt, cpu, part))
				text_row(r, p, pt, &(struct row_of){time, seconds, (int)cpu, part});
	}
}

static void json_edge(struct ki_json *j, const struct ki_named_point *pt)
{
	ki_json_u64(j, "edge", pt->at.edge);
	ki_json_u64(j, "block", pt->edge.block);
	ki_json_str(j, "kind", ki_edge_kind_name(pt->edge.kind));
	if (pt->edge.to_block != KI_NONE)
		ki_json_u64(j, "to_block", pt->edge.to_block);
	if (pt->edge.to)
		ki_json_hex(j, "to", pt->edge.to);
}

static void json_histogram(struct ki_json *j, const struct ki_cell *c)
{
	uint64_t low, high;

	ki_json_u64(j, "value", ki_value_sum(c));
	ki_json_open(j, "buckets", '[');
	for (unsigned int i = 0; i < KI_LOG2_BUCKETS; i++) {
		if (!c->buckets[i] || ki_log2_bounds(i, &low, &high))
			continue;
		ki_json_open(j, NULL, '{');
		ki_json_u64(j, "from", low);
		ki_json_u64(j, "to", high);
		ki_json_u64(j, "count", c->buckets[i]);
		ki_json_close(j);
	}
	ki_json_close(j);
}

static bool is_exact(const struct ki_metric *m)
{
	return m->unit == KI_UNIT_COUNT && m->form == KI_FORM_TOTAL;
}

/* Histograms: how many there are, and of which nanoseconds. */
static void json_value(struct ki_json *j, const struct ki_cell *c)
{
	const struct ki_metric *m = c->metric;

	if (c->reason)
		ki_json_str(j, "reason", ki_reason_tag(c->reason));
	else if (c->buckets)
		json_histogram(j, c);
	else if (is_exact(m))
		ki_json_u64(j, "value", c->count);
	else
		ki_json_double(j, "value", c->value);
	if (m->unit != KI_UNIT_COUNT)
		ki_json_str(j, "unit", c->buckets ? "ns" : ki_unit_name((enum ki_unit)m->unit));
}

static void json_cpus(struct ki_json *j, const struct ki_cell *c, unsigned int cpus)
{
	ki_json_open(j, "cpus", '[');
	for (unsigned int i = 0; i < cpus; i++)
		if (c->buckets || is_exact(c->metric))
			ki_json_u64(j, NULL, c->cpus[i].count);
		else
			ki_json_double(j, NULL, c->cpus[i].value);
	ki_json_close(j);
}

/* Counts of blocks and edges are called so. */
static const char *metric_name(const struct ki_measured *r, const struct ki_cell *c)
{
	const char *shape = shape_names[r->shape];

	return shape && c->metric == ki_metric_find("count") ? shape : c->metric->name;
}

static int json_row(struct ki_measured *r, const struct ki_points *p,
		    const struct ki_named_point *pt, const struct ki_cell *c, double time)
{
	struct ki_json j;

	ki_json_init(&j, r->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "metric", metric_name(r, c));
	ki_json_str(&j, "point", pt->name);
	if (r->split)
		ki_json_str(&j, "part", ki_points_part(p, c->part));
	json_value(&j, c);
	if (!c->reason && p->measure && ki_measure_too_deep(p->measure, c->curve))
		ki_json_u64(&j, "too_deep", ki_measure_too_deep(p->measure, c->curve));
	if (c->cpus && !c->reason)
		json_cpus(&j, c, p->cpus);
	ki_measured_cost_json(r, &j, c);
	if (r->timed && !c->reason)
		ki_json_double(&j, "time", time);
	ki_json_hex(&j, "address", pt->addr);
	ki_json_str(&j, "module", ki_symbol_module(pt->sym));
	ki_json_str(&j, "function", pt->sym->name);
	if (pt->at.kind == KI_POINT_BLOCK || pt->at.kind == KI_POINT_BLOCK_END)
		ki_json_u64(&j, "block", pt->at.block);
	else if (pt->at.kind == KI_POINT_EDGE)
		json_edge(&j, pt);
	if (pt->order)
		ki_json_u64(&j, "order", pt->order);
	if (pt->size)
		ki_json_u64(&j, "size", pt->size);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

/* The cells of a point that are refused, or those that are not. */
static int json_cells(struct ki_measured *r, const struct ki_points *p,
		      const struct ki_named_point *pt, bool refused, double time)
{
	int ret = 0;

	for (size_t i = pt->cell; !ret && i < pt->cell + pt->ncells; i++)
		if ((p->cells.v[i].reason != KI_R_OK) == refused)
			ret = json_row(r, p, pt, &p->cells.v[i], time);
	return ret;
}

static bool is_refused(const struct ki_points *p, const struct ki_named_point *pt)
{
	for (size_t i = pt->cell; i < pt->cell + pt->ncells; i++)
		if (!p->cells.v[i].reason)
			return false;
	return true;
}

/* Points of which something is measured, those with the most first. */
static size_t rank(const struct ki_points *p, struct rank *v)
{
	size_t n = 0;

	for (size_t i = 0; i < p->v.n; i++) {
		const struct ki_cell *c = ki_points_first(p, &p->v.v[i]);

		if (is_refused(p, &p->v.v[i]))
			continue;
		v[n].p = &p->v.v[i];
		v[n].value = c->reason || isnan(c->value) ? -1 : c->value;
		if (c->buckets && !c->reason)
			v[n].value = (double)ki_value_sum(c);
		n++;
	}
	qsort(v, n, sizeof(*v), by_value);
	return n;
}

static void draw_histograms(struct ki_measured *r, const struct ki_points *p, const struct rank *v,
			    size_t n)
{
	for (size_t i = 0; i < n; i++)
		for (size_t k = v[i].p->cell; k < v[i].p->cell + v[i].p->ncells; k++) {
			const struct ki_cell *c = &p->cells.v[k];

			if (!c->buckets || c->reason)
				continue;
			ki_value_draw(r->out, v[i].p, c, ki_points_part(p, c->part));
			for (unsigned int cpu = 0; c->cpus && cpu < p->cpus; cpu++)
				if (c->cpus[cpu].count)
					fprintf(r->out, "  ended on CPU %u: %" PRIu64 "\n", cpu,
						c->cpus[cpu].count);
		}
}

int ki_measured_values(struct ki_measured *r, const struct ki_points *p, double time,
		       double seconds)
{
	struct rank *order = calloc(p->v.n + 1, sizeof(*order));
	size_t n;
	int ret = 0;

	if (!order)
		return -ENOMEM;
	n = rank(p, order);
	for (size_t i = 0; !ret && i < n; i++) {
		if (r->table)
			text_rows(r, p, order[i].p, time, seconds);
		else
			ret = json_cells(r, p, order[i].p, false, time);
	}
	if (!ret)
		ret = ki_measured_overhead(r, time);
	if (!ret && r->table) {
		ret = ki_measured_table(r, r->table);
		if (!r->separator)
			draw_histograms(r, p, order, n);
	}
	free(order);
	return ret || fflush(r->out) ? -EIO : 0;
}

int ki_measured_refused(struct ki_measured *r, const struct ki_points *p)
{
	int ret = 0;

	for (size_t i = 0; !r->table && !ret && i < p->v.n; i++)
		ret = json_cells(r, p, &p->v.v[i], true, 0);
	return ret;
}

int ki_measured_hash(struct ki_measured *r, const char *when, const char *hash)
{
	struct ki_json j;

	if (r->table) {
		fprintf(r->out, "text hash %-7s%s\n", when, hash);
		return ferror(r->out) ? -EIO : 0;
	}
	ki_json_init(&j, r->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "metric", "text_hash");
	ki_json_str(&j, "point", when);
	ki_json_str(&j, "value", hash);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}
