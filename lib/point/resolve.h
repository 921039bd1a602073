/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * From requests about one function to its points: the inside of points.c.
 */
#ifndef KERNINST_POINTS_RESOLVE_H
#define KERNINST_POINTS_RESOLVE_H

#include "kerninst/points.h"
#include "util/vec.h"

struct request {
	const struct ki_symbol *sym;
	const struct ki_pointspec *spec;
	const char *text; /* as written; NULL if that names several things */
	size_t number;
};

/* The requests about one function. */
struct part {
	size_t first, count;
};

struct resolver {
	struct ki_points *out;
	struct ki_target *t;
	const struct ki_points_how *how;
	ki_vec(struct request) requests;
	const struct ki_pointspec *spec; /* the one being matched */
	const char *text;

	/* The function at hand. */
	const struct ki_function *fn;
	struct ki_spans spans;
	size_t first; /* its first point */

	ki_vec(struct part) parts;
	int ret; /* of a step that has failed */
	struct ki_err *err;
};

/* Add the points of the function at hand that the request means. 0, or -errno. */
int ki_points_expand(struct resolver *r, const struct request *w);

#endif
