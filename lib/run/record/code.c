// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "run/record/inside.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

typedef ki_vec(const struct ki_symbol *) symbols;

static int by_symbol(const void *a, const void *b)
{
	const struct ki_symbol *x = *(const struct ki_symbol *const *)a;
	const struct ki_symbol *y = *(const struct ki_symbol *const *)b;

	return (x > y) - (x < y);
}

static int add_symbols(symbols *v, const struct ki_recorder_group *g)
{
	for (size_t i = 0; i < g->points.v.n; i++) {
		const struct ki_named_point *p = &g->points.v.v[i];

		if (!ki_points_first(&g->points, p)->reason && ki_vec_push(v, p->sym))
			return -ENOMEM;
	}
	return 0;
}

/* Each once, in order of address. */
static void make_unique(symbols *v)
{
	size_t kept = 0;

	if (v->n)
		qsort(v->v, v->n, sizeof(*v->v), by_symbol);
	for (size_t i = 0; i < v->n; i++)
		if (!kept || v->v[i] != v->v[kept - 1])
			v->v[kept++] = v->v[i];
	v->n = kept;
}

static bool has_module(const struct ki_recorder_code *c, const char *name)
{
	for (size_t i = 0; i < c->nmodules; i++)
		if (!strcmp(c->modules[i].name, name))
			return true;
	return false;
}

static void find_modules(struct ki_recorder_code *c)
{
	for (size_t i = 0; i < c->nfunctions; i++) {
		const char *name = c->functions[i].module;
		char *build = c->builds[c->nmodules];

		if (!*name || has_module(c, name))
			continue;
		ki_record_module_build(name, build, sizeof(*c->builds));
		c->modules[c->nmodules++] = (struct ki_record_module){name, build};
	}
}

static int find(struct ki_recorder_code *c, struct ki_target *t, const symbols *v,
		struct ki_err *err)
{
	int ret;

	c->functions = calloc(v->n + 1, sizeof(*c->functions));
	c->modules = calloc(v->n + 1, sizeof(*c->modules));
	c->builds = calloc(v->n + 1, sizeof(*c->builds));
	if (!c->functions || !c->modules || !c->builds)
		return -ENOMEM;
	ret = ki_record_functions_find(t, v->v, v->n, c->functions, err);
	if (ret)
		return ret;
	c->nfunctions = v->n;
	find_modules(c);
	return 0;
}

int recorder_code_find(struct ki_recorder_code *c, struct ki_target *t,
		       const struct ki_recorder_group *groups, size_t n, struct ki_err *err)
{
	symbols v = {0};
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++)
		if (!groups[i].process)
			ret = add_symbols(&v, &groups[i]);
	make_unique(&v);
	if (!ret)
		ret = find(c, t, &v, err);
	ki_vec_free(&v);
	return ret;
}

void recorder_code_free(struct ki_recorder_code *c)
{
	free(c->functions);
	free(c->modules);
	free(c->builds);
	*c = (struct ki_recorder_code){0};
}

int recorder_code_write(const struct ki_recorder_code *c, struct ki_record_file *f)
{
	int ret = ki_record_modules(f, c->modules, c->nmodules);

	return ret ? ret : ki_record_functions(f, c->functions, c->nfunctions);
}
