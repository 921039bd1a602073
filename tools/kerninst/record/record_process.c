// SPDX-License-Identifier: GPL-2.0-only
#include "record/record_process.h"

#include <errno.h>
#include <stdlib.h>

#include "cli.h"

int record_processes_open(opened_processes *p, const struct record_options *o,
			  struct command *command, struct record_group *groups, size_t n)
{
	int ret = CLI_OK;

	for (size_t i = 0; !ret && i < n; i++)
		if (groups[i].asked_pid)
			ret = process_open(p, groups[i].asked_pid, command, o->command);
	for (size_t i = 0; !ret && i < n; i++)
		groups[i].process =
			groups[i].asked_pid ? process_find(p, groups[i].asked_pid) : NULL;
	return ret;
}

bool record_processes_over(const struct record_group *groups, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		const struct ki_splice_process *s = ki_measure_process(groups[i].points.measure);

		if (!groups[i].over && (!groups[i].on || !s || !process_has_ended(s)))
			return false;
	}
	return true;
}

static int write_group(const struct record_group *g, struct ki_record_file *f)
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

int record_processes_write(const struct record_group *groups, size_t n, struct ki_record_file *f)
{
	int ret = 0;

	for (size_t i = 0; !ret && i < n; i++)
		if (groups[i].process)
			ret = write_group(&groups[i], f);
	return ret;
}
