/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Measured values as people read them: with units, histograms as bars.
 */
#ifndef KERNINST_VALUE_TEXT_H
#define KERNINST_VALUE_TEXT_H

#include <stdio.h>

#include "kerninst/points.h"

#ifdef __cplusplus
extern "C" {
#endif

#define KI_VALUE_TEXT 32

/* "1.23 ms", "17", "0.50"; "-": there is none. Of one CPU, if c->cpus is there, or of all: -1.
   Returns text. */
char *ki_value_text(const struct ki_cell *c, int cpu, char text[KI_VALUE_TEXT]);

/* The same for scripts: times in seconds, as plain numbers. */
char *ki_value_plain(const struct ki_cell *c, int cpu, char text[KI_VALUE_TEXT]);

/* The same for each second. */
char *ki_value_rate(const struct ki_cell *c, int cpu, double seconds, char text[KI_VALUE_TEXT]);

/* A histogram, of a part (NULL: of all): a line for each bucket from the first to the last that is
 * not empty. */
void ki_value_draw(FILE *out, const struct ki_named_point *p, const struct ki_cell *c,
		   const char *part);

/* What has been counted on one CPU, or on all: -1. */
uint64_t ki_value_count(const struct ki_cell *c, int cpu);

/* All that it has counted. */
uint64_t ki_value_sum(const struct ki_cell *c);

#ifdef __cplusplus
}
#endif

#endif
