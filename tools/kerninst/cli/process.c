// SPDX-License-Identifier: GPL-2.0-only
#include "process.h"

#include <poll.h>
#include <stdio.h>

#include "cli.h"
#include "open.h"
#include "run.h"

bool process_has_ended(const struct ki_splice_process *s)
{
	struct pollfd p = {.fd = ki_process_ended(s), .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

void process_tell_cost(const struct ki_splice_process *s, pid_t pid, bool told_end)
{
	const struct ki_process_cost *cost = ki_process_cost(s);

	if (told_end)
		cli_warn("process %d has ended", pid);
	if (cost->left)
		cli_warn("process %d: a thread was still in a patch, or filters its system calls: "
			 "its memory is left there",
			 pid);
	if (cost->by_driver)
		fprintf(stderr, "by the driver: no thread was held\n");
	else
		fprintf(stderr,
			"held: %u thread%s for %.0f us to write its text, one for %.0f us to map memory\n",
			cost->threads, cost->threads == 1 ? "" : "s", (double)cost->held_ns / 1e3,
			(double)cost->mapping_ns / 1e3);
}

void process_warn_lost(const struct ki_splice_process *s, pid_t pid)
{
	const uint64_t lost = ki_process_lost(s);

	if (lost)
		cli_warn("process %d: %llu times a thread had no place for what it has begun: it "
			 "is not in walltime and its like",
			 pid, (unsigned long long)lost);
}

struct opened_process *process_find(const opened_processes *p, pid_t asked)
{
	for (size_t i = 0; i < p->n; i++)
		if (p->v[i].asked == asked)
			return &p->v[i];
	return NULL;
}

int process_open(opened_processes *p, pid_t asked, struct command *command, char **argv)
{
	struct opened_process r = {.asked = asked, .pid = asked};
	struct ki_err err = {0};
	int ret = CLI_OK;

	if (process_find(p, asked))
		return CLI_OK;
	if (asked == OPEN_COMMAND) {
		ret = run_reach_entry(command, argv, false);
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

void processes_close(opened_processes *p)
{
	for (size_t i = 0; i < p->n; i++)
		ki_target_close(p->v[i].t);
	ki_vec_free(p);
}
