// SPDX-License-Identifier: GPL-2.0-only
#include "record/record_code.h"

#include <stdlib.h>
#include <string.h>

#include "cli.h"

typedef ki_vec(const struct ki_symbol *) symbols;

static int by_symbol(const void *a, const void *b)
{
	const struct ki_symbol *x = *(const struct ki_symbol *const *)a;
	const struct ki_symbol *y = *(const struct ki_symbol *const *)b;

	return (x > y) - (x < y);
}

static int add_symbols(symbols *v, const struct record_group *g)
{
	for (size_t i = 0; i < g->points.v.n; i++) {
		const struct ki_named_point *p = &g->points.v.v[i];

		if (!ki_points_first(&g->points, p)->reason && ki_vec_push(v, p->sym))
			return cli_no_memory();
	}
	return CLI_OK;
}

/* Each once, in order of address. */
static void settle(symbols *v)
{
	size_t kept = 0;

	if (v->n)
		qsort(v->v, v->n, sizeof(*v->v), by_symbol);
	for (size_t i = 0; i < v->n; i++)
		if (!kept || v->v[i] != v->v[kept - 1])
			v->v[kept++] = v->v[i];
	v->n = kept;
}

static bool has_module(const struct record_code *c, const char *name)
{
	for (size_t i = 0; i < c->nmodules; i++)
		if (!strcmp(c->modules[i].name, name))
			return true;
	return false;
}

static void find_modules(struct record_code *c)
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

static int find(struct record_code *c, struct ki_target *t, const symbols *v)
{
	struct ki_err err = {0};

	c->functions = calloc(v->n + 1, sizeof(*c->functions));
	c->modules = calloc(v->n + 1, sizeof(*c->modules));
	c->builds = calloc(v->n + 1, sizeof(*c->builds));
	if (!c->functions || !c->modules || !c->builds)
		return cli_no_memory();
	if (ki_record_functions_find(t, v->v, v->n, c->functions, &err))
		return cli_fail(&err);
	c->nfunctions = v->n;
	find_modules(c);
	return CLI_OK;
}

int record_code_find(struct record_code *c, struct ki_target *t, const struct record_group *groups,
		     size_t n)
{
	symbols v = {0};
	int ret = CLI_OK;

	for (size_t i = 0; !ret && i < n; i++)
		if (!groups[i].process)
			ret = add_symbols(&v, &groups[i]);
	settle(&v);
	if (!ret)
		ret = find(c, t, &v);
	ki_vec_free(&v);
	return ret;
}

void record_code_free(struct record_code *c)
{
	free(c->functions);
	free(c->modules);
	free(c->builds);
	*c = (struct record_code){0};
}

int record_code_write(const struct record_code *c, struct ki_record_file *f)
{
	int ret = ki_record_modules(f, c->modules, c->nmodules);

	return ret ? ret : ki_record_functions(f, c->functions, c->nfunctions);
}
