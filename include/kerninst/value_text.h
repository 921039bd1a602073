/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Measured values as people read them: with units, histograms as bars.
 */
#ifndef KERNINST_VALUES_H
#define KERNINST_VALUES_H

#include <stdio.h>

#include "out/seconds.h"
#include "points.h"

#define VALUE_LEN KI_SECONDS_TEXT

/* "1.23 ms", "17", "0.50"; "-": there is none. Of one CPU, if c->cpus is there, or of all: -1.
   Returns text. */
char *value_format(const struct ki_cell *c, int cpu, char text[VALUE_LEN]);

/* The same for each second. */
char *value_format_rate(const struct ki_cell *c, int cpu, double seconds, char text[VALUE_LEN]);

/* A histogram, of a part (NULL: of all): a line for each bucket from the first to the last that is
 * not empty. */
void value_draw(FILE *out, const struct ki_named_point *p, const struct ki_cell *c,
		const char *part);

/* What has been counted on one CPU, or on all: -1. */
uint64_t value_count(const struct ki_cell *c, int cpu);

/* All that it has counted. */
uint64_t value_sum(const struct ki_cell *c);

#endif
