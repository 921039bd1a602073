// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * A program from its text to its end.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "dlang/check/tree.h"
#include "dlang/run/run.h"
#include "dlang/probe/user.h"

static int copy_args(struct ki_dlang *d, const struct ki_dlang_options *o)
{
	if (!o->nargs)
		return 0;
	d->args = calloc(o->nargs, sizeof(*d->args));
	if (!d->args)
		return -ENOMEM;
	for (unsigned int i = 0; i < o->nargs; i++) {
		d->args[i] = strdup(o->args[i]);
		if (!d->args[i])
			return -ENOMEM;
	}
	return 0;
}

/* NAME[=VALUE] */
static int set_option(struct ki_dlang *d, const char *text, struct ki_err *err)
{
	char name[64];
	size_t n = strcspn(text, "=");
	int ret = -ENOENT;

	if (n < sizeof(name)) {
		memcpy(name, text, n);
		name[n] = 0;
		ret = ki_d_option(&d->set, name, text[n] ? text + n + 1 : NULL, KI_D_AT_START);
	}
	return ret ? ki_err_set(err, ret, 0, "failed to set -x %.*s: %s", (int)n, text,
				ki_d_option_why(ret))
		   : 0;
}

static int take_options(struct ki_dlang *d, const struct ki_dlang_options *o, struct ki_err *err)
{
	int ret = 0;

	ki_d_settings_default(&d->set);
	if (!o)
		return 0;
	if (o->size != sizeof(*o))
		return ki_err_set(err, -EINVAL, 0, "D: options of %zu bytes, %zu are expected",
				  o->size, sizeof(*o));
	d->o = *o;
	d->types.path = o->btf ? strdup(o->btf) : NULL;
	d->name = o->name ? strdup(o->name) : NULL;
	if ((o->btf && !d->types.path) || (o->name && !d->name))
		return ki_d_no_memory(err);
	for (unsigned int i = 0; !ret && i < o->nset; i++)
		ret = set_option(d, o->set[i], err);
	if (ret)
		return ret;
	return copy_args(d, o) ? ki_d_no_memory(err) : 0;
}

int ki_dlang_new(const char *text, const struct ki_dlang_options *o, struct ki_dlang **out,
		 struct ki_err *err)
{
	struct ki_dlang *d = calloc(1, sizeof(*d));
	bool in_text;
	int ret;

	*out = NULL;
	if (!d)
		return ki_d_no_memory(err);
	d->text = strdup(text);
	ret = d->text ? take_options(d, o, err) : ki_d_no_memory(err);
	in_text = !ret;
	if (!ret)
		ret = ki_d_source(d, err);
	if (!ret)
		ret = ki_d_parse(d, err);
	if (!ret) {
		ki_d_tree_print(d, KI_D_TREE_READ);
		ret = ki_d_check(d, err);
	}
	if (!ret) {
		ki_d_tree_print(d, KI_D_TREE_CHECKED);
		ki_d_tree_print(d, KI_D_TREE_COOKED);
	}
	if (!ret && d->o.harmless && d->destroys)
		ret = ki_d_destroys(err);
	if (in_text && !d->where.tag && ret == -EINVAL)
		ki_d_where(d, 0, 0);
	if (ret && o && o->where)
		*o->where = d->where;
	if (ret)
		ki_dlang_free(d);
	else
		*out = d;
	return ret;
}

static void free_vars(struct ki_dlang *d)
{
	for (size_t i = 0; i < d->vars.n; i++) {
		free(d->vars.v[i]->name);
		ki_table_map_free(d->vars.v[i]->table);
		free(d->vars.v[i]);
	}
	ki_vec_free(&d->vars);
}

static void free_aggs(struct ki_dlang *d)
{
	for (size_t i = 0; i < d->aggs.n; i++) {
		struct ki_d_agg *a = d->aggs.v[i];

		free(a->name);
		for (size_t k = 0; k < a->base.n; k++)
			free(a->base.v[k].values);
		ki_vec_free(&a->base);
		ki_table_map_free(a->table);
		ki_vec_free(&a->cells);
		ki_d_index_free(&a->by_key);
		free(a);
	}
	ki_vec_free(&d->aggs);
}

static void free_probes(struct ki_dlang *d)
{
	for (size_t i = 0; i < d->probes.n; i++) {
		struct ki_d_probe *p = &d->probes.v[i];

		ki_d_hook_end(p);
		ki_d_user_free(p->hook ? p->hook->user : NULL);
		free(p->hook);
		free(p->point);
		free(p->owned);
	}
	ki_vec_free(&d->probes);
}

void ki_dlang_free(struct ki_dlang *d)
{
	if (!d)
		return;
	ki_d_run_free(d->run);
	free_vars(d);
	free_aggs(d);
	for (size_t i = 0; i < d->patterns.n; i++)
		for (int f = 0; f < 4; f++)
			free(d->patterns.v[i].field[f]);
	free_probes(d);
	for (size_t i = 0; i < d->strings.n; i++)
		free(d->strings.v[i]);
	for (unsigned int i = 0; d->args && i < d->o.nargs; i++)
		free(d->args[i]);
	free(d->name);
	ki_d_processes_free(d);
	ki_vec_free(&d->marks);
	for (size_t i = 0; i < d->abouts.n; i++)
		free(d->abouts.v[i].name);
	ki_vec_free(&d->abouts);
	ki_vec_free(&d->patterns);
	ki_vec_free(&d->clauses);
	ki_vec_free(&d->actions);
	ki_vec_free(&d->batches);
	ki_vec_free(&d->uses);
	ki_vec_free(&d->statements);
	ki_vec_free(&d->strings);
	ki_vec_free(&d->symbols);
	for (size_t i = 0; i < d->constants.n; i++)
		free(d->constants.v[i].text);
	ki_vec_free(&d->constants);
	ki_d_index_free(&d->by_text);
	ki_d_inlines_free(d);
	ki_d_translators_free(d);
	ki_d_written_free(d);
	ki_d_pool_free(&d->pool);
	ki_d_types_free(&d->types);
	free(d->args);
	free(d->text);
	free(d);
}

const char *ki_dlang_reason(const struct ki_err *err)
{
	const char *text = err->msg, *end;

	if (strncmp(text, "D: ", 3) != 0)
		return text;
	text += 3;
	end = strstr(text, "column ");
	if (end == text || (end && !strncmp(text, "line ", 5)))
		text = strstr(end, ": ") ? strstr(end, ": ") + 2 : text;
	return text;
}

unsigned int ki_d_strsize(const struct ki_dlang *d)
{
	return (unsigned int)d->set.strsize;
}

static bool is_text(const void *strings, uint32_t i, const void *text)
{
	char *const *v = strings;

	return !strcmp(v[i], text);
}

uint64_t ki_d_string_number(struct ki_dlang *d, const char *text)
{
	uint64_t hash = ki_d_hash(text, strlen(text));
	uint32_t i = ki_d_index_find(&d->by_text, hash, is_text, d->strings.v, text);
	char *copy;

	if (i != UINT32_MAX)
		return i + 1;
	copy = strdup(text);
	if (!copy || ki_vec_push(&d->strings, copy)) {
		free(copy);
		return 0;
	}
	ki_d_index_add(&d->by_text, hash, (uint32_t)d->strings.n - 1);
	return d->strings.n;
}
