// SPDX-License-Identifier: GPL-2.0-only
#include "process.h"

#include <stdio.h>

#include "cli.h"
#include "open.h"
#include "points.h"
#include "run.h"

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
	ki_process_points_lost(s, pid, cli_listener(true));
}

int process_open(struct ki_opened_processes *p, pid_t asked, struct command *command, char **argv)
{
	struct ki_err err = {0};
	pid_t pid = asked;
	int ret = CLI_OK;

	if (ki_opened_find(p, asked))
		return CLI_OK;
	if (asked == OPEN_COMMAND) {
		ret = command->pid ? CLI_OK : run_reach_entry(command, argv, false);
		pid = command->pid;
	}
	if (!ret && ki_opened_add(p, asked, pid, &err))
		ret = cli_fail(&err);
	return ret;
}
