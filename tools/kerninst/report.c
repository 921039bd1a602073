// SPDX-License-Identifier: GPL-2.0-only
#include "report.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cfg_view.h"
#include "cli.h"
#include "cpulist.h"
#include "out/json.h"

/* A block is hot that runs more often than in every 20th call of its function. */
#define HOT_SHARE 20

static const char *const metric_names[METRICS] = {
	[METRIC_CALLS] = "calls",
	[METRIC_BLOCKS] = "blocks",
	[METRIC_EDGES] = "edges",
};

static int new_table(struct report *r)
{
	static const struct ki_column common[] = {
		{"TIME", KI_ALIGN_RIGHT, 8},   {"CPU", KI_ALIGN_RIGHT, 3},
		{"COUNT", KI_ALIGN_RIGHT, 12}, {"RATE/S", KI_ALIGN_RIGHT, 12},
		{"POINT", KI_ALIGN_LEFT, 0},   {"ADDRESS", KI_ALIGN_LEFT, 18},
	};
	static const struct ki_column more[METRICS][4] = {
		[METRIC_BLOCKS] = {{"SIZE", KI_ALIGN_RIGHT, 5},
				   {"ENTRIES", KI_ALIGN_RIGHT, 12},
				   {"SHARE", KI_ALIGN_RIGHT, 8},
				   {"HEAT", KI_ALIGN_LEFT, 0}},
		[METRIC_EDGES] = {{"FROM", KI_ALIGN_RIGHT, 5},
				  {"TO", KI_ALIGN_LEFT, 5},
				  {"KIND", KI_ALIGN_LEFT, 0}},
	};
	const bool wanted[] = {r->timed, r->per_cpu, true, true, true, true};
	struct ki_column all[10];
	unsigned int n = 0;

	for (unsigned int i = 0; i < 6; i++)
		if (wanted[i])
			all[n++] = common[i];
	for (unsigned int i = 0; i < 4 && more[r->metric][i].title; i++)
		all[n++] = more[r->metric][i];
	return ki_table_new(&r->table, all, n);
}

int report_open(struct report *r, bool json)
{
	return json ? 0 : new_table(r);
}

void report_close(struct report *r)
{
	ki_table_free(r->table);
	r->table = NULL;
}

int report_table(const struct report *r, struct ki_table *t)
{
	int ret = r->separator ? ki_table_print_csv(t, r->out, r->separator)
			       : ki_table_print(t, r->out, cli_bold(r->out));

	return ret || fflush(r->out) ? -EIO : 0;
}

static int by_value(const void *a, const void *b)
{
	const struct point *pa = *(const struct point *const *)a;
	const struct point *pb = *(const struct point *const *)b;

	if (pa->value != pb->value)
		return pa->value > pb->value ? -1 : 1;
	return (pa > pb) - (pa < pb); /* the order of address */
}

/* Of one CPU, or of all: -1. */
static uint64_t value_of(const struct point *p, int cpu)
{
	return cpu < 0 ? p->value : p->value_of[cpu];
}

/* How the block's count stands to its function's entries. */
static void share_cells(struct ki_table *t, const struct points *p, const struct point *pt, int cpu)
{
	const struct point *e = pt->entry ? &p->v.v[pt->entry - 1] : NULL;
	uint64_t entries, value;

	if (!e || e->reason || pt->at.kind != KI_POINT_BLOCK) {
		ki_table_cell(t, "-");
		ki_table_cell(t, "-");
		ki_table_cell(t, "-");
		return;
	}
	entries = value_of(e, cpu);
	value = value_of(pt, cpu);
	ki_table_cell(t, "%" PRIu64, entries);
	if (entries)
		ki_table_cell(t, "%.1f%%", 100.0 * (double)value / (double)entries);
	else
		ki_table_cell(t, "-");
	ki_table_cell(t, value > entries / HOT_SHARE ? "hot" : "cold");
}

/* Where the edge leads: a block, a function, or nowhere that is known. */
static const char *edge_to(const struct point *pt, char *buf, size_t len)
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

static void edge_cells(struct ki_table *t, const struct point *pt)
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
	ki_table_cell(t, "%s", cfg_edge_kind(&pt->edge));
}

