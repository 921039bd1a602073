/* SPDX-License-Identifier: GPL-2.0-only */
/*
 * Random trees while they grow: what their expressions and their statements share.
 */
#ifndef COMMON_GROW_H
#define COMMON_GROW_H

#include "common_snippet.h"

struct grow {
	struct ki_snippet *s;
	const struct snip_case *c;
	int left; /* nodes */
};

static inline unsigned int grow_below(unsigned int n)
{
	return (unsigned int)(exec_random() >> 33) % n;
}

/* A variable; vectors[n]'s, or the histogram's, among the counters of the case. */
#define GROW_VECTORS   2
#define GROW_HISTOGRAM GROW_VECTORS
struct ki_var grow_scalar(const struct grow *g, unsigned int kind);
struct ki_var grow_counters(const struct grow *g, unsigned int n);

/* An expression; one without others in it; one that is an index of a vector now and then. */
struct ki_node *grow_expr(struct grow *g, unsigned int depth);
struct ki_node *grow_leaf(struct grow *g);
struct ki_node *grow_index(struct grow *g, unsigned int depth);

/* A word, or a string of one and up to `room` more. */
struct ki_node *grow_value(struct grow *g, unsigned int depth, unsigned int room,
			   unsigned int *more);

/* A few words of a key; and now and then as many as there can be. */
struct ki_table_var grow_table(struct grow *g, bool shared, struct ki_node **key,
			       unsigned int *nkeys, unsigned int depth);

#endif
