// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A histogram of an argument's values: a table by value, counted before the function.
 */
#include <errno.h>
#include <stdlib.h>

#include "kerninst/special.h"
#include "kerninst/table.h"

#define ROWS 4096

struct counter {
	struct ki_table_map *table;
	struct ki_plan *plan;
	struct ki_function *fn;
	struct ki_spans spans;
	struct ki_place *place;
	bool half; /* the argument has 32 bits */
};

/* table[argument] += 1 */
static int make_snippet(const struct counter *c, unsigned int argument, struct ki_snippet **out)
{
	const struct ki_table_var var = ki_table_var_of(c->table, "values");
	struct ki_row_value row = {.table = &var, .nkeys = 1};
	struct ki_node *key;

	if (ki_snippet_new(out))
		return -ENOMEM;
	key = ki_expr_param(*out, argument);
	if (c->half)
		key = ki_expr_cast(*out, KI_I32, key);
	row.keys = &key;
	ki_snippet_body(*out,
			ki_stmt_table(*out, KI_TABLE_ADD, &row, ki_expr_const(*out, KI_U64, 1)));
	return 0;
}

static int plan(struct counter *c, const struct ki_special_watch *w, struct ki_err *err)
{
	const struct ki_point entry = {.kind = KI_POINT_ENTRY};
	struct ki_site_regs site;
	struct ki_snippet *snippet;
	uint32_t id;
	size_t n;
	int ret = ki_point_places(c->fn, &c->spans, &entry, &c->place, &n, err);

	if (ret)
		return ret;
	if (c->place->reason)
		return ki_err_reason(err, c->place->reason, w->sym->addr, "%s", w->sym->name);
	if (ki_plan_new(&c->plan) || make_snippet(c, w->argument, &snippet))
		return ki_err_set(err, -ENOMEM, w->sym->addr, "values: out of memory");
	ki_place_site(c->fn, c->place, NULL, &site);
	ret = ki_plan_add_snippet(c->plan, &(struct ki_insertion){c->fn, &c->spans, c->place, 0},
				  snippet, &site, &id, err);
	ki_snippet_free(snippet);
	return ret;
}

static int start(struct ki_target *t, const struct ki_special_watch *w, struct counter *c,
		 struct ki_err *err)
{
	const struct ki_table_options o = {.size = sizeof(o), .keys = 1, .values = 1, .rows = ROWS};
	int ret = ki_function_analyze(t, w->sym, &c->fn, err);

	c->half = ki_special_is_half(t, w->sym, w->argument);
	if (!ret)
		ret = ki_spans_find(c->fn, &c->spans, err);
	if (!ret)
		ret = ki_table_map_new(t, &o, &c->table, err);
	if (!ret)
		ret = plan(c, w, err);
	return ret ? ret : ki_plan_apply(c->plan, t, false, err);
}

static int take(const struct counter *c, struct ki_special_value **out, size_t *n, uint64_t *calls,
		struct ki_err *err)
{
	struct ki_table_reading *r;
	int ret = ki_table_read(c->table, &r, err);

	if (ret)
		return ret;
	ki_table_sort(r, 0, false);
	*out = calloc(r->n + 1, sizeof(**out));
	*calls = r->lost;
	*n = *out ? r->n : 0;
	for (size_t i = 0; i < *n; i++) {
		(*out)[i] = (struct ki_special_value){*ki_table_key(r, i), *ki_table_values(r, i)};
		*calls += (*out)[i].calls;
	}
	ki_table_reading_free(r);
	return *out ? 0 : ki_err_set(err, -ENOMEM, 0, "values: out of memory");
}

int ki_special_values(struct ki_target *t, const struct ki_special_watch *w,
		      struct ki_special_value **out, size_t *n, uint64_t *calls, struct ki_err *err)
{
	struct counter c = {0};
	int ret = ki_special_register(w->argument);
	bool all = true;

	*out = NULL;
	ret = ret < 0 ? ki_err_set(err, ret, w->sym->addr,
				   "%s: there is no argument %u in a register", w->sym->name,
				   w->argument)
		      : start(t, w, &c, err);
	if (!ret) {
		all = w->wait(w->arg, w->seconds);
		ret = ki_plan_remove(c.plan, t, err);
	}
	if (!ret)
		ret = all ? take(&c, out, n, calls, err)
			  : ki_err_set(err, -ECANCELED, w->sym->addr,
				       "stopped; nothing has changed");
	ki_plan_free(c.plan);
	ki_table_map_free(c.table);
	free(c.place);
	ki_spans_free(&c.spans);
	ki_function_free(c.fn);
	return ret;
}
