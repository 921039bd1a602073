/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * What a measurement costs, as columns of its result and a row of its own. Without report.cost
 * there is nothing of it.
 */
#ifndef KERNINST_REPORT_COST_H
#define KERNINST_REPORT_COST_H

#include "out/json.h"
#include "stat_table.h"

/* Its columns, at most REPORT_COST_COLUMNS; returns how many. */
#define REPORT_COST_COLUMNS 3
unsigned int report_cost_columns(const struct report *r, struct ki_column *out);

/* A point's cells in them; cpu -1: of all, else they are empty. */
void report_cost_cells(const struct report *r, const struct ki_named_point *pt, int cpu,
		       unsigned int part);

/* The same of one metric, as members of an object. */
void report_cost_json(const struct report *r, struct ki_json *j, const struct ki_cell *c);

/* The row of all: into the table, or as a line of JSON. 0, or -errno. */
int report_overhead(const struct report *r, double time);

/* What was shed: a line of JSON. 0, or -errno. */
int report_shed(const struct report *r, const struct ki_named_point *pt, const struct ki_cell *c,
		double rate, double time);

#endif
