// SPDX-License-Identifier: GPL-2.0-only
/*
 * kerninst stat of a process. What points and metrics mean, how it is measured, and how the result
 * is shown, is what the kernel's are and do; here is how a process is opened.
 */
#include "stat/process_stat.h"

#include <stdlib.h>

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
	struct ki_change *v;
	bool mapped = false;
	size_t n;

	while (!mapped) {
		if (run_wait(command, wait_now() + LOOK) != EVENT_TIME)
			return cli_error("process %d: %s was not mapped until the end", (int)pid,
					 what);
		if (ki_target_changes(t, &v, &n, &err))
			return cli_fail(&err);
		for (size_t i = 0; i < n; i++) {
			mapped |= v[i].kind == KI_CHANGE_MAPPED || v[i].kind == KI_CHANGE_BECAME;
			if (v[i].kind != KI_CHANGE_ENDED)
				continue;
			free(v);
			return cli_error("process %d has ended, and has not mapped %s", (int)pid,
					 what);
		}
		free(v);
	}
	return CLI_OK;
}

static int await_modules(pid_t pid, const struct ki_asked *asked, struct command *command,
			 struct ki_target **out)
{
	int ret = CLI_OK;

	for (size_t i = 0; i < asked->n; i++)
		if (!*asked->specs[i].module)
			return cli_error("--await: '%s' names no module: MODULE:FUNCTION is wanted",
					 asked->texts[i]);
	while (!ret) {
		struct ki_target *t;
		struct ki_err err = {0};
		const char *what;

		if (ki_target_new_process(pid, &t, &err))
			return cli_fail(&err);
		what = ki_process_points_missing(t, asked);
		if (!what) {
			*out = t;
			return CLI_OK;
		}
		if (!command->started)
			run_start(command);
		ret = await_mapping(t, pid, what, command);
		ki_target_free(t);
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
	if (!ret && s->pid == OPEN_COMMAND) {
		ret = o->command ? run_reach_entry(command, o->command, false)
				 : cli_misuse(self, "command/POINT: the command stands behind --");
		s->pid = command->pid;
	}
	/* The command may be what makes the process map it. */
	if (!ret && o->await && !command->pid)
		ret = run_prepare(command, o->command, false);
	if (!ret && o->await)
		ret = await_modules(s->pid, asked, command, &s->t);
	else if (!ret && ki_target_new_process(s->pid, &s->t, &err))
		ret = cli_fail(&err);
	return ret;
}
