// SPDX-License-Identifier: GPL-2.0-only
#include "record/record_process.h"

#include <errno.h>
#include <stdlib.h>

#include "cli.h"
#include "open.h"
#include "process.h"

static struct record_process *find(record_processes *p, pid_t asked)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].asked == asked)
			return &p->v[i];
	return NULL;
}

static int open_one(record_processes *p, const struct record_options *o, struct command *command,
		    pid_t asked)
{
	struct record_process r = {.asked = asked, .pid = asked};
	struct ki_err err = {0};
	int ret = CLI_OK;

	if (find(p, asked))
		return CLI_OK;
	if (asked == OPEN_COMMAND) {
		ret = run_reach_entry(command, o->command, false);
		r.pid = command->pid;
	}
	if (!ret && ki_target_open_process(r.pid, &r.t, &err))
		ret = cli_fail(&err);
	if (ret)
		return ret;
	snprintf(r.prefix, sizeof(r.prefix), "%d/", (int)r.pid);
	if (!ki_vec_push(p, r))
		return CLI_OK;
	ki_target_close(r.t);
	return cli_no_memory();
}

int record_processes_open(record_processes *p, const struct record_options *o,
			  struct command *command, struct record_group *groups, size_t n)
{
	int ret = CLI_OK;

	for (size_t i = 0; !ret && i < n; i++)
		if (groups[i].asked_pid)
			ret = open_one(p, o, command, groups[i].asked_pid);
	for (size_t i = 0; !ret && i < n; i++)
		groups[i].process = groups[i].asked_pid ? find(p, groups[i].asked_pid) : NULL;
	return ret;
}

void record_processes_close(record_processes *p)
{
	for (size_t i = 0; i < p->n; i++)
		ki_target_close(p->v[i].t);
	ki_vec_free(p);
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
