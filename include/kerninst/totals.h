/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The result of the analysis of all functions, for kerninst info.
 */
#ifndef KERNINST_TOTALS_H
#define KERNINST_TOTALS_H

#include <stdio.h>

#include "kerninst/program.h"

#ifdef __cplusplus
extern "C" {
#endif

struct ki_json;

/* How many threads an analysis has that may use `wanted` (0: one for each CPU). */
unsigned int ki_totals_threads(unsigned int wanted);

void ki_totals_print(const struct ki_program *p, unsigned int threads, FILE *out);

/* The members of an open object. */
void ki_totals_json(struct ki_json *j, const struct ki_program *p, unsigned int threads);

/* Each function whose code is not fully known. */
void ki_totals_unparsed_print(const struct ki_program *p, FILE *out);
void ki_totals_unparsed_json(struct ki_json *j, const struct ki_program *p);

#ifdef __cplusplus
}
#endif

#endif
