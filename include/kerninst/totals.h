/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * The result of the analysis of all functions, for kerninst info.
 */
#ifndef KERNINST_TOTALS_H
#define KERNINST_TOTALS_H

#include "kerninst/program.h"
#include "out/json.h"

/* How many threads an analysis has that may use `wanted` (0: one for each CPU). */
unsigned int totals_threads(unsigned int wanted);

void totals_print(const struct ki_program *p, unsigned int threads);

/* The members of an open object. */
void totals_json(struct ki_json *j, const struct ki_program *p, unsigned int threads);

/* Each function whose code is not fully known. */
void totals_unparsed_print(const struct ki_program *p);
void totals_unparsed_json(struct ki_json *j, const struct ki_program *p);

#endif
