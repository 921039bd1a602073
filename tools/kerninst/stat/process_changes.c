// SPDX-License-Identifier: GPL-2.0-only
#include "stat/process_changes.h"

#include <fnmatch.h>
#include <stdlib.h>

#include "cli.h"
#include "run.h"
#include "kerninst/target.h"

/* How often it is looked, while a module is waited for. */
#define LOOK 0.01

static bool is_there(const struct ki_target *t, const char *module)
{
	size_t n;
	const struct ki_text_range *r = ki_target_ranges(t, &n);

	for (size_t i = 0; i < n; i++)
		if (!fnmatch(module, r[i].module, 0))
			return true;
	return false;
}

/* The first that is not there; NULL: all are. */
static const char *missing(const struct ki_target *t, const struct ki_asked *asked)
{
	for (size_t i = 0; i < asked->n; i++)
		if (!is_there(t, asked->specs[i].module))
			return asked->specs[i].module;
	return NULL;
}

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
		what = missing(t, asked);
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

static bool concerns(const struct ki_change *c, const struct ki_points *points)
{
	for (size_t i = 0; i < points->v.n; i++)
		if (points->v.v[i].addr - c->addr < c->len)
			return true;
	return false;
}

/* Does somebody ask for a module of that name? */
static bool is_asked(const struct ki_change *c, const struct ki_points *points)
{
	for (size_t i = 0; i < points->v.n; i++)
		if (*points->v.v[i].spec->module &&
		    !fnmatch(points->v.v[i].spec->module, c->module, 0))
			return true;
	return false;
}

static bool tell(const struct ki_change *c, pid_t pid, const struct ki_points *points, bool quiet)
{
	if (c->kind == KI_CHANGE_BECAME && !quiet)
		cli_warn("process %d has become another program: counted until then", (int)pid);
	if (c->kind == KI_CHANGE_UNMAPPED && !quiet && concerns(c, points))
		cli_warn("process %d: %s has been unmapped: counted until then", (int)pid,
			 c->module);
	if (c->kind == KI_CHANGE_MAPPED && !quiet && is_asked(c, points))
		cli_warn("process %d: %s has been mapped meanwhile: it is not counted there; begin "
			 "again to count it",
			 (int)pid, c->module);
	return c->kind == KI_CHANGE_BECAME;
}

bool tell_changes(struct ki_target *t, pid_t pid, const struct ki_points *points, bool quiet)
{
	struct ki_change *v = NULL;
	bool became = false;
	size_t n = 0;

	if (ki_target_changes(t, &v, &n, NULL))
		return false;
	for (size_t i = 0; i < n; i++)
		became |= tell(&v[i], pid, points, quiet);
	free(v);
	return became;
}
