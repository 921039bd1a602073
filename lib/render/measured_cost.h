/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * What a measurement costs, as columns of its result and a row of its own. Without cost
 * there is nothing of it.
 */
#ifndef KI_RENDER_MEASURED_COST_H
#define KI_RENDER_MEASURED_COST_H

#include "kerninst/measured.h"
#include "out/json.h"
#include "out/table.h"

/* Its columns, at most MEASURED_COST_COLUMNS; returns how many. */
#define MEASURED_COST_COLUMNS 3
unsigned int ki_measured_cost_columns(const struct ki_measured *r, struct ki_column *out);

/* A point's cells in them; cpu -1: of all, else they are empty. */
void ki_measured_cost_cells(const struct ki_measured *r, const struct ki_named_point *pt, int cpu,
			    unsigned int part);

/* The same of one metric, as members of an object. */
void ki_measured_cost_json(const struct ki_measured *r, struct ki_json *j, const struct ki_cell *c);

/* The row of all: into the table, or as a line of JSON. 0, or -errno. */
int ki_measured_overhead(const struct ki_measured *r, double time);

#endif
