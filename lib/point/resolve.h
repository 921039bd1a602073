/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * From wishes about one function to its points: the inside of points.c.
 */
#ifndef KERNINST_POINTS_GRANT_H
#define KERNINST_POINTS_GRANT_H

#include "cli.h"
#include "points.h"

struct wish {
	const struct ki_symbol *sym;
	const struct ki_pointspec *spec;
	const char *text; /* as written; NULL if that names several things */
	size_t number;
};

/* The wishes about one function. */
struct part {
	size_t first, count;
};

struct resolver {
	struct points *out;
	struct ki_target *t;
	const struct points_how *how;
	ki_vec(struct wish) wishes;
	const struct ki_pointspec *spec; /* the one being matched */
	const char *text;

	/* The function at hand. */
	const struct ki_function *fn;
	struct ki_spans spans;
	size_t first; /* its first point */

	ki_vec(struct part) parts;
	struct cli_progress progress;
	int ret; /* of a step that has failed */
};

/* Add the points of the function at hand that the wish means. CLI_OK, or reported. */
int points_grant(struct resolver *r, const struct wish *w);

#endif
