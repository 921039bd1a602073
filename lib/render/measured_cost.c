// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "render/measured_cost.h"

#include <errno.h>

unsigned int ki_measured_cost_columns(const struct ki_measured *r, struct ki_column *out)
{
	static const struct ki_column columns[MEASURED_COST_COLUMNS] = {
		{"COST/S", KI_ALIGN_RIGHT, 10},
		{"MACHINE", KI_ALIGN_RIGHT, 8},
		{"SEEN", KI_ALIGN_RIGHT, 7},
	};
	unsigned int n = !r->cost ? 0 : r->budget > 0 ? 3 : 2;

	for (unsigned int i = 0; i < n; i++)
		out[i] = columns[i];
	return n;
}

static double rate(const struct ki_costs *c, double instructions)
{
	return c->seconds > 0 ? instructions / c->seconds : 0;
}

/* The least of its metrics: what is shed was not seen all the time. */
static double seen(const struct ki_costs *c, const struct ki_named_point *pt, unsigned int part)
{
	const struct ki_cell *v = &c->points->cells.v[pt->cell];
	double least = 1;

	for (unsigned int i = 0; i < pt->ncells; i++)
		if (v[i].part == part && ki_cost_seen(c, &v[i]) < least)
			least = ki_cost_seen(c, &v[i]);
	return least;
}

static void put_cost(const struct ki_measured *r, double instructions)
{
	ki_table_cell(r->table, "%.0f", rate(r->cost, instructions));
	ki_table_cell(r->table, "%.3f%%", 100 * ki_cost_share(r->cost, instructions));
}

void ki_measured_cost_cells(const struct ki_measured *r, const struct ki_named_point *pt, int cpu,
			    unsigned int part)
{
	if (!r->cost)
		return;
	if (cpu >= 0) {
		ki_table_cell(r->table, "-");
		ki_table_cell(r->table, "-");
	} else {
		put_cost(r, ki_cost_point(r->cost, pt, part));
	}
	if (r->budget > 0)
		ki_table_cell(r->table, "%.1f%%", 100 * seen(r->cost, pt, part));
}

void ki_measured_cost_json(const struct ki_measured *r, struct ki_json *j, const struct ki_cell *c)
{
	if (!r->cost || c->reason)
		return;
	ki_json_double(j, "cost_per_second", rate(r->cost, ki_cost_cell(r->cost, c)));
	ki_json_double(j, "seen", ki_cost_seen(r->cost, c));
}

static int overhead_json(const struct ki_measured *r, double time)
{
	const struct ki_costs *c = r->cost;
	struct ki_json j;

	ki_json_init(&j, r->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "metric", "overhead");
	ki_json_str(&j, "point", "all");
	ki_json_double(&j, "value", ki_cost_share(c, ki_cost_all(c)));
	if (r->budget > 0)
		ki_json_double(&j, "budget", r->budget);
	ki_json_double(&j, "inserted", ki_cost_inserted(c));
	ki_json_double(&j, "own_seconds", c->own);
	ki_json_double(&j, "cost_per_second", rate(c, ki_cost_all(c)));
	ki_json_double(&j, "machine", c->speed * c->cpus);
	if (r->timed)
		ki_json_double(&j, "time", time);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

/* Nothing in the columns that are not about costs. */
static void empty_cells(const struct ki_measured *r, unsigned int n)
{
	while (n-- > 0)
		ki_table_cell(r->table, "-");
}

int ki_measured_overhead(const struct ki_measured *r, double time)
{
	static const unsigned int more[KI_SHAPES] = {[KI_SHAPE_BLOCKS] = 4, [KI_SHAPE_EDGES] = 3};
	unsigned int values = 0;

	if (!r->cost)
		return 0;
	if (!r->table)
		return overhead_json(r, time);
	for (unsigned int i = 0; i < r->ncolumns; i++)
		values += r->columns[i].rated ? 2 : 1;
	if (r->timed)
		ki_table_cell(r->table, "%.3f", time);
	if (r->per_cpu)
		ki_table_cell(r->table, "all");
	empty_cells(r, values);
	put_cost(r, ki_cost_all(r->cost));
	if (r->budget > 0)
		ki_table_cell(r->table, "-");
	empty_cells(r, r->split);
	ki_table_cell(r->table, "overhead");
	empty_cells(r, 1 + more[r->shape]);
	return 0;
}

int ki_measured_skipped(const struct ki_measured *r, uint64_t n)
{
	struct ki_json j;

	if (r->table || !n)
		return 0;
	ki_json_init(&j, r->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "metric", "skipped");
	ki_json_str(&j, "point", "all");
	ki_json_u64(&j, "value", n);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}

int ki_measured_shed(const struct ki_measured *r, const struct ki_named_point *pt,
		     const struct ki_cell *c, double cost, double time)
{
	struct ki_json j;

	if (r->table)
		return 0;
	ki_json_init(&j, r->out);
	ki_json_open(&j, NULL, '{');
	ki_json_str(&j, "metric", "shed");
	ki_json_str(&j, "point", pt->name);
	ki_json_str(&j, "of", c->metric->name);
	if (r->split)
		ki_json_str(&j, "part", ki_points_part(r->cost->points, c->part));
	ki_json_double(&j, "cost_per_second", cost);
	ki_json_double(&j, "time", time);
	ki_json_close(&j);
	return ki_json_end_line(&j);
}
