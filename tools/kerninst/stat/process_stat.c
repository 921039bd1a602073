// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst stat of a process. What points and metrics mean, how it is measured, and how the result
 * is shown, is what the kernel's are and do; here is how a process is opened.
 */
#include "stat/process_stat.h"

#include "cli.h"
#include "kerninst/process_points.h"
#include "open.h"
#include "run.h"

/* How often it is looked, while a module is waited for. */
#define LOOK 0.01

/* Until it maps something new: CLI_OK, or it has ended, or somebody has had enough. */
static int await_mapping(struct ki_target *t, pid_t pid, const char *what, struct command *command)
{
	struct ki_err err = {0};
	int ret;

	do {
		if (run_wait(command, wait_now() + LOOK) != EVENT_TIME)
			return cli_error("process %d: %s was not mapped until the end", (int)pid,
					 what);
		ret = ki_process_points_awaited(t, what, &err);
	} while (!ret);
	return ret < 0 ? cli_error("process %d: %s", (int)pid, err.msg) : CLI_OK;
}

/* The command may be what makes the process map its modules. */
static int reach(const struct stat_options *o, pid_t *pid, struct command *command)
{
	int ret = CLI_OK;

	if (*pid != OPEN_COMMAND)
		return o->await && !command->pid ? run_prepare(command, o->command, false) : CLI_OK;
	if (!command->pid)
		ret = run_reach_entry(command, o->command, false);
	*pid = command->pid;
	return ret;
}

int process_stat_await(const struct stat_options *o, pid_t pid, const struct ki_asked *asked,
		       struct command *command, struct ki_target **out)
{
	int ret = reach(o, &pid, command);

	*out = NULL;
	for (size_t i = 0; i < asked->n; i++)
		if (!*asked->specs[i].module)
			return cli_error("--await: '%s' names no module: MODULE:FUNCTION is wanted",
					 asked->texts[i]);
	while (!ret) {
		struct ki_err err = {0};
		const char *what;

		if (ki_target_new_process(pid, out, &err))
			return cli_fail(&err);
		what = ki_process_points_missing(*out, asked);
		if (!what)
			return CLI_OK;
		if (!command->started)
			run_start(command);
		ret = await_mapping(*out, pid, what, command);
		ki_target_free(*out);
		*out = NULL;
	}
	return ret;
}

/* What is for the kernel only. */
static int check(const struct verb *self, const struct stat_options *o, pid_t pid)
{
	const struct {
		bool given;
		const char *name;
	} rows[] = {
		{o->when.own, "--own"},
		{o->dry_run && o->cost && pid == OPEN_COMMAND, "a command's --cost"},
		{o->hash && pid == OPEN_COMMAND, "--text-hash of a command"},
		{o->preset, "a preset"},
		{o->moving != KI_MOVING_AUTO, "--move"},
	};

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (rows[i].given)
			return cli_misuse(self, "%s: that is not built for processes yet",
					  rows[i].name);
	return CLI_OK;
}

int process_stat_open(const struct verb *self, const struct stat_options *o, struct ki_stat *s,
		      struct command *command, const struct ki_asked *asked)
{
	struct ki_err err = {0};
	int ret = check(self, o, s->pid);

	s->moving = KI_MOVING_NEVER;
	s->listener = cli_listener(true);
	if (!ret)
		ret = reach(o, &s->pid, command);
	if (!ret && o->await)
		ret = process_stat_await(o, s->pid, asked, command, &s->t);
	else if (!ret && ki_target_new_process(s->pid, &s->t, &err))
		ret = cli_fail(&err);
	return ret;
}
