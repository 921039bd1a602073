// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Layouts are put in and taken out.
 *
 * Of a group all is put in or nothing, so before functions are joined the driver is asked about
 * each for itself; what it refuses is left out. Functions of modules stay apart: a module that goes
 * must not take others' code with it.
 */
#include <errno.h>
#include <stdlib.h>

#include "evolve/inside.h"

/* vfs_read and ext4_file_read_iter may not stand in one patch, vfs_read and fput may. */
static bool joins(const struct ki_evolved *f)
{
	return !f->reason && !*f->fn->symbol->module;
}

static int lay_out(struct ki_evolve *e, struct ki_layout *v, struct ki_err *err)
{
	size_t n = 0;
	int ret = 0;

	for (size_t i = 0; i < e->v.n; i++)
		e->v.v[i].l.spans = &e->v.v[i].spans; /* the array has grown */
	for (size_t i = 0; i < e->v.n; i++)
		if (joins(&e->v.v[i]))
			v[n++] = e->v.v[i].l;
	if (n)
		ret = ki_plan_lay_out(e->plan, v, n, err);
	n = 0;
	for (size_t i = 0; i < e->v.n && !ret; i++) {
		struct ki_evolved *f = &e->v.v[i];

		if (joins(f))
			f->l.id = v[n++].id;
		else if (!f->reason)
			ret = ki_plan_lay_out(e->plan, &f->l, 1, err);
	}
	return ret;
}

/* What the driver refuses is left out of what is joined. */
static int join(struct ki_evolve *e, struct ki_err *err)
{
	struct ki_layout *v;
	int ret = ki_plan_check(e->apart, e->t, err);

	if (ret)
		return ret;
	for (size_t i = 0; i < e->v.n; i++)
		e->v.v[i].reason = ki_plan_refusal(e->apart, e->v.v[i].l.id);
	v = calloc(e->v.n + 1, sizeof(*v));
	if (!v || ki_plan_new(&e->plan)) {
		free(v);
		return ki_err_set(err, -ENOMEM, 0, "layout: out of memory");
	}
	ret = lay_out(e, v, err);
	free(v);
	if (ret) {
		ki_plan_free(e->plan);
		e->plan = NULL;
	}
	return ret;
}

/* What is to be put in. */
static int prepare(struct ki_evolve *e, struct ki_err *err)
{
	if (e->plan)
		return 0;
	if (!e->o.apart && e->v.n > 1)
		return join(e, err);
	e->plan = e->apart;
	return 0;
}

static unsigned int refusal(const struct ki_evolve *e, const struct ki_evolved *f)
{
	return f->reason ? f->reason : ki_plan_refusal(e->plan ? e->plan : e->apart, f->l.id);
}

/* All are refused: that is an error. */
static int any_left(const struct ki_evolve *e, struct ki_err *err)
{
	for (size_t i = 0; i < e->v.n; i++)
		if (!refusal(e, &e->v.v[i]))
			return 0;
	if (!e->v.n)
		return ki_err_set(err, -EINVAL, 0, "layout: nothing has been added");
	return ki_err_reason(err, refusal(e, &e->v.v[0]), e->v.v[0].fn->start, "%s",
			     e->v.v[0].fn->symbol->name);
}

int ki_evolve_install(struct ki_evolve *e, struct ki_err *err)
{
	int ret = prepare(e, err);

	if (!ret)
		ret = any_left(e, err);
	if (!ret)
		ret = ki_plan_apply(e->plan, e->t, true, err);
	return ret ? ret : any_left(e, err);
}

int ki_evolve_undo(struct ki_evolve *e, struct ki_err *err)
{
	return e->plan ? ki_plan_remove(e->plan, e->t, err) : 0;
}

int ki_evolve_check(struct ki_evolve *e, struct ki_err *err)
{
	int ret = prepare(e, err);

	if (!ret)
		ret = ki_plan_check(e->plan, e->t, err);
	return ret ? ret : any_left(e, err);
}

unsigned int ki_evolve_refusal(const struct ki_evolve *e, size_t n, const struct ki_symbol **sym)
{
	*sym = n < e->v.n ? e->v.v[n].fn->symbol : NULL;
	return *sym ? refusal(e, &e->v.v[n]) : KI_R_OK;
}
