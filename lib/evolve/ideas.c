// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Policies of the service: what could be done for a function that is hot.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "evolve/inside.h"
#include "evolve/special/inside.h"
#include "module/types.h"

/* ---- layouts ---- */

static int put_layout_in(void *own, struct ki_err *err)
{
	return ki_evolve_install(own, err);
}

static int take_layout_out(void *own, struct ki_err *err)
{
	return ki_evolve_undo(own, err);
}

static void free_layout(void *own)
{
	ki_evolve_free(own);
}

/* The first n functions. Of more than one those that cannot be laid out are left out. */
static int lay_out(const struct ki_evolve_case *c, size_t n, bool apart, struct ki_evolve **out,
		   struct ki_err *err)
{
	struct ki_evolve_options o = c->service->choice;
	struct ki_evolve_forecast forecast;
	size_t added = 0;
	int ret;

	o.apart = apart;
	ret = ki_evolve_new(c->t, &o, out, err);
	for (size_t i = 0; i < n && !ret; i++) {
		struct ki_err why = {0};
		const int one =
			ki_evolve_add(*out, c->profile, c->hot[i].sym, &forecast, i ? &why : err);

		added += !one;
		ret = !i || one == -ENOMEM ? one : 0;
	}
	if (!ret && n > 1 && added < 2)
		ret = -ENODATA;
	return ret ? ret : ki_evolve_check(*out, err);
}

static int propose(const struct ki_evolve_case *c, size_t n, bool apart, struct ki_evolve_idea *out,
		   struct ki_err *err)
{
	struct ki_evolve *e = NULL;
	int ret = lay_out(c, n, apart, &e, err);

	if (ret) {
		ki_evolve_free(e);
		return ret;
	}
	*out = (struct ki_evolve_idea){
		n > 1 ? "group" : "layout", n, put_layout_in, take_layout_out, free_layout, e};
	return 0;
}

int ki_evolve_propose_layout(const struct ki_evolve_case *c, struct ki_evolve_idea *out,
			     struct ki_err *err)
{
	return propose(c, 1, c->service->choice.apart, out, err);
}

int ki_evolve_propose_group(const struct ki_evolve_case *c, struct ki_evolve_idea *out,
			    struct ki_err *err)
{
	return c->n > 1 ? propose(c, c->n, false, out, err) : -ENODATA;
}

/* ---- versions for a value ---- */

#define SHARE 0.5 /* of the calls: the guard costs the others two instructions */

/* It has a session of its own: to load a module makes a target's symbols others. */
struct version {
	struct ki_target *t;
	struct ki_special *special;
};

static int put_version_in(void *own, struct ki_err *err)
{
	struct version *v = own;

	return ki_special_install(v->special, err);
}

static int take_version_out(void *own, struct ki_err *err)
{
	struct version *v = own;

	return ki_special_leave(v->special, err);
}

static void free_version(void *own)
{
	struct version *v = own;

	if (v) {
		ki_special_free(v->special);
		ki_target_free(v->t);
	}
	free(v);
}

/* Its most frequent value, if that is frequent enough and decides something: 0; -ENODATA. */
static int make_version(struct version *v, const struct ki_evolve_case *c,
			struct ki_special_watch *w, struct ki_err *err)
{
	struct ki_special_request request = {.sym = w->sym, .argument = w->argument};
	struct ki_special_value *values;
	struct ki_err why = {0};
	uint64_t calls, most;
	size_t n;
	int ret = ki_special_values(v->t, w, &values, &n, &calls, err);

	if (ret)
		return ret;
	most = n ? values[0].calls : 0;
	request.value = n ? values[0].value : 0;
	request.callers = c->service->choice.retarget;
	free(values);
	if (!most || (double)most < SHARE * (double)calls)
		return -ENODATA;
	ret = ki_special_new(v->t, &request, &v->special, &why);
	return ret == -ENOMEM ? ki_err_set(err, ret, 0, "%s", why.msg) : ret ? -ENODATA : 0;
}

/* The first argument that is a number of which one value is frequent. */
static int choose_version(struct version *v, const struct ki_evolve_case *c, struct ki_err *err)
{
	const struct ki_symbol *sym = c->hot->sym;
	struct ki_special_watch w = {.sym = ki_target_symbol_at(v->t, sym->addr),
				     .seconds = c->service->seconds,
				     .wait = c->service->search.wait,
				     .arg = c->service->search.arg};
	struct ki_argument arguments[KI_SPECIAL_ARGUMENTS];
	int ret = -ENODATA;

	if (!w.sym || strcmp(w.sym->name, sym->name))
		return -ENODATA;
	ki_kernel_arguments(sym->module, sym->name, arguments, KI_SPECIAL_ARGUMENTS);
	for (; w.argument < KI_SPECIAL_ARGUMENTS && ret == -ENODATA; w.argument++)
		if (arguments[w.argument].bytes && arguments[w.argument].number)
			ret = make_version(v, c, &w, err);
	return ret;
}

int ki_evolve_propose_version(const struct ki_evolve_case *c, struct ki_evolve_idea *out,
			      struct ki_err *err)
{
	struct version *v = calloc(1, sizeof(*v));
	int ret = v ? ki_target_new_live(&v->t, err)
		    : ki_err_set(err, -ENOMEM, 0, "version: out of memory");

	if (!ret)
		ret = choose_version(v, c, err);
	if (ret)
		free_version(v);
	else
		*out = (struct ki_evolve_idea){"version",    1, put_version_in, take_version_out,
					       free_version, v};
	return ret;
}

ki_evolve_policy *ki_evolve_policy_find(const char *name)
{
	static const struct {
		const char *name;
		ki_evolve_policy *policy;
	} table[] = {{"layout", ki_evolve_propose_layout},
		     {"group", ki_evolve_propose_group},
		     {"version", ki_evolve_propose_version}};

	for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++)
		if (!strcmp(name, table[i].name))
			return table[i].policy;
	return NULL;
}
