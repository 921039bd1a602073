/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
#include "util/sort.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#define DIGITS 8
#define BASE   256

static bool sorted(const struct ki_sort_item *v, size_t n)
{
	for (size_t i = 1; i < n; i++)
		if (v[i].key < v[i - 1].key)
			return false;
	return true;
}

static void count(const struct ki_sort_item *v, size_t n, size_t hist[DIGITS][BASE])
{
	for (size_t i = 0; i < n; i++)
		for (int d = 0; d < DIGITS; d++)
			hist[d][v[i].key >> (8 * d) & 0xff]++;
}

/* One pass of the radix sort; hist becomes the places. */
static void scatter(const struct ki_sort_item *from, struct ki_sort_item *to, size_t n,
		    size_t hist[BASE], int digit)
{
	size_t at = 0;

	for (int b = 0; b < BASE; b++) {
		size_t here = hist[b];

		hist[b] = at;
		at += here;
	}
	for (size_t i = 0; i < n; i++)
		to[hist[from[i].key >> (8 * digit) & 0xff]++] = from[i];
}

int ki_sort(struct ki_sort_item *v, size_t n)
{
	struct ki_sort_item *from = v, *to, *tmp;
	size_t(*hist)[BASE];

	if (sorted(v, n))
		return 0;
	tmp = malloc(n * sizeof(*tmp));
	hist = calloc(DIGITS, sizeof(*hist));
	if (!tmp || !hist) {
		free(tmp);
		free(hist);
		return -ENOMEM;
	}
	count(v, n, hist);
	to = tmp;
	for (int d = 0; d < DIGITS; d++) {
		if (hist[d][v[0].key >> (8 * d) & 0xff] == n)
			continue;
		scatter(from, to, n, hist[d], d);
		from = to;
		to = from == v ? tmp : v;
	}
	if (from != v)
		memcpy(v, from, n * sizeof(*v));
	free(tmp);
	free(hist);
	return 0;
}
