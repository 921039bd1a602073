// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include "kerninst/asked.h"

#include <unistd.h>

#include "kerninst/process_points.h"
#include "util/vec.h"

struct ki_asked_one *ki_asked_of(struct ki_asked_all *a, pid_t pid)
{
	if (!a->of.n && ki_vec_push(&a->of, (struct ki_asked_one){0}))
		return NULL;
	for (size_t i = 0; i < a->of.n; i++)
		if (a->of.v[i].pid == pid)
			return &a->of.v[i];
	return ki_vec_push(&a->of, (struct ki_asked_one){.pid = pid}) ? NULL
								      : &a->of.v[a->of.n - 1];
}

/* Where the driver is not, such a metric is refused by its name. */
static bool needs_kernel(const struct ki_wanted *w)
{
	bool needed = false;

	for (unsigned int i = 0; i < w->n; i++)
		needed |= ki_metric_needs_kernel(w->metrics[i]);
	return needed && !access(KI_DEVICE, R_OK | W_OK);
}

pid_t ki_asked_process(const struct ki_asked_all *a, const struct ki_wanted *w)
{
	return a->of.n != 2 || a->of.v[0].asked.n || needs_kernel(w) ? 0 : a->of.v[1].pid;
}

int ki_asked_find(const struct ki_asked_all *a, struct ki_points *points, struct ki_target *t,
		  struct ki_points_how *how, const struct ki_listener *l, struct ki_err *err)
{
	struct ki_points_how own = *how;
	int ret = 0;

	if (a->of.v[0].asked.n)
		ret = ki_points_find(points, t, &a->of.v[0].asked, how, l, err);
	own.kernel = t;
	own.moving = KI_MOVING_NEVER;
	for (size_t i = 1; !ret && i < a->of.n; i++) {
		const struct ki_opened_process *of = ki_opened_find(&a->processes, a->of.v[i].pid);

		own.prefix = of->prefix;
		ret = ki_points_find(points, of->t, &a->of.v[i].asked, &own, l, err);
	}
	return ret;
}

bool ki_asked_over(const struct ki_asked_all *a, const struct ki_measure *m)
{
	bool over = !a->of.v[0].asked.n;

	for (size_t i = 0; over && i < a->processes.n; i++) {
		const struct ki_splice_process *s = ki_measure_process_of(m, a->processes.v[i].t);

		over = !s || ki_process_points_ended(s);
	}
	return over;
}

void ki_asked_all_free(struct ki_asked_all *a)
{
	for (size_t i = 0; i < a->of.n; i++)
		ki_asked_free(&a->of.v[i].asked);
	ki_vec_free(&a->of);
	ki_opened_free(&a->processes);
}
