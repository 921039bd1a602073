// SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause
#include <errno.h>
#include <stdlib.h>

#include "kerninst/process_points.h"
#include "run/record/inside.h"

/* Of the kernel nothing ends. */
bool ki_recorder_over(const struct ki_recorder *r)
{
	for (size_t i = 0; i < r->ngroups; i++) {
		const struct ki_recorder_group *g = &r->groups[i];
		const struct ki_splice_process *s = ki_measure_process(g->points.measure);

		if (!g->over && (!g->on || !s || !ki_process_points_ended(s)))
			return false;
	}
	return true;
}

static int write_group(const struct ki_recorder_group *g, struct ki_record_file *f)
{
	uint64_t *addrs = calloc(g->points.v.n + 1, sizeof(*addrs));
	size_t n = 0;
	int ret;

	if (!addrs)
		return -ENOMEM;
	for (size_t i = 0; i < g->points.v.n; i++)
		if (!ki_points_first(&g->points, &g->points.v.v[i])->reason)
			addrs[n++] = g->points.v.v[i].addr;
	ret = ki_record_places(f, (uint32_t)g->process->pid, addrs, n);
	free(addrs);
	return ret;
}

int recorder_processes_write(const struct ki_recorder_group *groups, size_t n,
			     struct ki_record_file *f)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++)
		if (groups[i].process)
			ret = write_group(&groups[i], f);
	return ret;
}
