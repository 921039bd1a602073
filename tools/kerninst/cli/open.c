// SPDX-License-Identifier: GPL-2.0-only
#include "open.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cli.h"
#include "kerninst/pointspec.h"
#include "out/progress.h"

static char everything[] = "*";

pid_t open_prefix(char *arg, char **rest)
{
	static const char command[] = "command/";
	const char *behind;
	pid_t pid;

	*rest = arg;
	if (!strncmp(arg, command, sizeof(command) - 1)) {
		*rest += sizeof(command) - 1;
		return OPEN_COMMAND;
	}
	pid = ki_pointspec_process(arg, &behind);
	*rest = arg + (behind - arg);
	return pid;
}

int open_process_prefix(struct open_options *o, const struct verb *self, char **args, int n)
{
	for (int i = 0; i < n; i++) {
		char *rest;
		pid_t pid = open_prefix(args[i], &rest);

		if (i && pid != o->pid)
			return cli_misuse(self, "'%s': points of one process at a time", args[i]);
		if (pid && (o->image || o->system_map))
			return cli_misuse(self, "'%s': a process has its own files", args[i]);
		o->pid = pid;
		args[i] = *rest ? rest : everything;
	}
	return CLI_OK;
}

int open_target(const struct open_options *o, struct ki_target **t, struct ki_err *err)
{
	if (o->pid == OPEN_COMMAND)
		return ki_err_set(
			err, -EINVAL, 0,
			"command/ is for kerninst stat and cover, which start it: of a process "
			"that runs, PID/");
	if (o->pid)
		return ki_target_new_process(o->pid, t, err);
	if (o->system_map)
		return ki_target_new_with_map(o->image, o->system_map, t, err);
	if (o->image)
		return ki_target_new_image(o->image, t, err);
	return ki_target_new_live(t, err);
}

static bool has_symbols(const struct ki_target *t)
{
	size_t n;

	ki_target_symbols(t, &n);
	return n > 0;
}

/* What to give instead of the file that a message is about. */
static const char *hint(const struct open_options *o, const struct ki_err *err)
{
	if (o->system_map && !strncmp(err->msg, o->system_map, strlen(o->system_map)))
		return "--system-map takes the System.map of the same build";
	return "--image takes an ELF file for x86-64: vmlinux, a module, a program";
}

int open_checked(const struct open_options *o, struct ki_target **t, struct ki_err *err)
{
	int ret = open_target(o, t, err);

	if (ret || has_symbols(*t))
		return ret;
	ki_target_free(*t);
	*t = NULL;
	if (o->pid)
		return ki_err_set(err, -ENOMSG, 0,
				  "process %d: its files say nothing of functions (no symbols, no "
				  ".eh_frame_hdr, no .gopclntab)",
				  (int)o->pid);
	return ki_err_set(err, -ENOMSG, 0,
			  "%s: no symbols of code; give them with --system-map FILE",
			  o->image ? o->image : "this kernel");
}

int open_or_fail(const struct open_options *o, struct ki_target **t)
{
	struct ki_err err = {0};

	if (!open_checked(o, t, &err))
		return CLI_OK;
	/* what has a reason of the table has a hint there */
	if (err.reason || err.code == -ENOMEM || err.code == -ENOMSG || o->pid ||
	    (!o->image && !o->system_map))
		return cli_fail(&err);
	return cli_error("%s; %s", err.msg, hint(o, &err));
}

int open_program(struct ki_target *t, const struct ki_program_options *o, bool quiet,
		 struct ki_program **out)
{
	struct ki_ticking *ticking = quiet ? NULL : ki_ticking_start("analysing all code");
	struct ki_err err = {0};
	int ret = ki_program_new(t, o, out, &err);

	ki_ticking_end(ticking);
	return ret ? cli_fail(&err) : CLI_OK;
}
