// SPDX-License-Identifier: GPL-2.0-only
#include "run.h"

#include <string.h>

#include "cli.h"

int run_prepare(struct command *c, char **argv, bool quiet)
{
	int ret = argv ? command_prepare(c, argv, quiet) : 0;

	return ret ? cli_error("%s: %s", argv[0], strerror(-ret)) : CLI_OK;
}

int run_reach_entry(struct command *c, char **argv, bool quiet)
{
	struct ki_err err = {0};
	int ret = run_prepare(c, argv, quiet);

	if (ret || !command_reach_entry(c, &err))
		return ret;
	ret = run_failed(c);
	return ret ? ret : cli_fail(&err);
}

int run_open(const struct open_options *o, struct command *c, char **argv, struct ki_target **t)
{
	struct open_options open = *o;
	int ret = CLI_OK;

	if (open.pid == OPEN_COMMAND) {
		ret = run_reach_entry(c, argv, false);
		open.pid = c->pid;
	}
	return ret ? ret : open_or_fail(&open, t);
}

void run_start(struct command *c)
{
	if (c->argv)
		command_start(c);
}

enum event run_wait(struct command *c, double deadline)
{
	enum event e = wait_event(c, deadline);

	if (e == EVENT_SIGNAL && c->pid)
		wait_event(c, wait_now() + 1);
	return e;
}

void run_to_end(struct command *c)
{
	run_start(c);
	run_wait(c, -1);
}

int run_looking(struct command *c, const struct run_look *l)
{
	int ret = CLI_OK;

	run_start(c);
	while (!ret && run_wait(c, l->look ? wait_now() + RUN_LOOK : -1) == EVENT_TIME)
		ret = l->look(l->arg);
	return ret;
}

int run_failed(const struct command *c)
{
	int error = command_failed(c);

	if (!error)
		return CLI_OK;
	cli_warn("%s: cannot be executed: %s", c->argv[0], strerror(error));
	return CLI_NO_COMMAND;
}

int run_status(const struct command *c, int ret)
{
	return ret || !c->argv ? ret : command_exit_status(c);
}
