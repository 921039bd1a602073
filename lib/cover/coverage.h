/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A coverage while it is made: by who measures, by who reads a file.
 */
#ifndef KI_COVER_COVERAGE_H
#define KI_COVER_COVERAGE_H

#include <stdio.h>

#include "kerninst/coverage.h"

int ki_coverage_new(enum ki_cover_mode mode, struct ki_coverage **out, struct ki_err *err);

/* The coverage's own copy of a text, one for all that are equal. NULL: out of memory, or text is.
 */
const char *ki_coverage_intern(struct ki_coverage *c, const char *text);

/*
 * Append a function with its f->nblocks blocks and f->nedges edges; its strings are copied,
 * first_block and first_edge are set. -EINVAL with err for what contradicts itself: blocks not in
 * order or outside of the function, edges between blocks that are not there, a count of what is
 * unknown, functions not in order of address.
 */
int ki_coverage_append(struct ki_coverage *c, const struct ki_cover_function *f,
		       const struct ki_cover_block *blocks, const struct ki_cover_edge *edges,
		       struct ki_err *err);

/* By module, then by name. */
int ki_cover_by_name(const struct ki_cover_function *a, const struct ki_cover_function *b);

/* All functions in this order, those of one name in order of address; NULL after them. Free it;
   NULL: out of memory. */
const struct ki_cover_function **ki_coverage_by_name(const struct ki_coverage *c);

/* How many of its module and name are before each function. Free it; NULL: out of memory. */
uint32_t *ki_coverage_ordinals(const struct ki_coverage *c);

/* The totals, by name. */
struct ki_cover_total {
	const char *name;
	size_t offset; /* in struct ki_cover_totals */
	enum {
		KI_TOTAL_SUM,
		KI_TOTAL_GIVEN,
		KI_TOTAL_SECONDS
	} kind; /* SUM: of ki_coverage_total */
};
extern const struct ki_cover_total ki_cover_total_names[];
extern const size_t ki_cover_ntotals;

/* "fall", "taken", ...; "?" for what is none. */

/* Of a stream; name is for messages. */
int ki_coverage_parse(FILE *in, const char *name, struct ki_coverage **out, struct ki_err *err);

#define KI_COVERAGE_VERSION 1

/* What opens the last member of the first line, and what ends the last line. */
#define KI_COVERAGE_FUNCTIONS "\"functions\":["
#define KI_COVERAGE_END	      "]}"

#endif
