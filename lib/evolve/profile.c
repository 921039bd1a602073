// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "kerninst/evolve.h"

int ki_evolve_profile(struct ki_target *t, const struct ki_symbol *const *syms,
		      const struct ki_evolve_search *how, struct ki_coverage **out,
		      struct ki_err *err)
{
	const struct ki_cover_options edges = {.size = sizeof(edges), .mode = KI_COVER_EDGES};
	struct ki_cover *cover = NULL;
	bool all;
	int ret = ki_cover_new(t, syms, how->n, &edges, &cover, err);

	if (ret)
		return ret;
	all = how->wait(how->arg, how->seconds);
	ret = ki_cover_remove(cover, err);
	if (!ret)
		ret = ki_cover_read(cover, out, err);
	ki_cover_free(cover);
	if (!ret && !all)
		ret = ki_err_set(err, -ECANCELED, 0,
				 "stopped while profiling; nothing has changed");
	return ret;
}

int ki_evolve_try_judge(struct ki_evolve *e, const struct ki_evolve_trial *t,
			struct ki_evolve_verdict *out, struct ki_err *err)
{
	double *v = calloc(2 * t->windows, sizeof(*v));
	int ret;

	if (!v)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	ret = ki_evolve_try(e, t, v, v + t->windows, err);
	if (!ret)
		ki_evolve_judge(v, v + t->windows, t->windows, out);
	free(v);
	return ret;
}