static void block_cells(struct ki_table *t, const struct points *p, const struct point *pt, int cpu)
{
	if (pt->size)
		ki_table_cell(t, "%" PRIu64, pt->size);
	else
		ki_table_cell(t, "-");
	share_cells(t, p, pt, cpu);
}

static void text_row(struct report *r, const struct points *p, const struct point *pt, double time,
		     double seconds, int cpu)
{
	uint64_t value = value_of(pt, cpu);
	struct ki_table *t = r->table;

	if (r->timed)
		ki_table_cell(t, "%.3f", time);
	if (r->per_cpu && cpu < 0)
		ki_table_cell(t, "all");
	else if (r->per_cpu)
		ki_table_cell(t, "%d", cpu);
	ki_table_cell(t, "%" PRIu64, value);
	ki_table_cell(t, "%.1f", seconds > 0 ? (double)value / seconds : 0.0);
	ki_table_cell(t, "%s", pt->name);
	ki_table_cell(t, "0x%" PRIx64, pt->addr);
	if (r->metric == METRIC_BLOCKS)
		block_cells(t, p, pt, cpu);
	else if (r->metric == METRIC_EDGES)
		edge_cells(t, pt);
}

/* The total, then each CPU that runs or has counted something. */
static void text_rows(struct report *r, const struct points *p, const struct point *pt, double time,
		      double seconds)
{
	text_row(r, p, pt, time, seconds, -1);
	for (unsigned int c = 0; r->per_cpu && c < p->cpus; c++)
		if (pt->value_of[c] || cpulist_is_online(c))
			text_row(r, p, pt, time, seconds, (int)c);
}

static void json_edge(struct ki_json *j, const struct point *pt)
{
	ki_json_u64(j, "edge", pt->at.edge);
	ki_json_u64(j, "block", pt->edge.block);
	ki_json_str(j, "kind", cfg_edge_kind(&pt->edge));
	if (pt->edge.to_block != KI_NONE)
		ki_json_u64(j, "to_block", pt->edge.to_block);
	if (pt->edge.to)
		ki_json_hex(j, "to", pt->edge.to);
}

static void json_cpus(struct ki_json *j, const struct points *p, const struct point *pt)
{
	ki_json_open(j, "cpus", '[');
	for (unsigned int c = 0; c < p->cpus; c++)
		ki_json_u64(j, NULL, pt->value_of[c]);
	ki_json_close(j);
}

static int json_row(struct report *r, const struct points *p, const struct point *pt, double time)
{
	struct ki_json j;

	ki_json_init(&j, r->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "metric", metric_names[r->metric]);
	ki_json_str(&j, "point", pt->name);
	if (pt->reason)
		ki_json_str(&j, "reason", ki_reason_tag(pt->reason));
	else
		ki_json_u64(&j, "value", pt->value);
	if (r->per_cpu && !pt->reason)
		json_cpus(&j, p, pt);
	if (r->timed && !pt->reason)
		ki_json_double(&j, "time", time);
	ki_json_hex(&j, "address", pt->addr);
	ki_json_str(&j, "module", cli_module(pt->sym));
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

int report_values(struct report *r, const struct points *p, double time, double seconds)
{
	const struct point **order = calloc(p->v.n + 1, sizeof(*order));
	size_t n = 0;
	int ret = 0;

	if (!order)
		return -ENOMEM;
	for (size_t i = 0; i < p->v.n; i++)
		if (!p->v.v[i].reason)
			order[n++] = &p->v.v[i];
	qsort(order, n, sizeof(*order), by_value);
	for (size_t i = 0; !ret && i < n; i++) {
		if (r->table)
			text_rows(r, p, order[i], time, seconds);
		else
			ret = json_row(r, p, order[i], time);
	}
	free(order);
	if (!ret && r->table)
		return report_table(r, r->table);
	return ret || fflush(r->out) ? -EIO : 0;
}

int report_refused(struct report *r, const struct points *p)
{
	int ret = 0;

	for (size_t i = 0; !r->table && !ret && i < p->v.n; i++)
		if (p->v.v[i].reason)
			ret = json_row(r, p, &p->v.v[i], 0);
	return ret;
}

int report_hash(struct report *r, const char *when, const char *hash)
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
