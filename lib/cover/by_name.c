// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <stdlib.h>
#include <string.h>

#include "cover/coverage.h"

static const char *module_of(const struct ki_cover_function *f)
{
	return f->module ? f->module : "";
}

int ki_cover_by_name(const struct ki_cover_function *a, const struct ki_cover_function *b)
{
	int order = strcmp(module_of(a), module_of(b));

	return order ? order : strcmp(a->name, b->name);
}

static int in_order(const void *a, const void *b)
{
	const struct ki_cover_function *fa = *(const struct ki_cover_function *const *)a;
	const struct ki_cover_function *fb = *(const struct ki_cover_function *const *)b;
	int order = ki_cover_by_name(fa, fb);

	if (order)
		return order;
	return fa < fb ? -1 : fa > fb; /* the array is in order of address */
}

const struct ki_cover_function **ki_coverage_by_name(const struct ki_coverage *c)
{
	const struct ki_cover_function **v = calloc(c->nfunctions + 1, sizeof(*v));

	if (!v)
		return NULL;
	for (size_t i = 0; i < c->nfunctions; i++)
		v[i] = &c->functions[i];
	qsort(v, c->nfunctions, sizeof(*v), in_order);
	return v;
}

uint32_t *ki_coverage_ordinals(const struct ki_coverage *c)
{
	const struct ki_cover_function **v = ki_coverage_by_name(c);
	uint32_t *n = calloc(c->nfunctions + 1, sizeof(*n));

	for (size_t i = 1; v && n && i < c->nfunctions; i++)
		if (!ki_cover_by_name(v[i - 1], v[i]))
			n[v[i] - c->functions] = n[v[i - 1] - c->functions] + 1;
	if (!v) {
		free(n);
		n = NULL;
	}
	free(v);
	return n;
}
