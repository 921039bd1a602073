// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Layouts are put in and taken out.
 *
 * Of a group all is put in or nothing, so before functions are joined the driver is asked about
 * each for itself; what it refuses is left out. Functions of modules stay apart: a module that goes
 * must not take others' code with it. (Their callers: callers.c.)
 */
#include <errno.h>
#include <stdlib.h>

#include "evolve/inside.h"

/* vfs_read and ext4_file_read_iter may not stand in one patch, vfs_read and fput may. */
bool ki_evolve_joins(const struct ki_evolved *f)
{
	return !f->reason && !*f->fn->symbol->module;
}

static int by_address(const void *a, const void *b)
{
	const struct ki_layout *x = a, *y = b;
	uint64_t p = x->call ? x->call : x->fn->start, q = y->call ? y->call : y->fn->start;

	return (p > q) - (p < q);
}

static void note_id(struct ki_evolve *e, const struct ki_layout *l)
{
	for (size_t i = 0; !l->call && i < e->v.n; i++)
		if (e->v.v[i].fn == l->fn)
			e->v.v[i].l.id = l->id;
}

static int lay_out(struct ki_evolve *e, struct ki_layout *v, struct ki_err *err)
{
	size_t n = 0;
	int ret = ki_evolve_take_turn(e, err);

	if (!ret)
		ki_evolve_part(e);
	for (size_t i = 0; i < e->v.n; i++)
		e->v.v[i].l.spans = &e->v.v[i].spans; /* the array has grown */
	for (size_t i = 0; i < e->v.n; i++)
		if (ki_evolve_joins(&e->v.v[i]))
			v[n++] = e->v.v[i].l;
	for (size_t i = 0; i < e->calls.n; i++)
		v[n++] = e->calls.v[i].l;
	qsort(v, n, sizeof(*v), by_address);
	if (n && !ret)
		ret = ki_plan_lay_out(e->plan, v, n, err);
	for (size_t i = 0; i < n && !ret; i++)
		note_id(e, &v[i]);
	for (size_t i = 0; i < e->v.n && !ret; i++)
		if (!e->v.v[i].reason && !ki_evolve_joins(&e->v.v[i]))
			ret = ki_plan_lay_out(e->plan, &e->v.v[i].l, 1, err);
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
	if (e->o.retarget)
		ret = ki_evolve_find_callers(e, err);
	if (ret)
		return ret;
	v = calloc(e->v.n + e->calls.n + 1, sizeof(*v));
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
	if (!e->o.apart && (e->v.n > 1 || e->o.retarget))
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
