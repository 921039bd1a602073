// SPDX-License-Identifier: GPL-2.0-only
#include "stat/process_changes.h"

#include <stdlib.h>

#include "cli.h"
#include "run.h"
#include "kerninst/process_points.h"

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

int await_modules(pid_t pid, const struct ki_asked *asked, struct command *command,
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

		if (ki_target_open_process(pid, &t, &err))
			return cli_fail(&err);
		what = ki_process_points_missing(t, asked);
		if (!what) {
			*out = t;
			return CLI_OK;
		}
		if (!command->started)
			run_start(command);
		ret = await_mapping(t, pid, what, command);
		ki_target_close(t);
	}
	return ret;
}

bool tell_changes(struct ki_target *t, pid_t pid, const struct ki_points *points, bool quiet)
{
	struct ki_change *v = NULL;
	bool became = false;
	size_t n = 0;

	if (ki_target_changes(t, &v, &n, NULL))
		return false;
	for (size_t i = 0; i < n; i++)
		became |= ki_process_points_change(points, pid, &v[i],
						   quiet ? NULL : cli_listener(true));
	free(v);
	return became;
}
