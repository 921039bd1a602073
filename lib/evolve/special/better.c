// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
/*
 * Is a version better? It is tried as layouts are (trial.c).
 */
#include <errno.h>
#include <stdlib.h>

#include "evolve/inside.h"
#include "evolve/special/inside.h"

static int put_in(void *special, struct ki_err *err)
{
	return ki_special_install(special, err);
}

static int take_out(void *special, struct ki_err *err)
{
	return ki_special_leave(special, err);
}

int ki_special_try(struct ki_special *s, const struct ki_evolve_trial *t, double *before,
		   double *after, struct ki_err *err)
{
	const struct ki_evolve_turn turn = {s->t, put_in, take_out, s};

	return ki_evolve_take_turns(&turn, t, before, after, err);
}

int ki_special_try_judge(struct ki_special *s, const struct ki_evolve_trial *t,
			 struct ki_evolve_verdict *out, struct ki_err *err)
{
	double *v = calloc(2 * t->windows, sizeof(*v));
	int ret;

	if (!v)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	ret = ki_special_try(s, t, v, v + t->windows, err);
	if (!ret)
		ki_evolve_judge(v, v + t->windows, t->windows, out);
	free(v);
	return ret;
}

int ki_special_find_judge(struct ki_special *s, const struct ki_evolve_search *how,
			  const struct ki_symbol **out, struct ki_err *err)
{
	const struct ki_symbol *const sym = ki_target_symbol_at(s->t, s->addr);

	*out = NULL;
	if (!sym)
		return ki_err_set(err, -ENOENT, s->addr, "%s: is there no more", s->original);
	return ki_evolve_find_caller(s->t, &sym, 1, how, out, err);
}
