/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * Disjoint sets of numbers 0 to n - 1. The least of a set stands for it.
 */
#ifndef KI_COVER_SETS_H
#define KI_COVER_SETS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* Each number by itself. Free with free(). */
static inline uint32_t *ki_sets_new(uint32_t n)
{
	uint32_t *set = malloc((n + (size_t)1) * sizeof(*set));

	for (uint32_t v = 0; set && v < n; v++)
		set[v] = v;
	return set;
}

static inline uint32_t ki_sets_find(uint32_t *set, uint32_t v)
{
	while (set[v] != v)
		v = set[v] = set[set[v]];
	return v;
}

/* false: they were one before. */
static inline bool ki_sets_join(uint32_t *set, uint32_t a, uint32_t b)
{
	a = ki_sets_find(set, a);
	b = ki_sets_find(set, b);
	set[a < b ? b : a] = a < b ? a : b;
	return a != b;
}

#endif
