// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/predict.h"
#include "util/listen.h"

/* Nothing is shown: it counts for a while. */
static bool goes_on(void *arg, size_t done, size_t all)
{
	(void)done;
	(void)all;
	return ki_listener_progress(*(const struct ki_listener *const *)arg, NULL, 0, 0);
}

int ki_predict_for(struct ki_prediction *out, const struct ki_points *p, struct ki_target *t,
		   const struct ki_asked *asked, struct ki_points_how *how, struct ki_err *err)
{
	const struct ki_listener *l = out->listener;

	how->progress = goes_on;
	how->progress_arg = &l;
	return ki_predict(out, p, t, asked, how, err);
}
