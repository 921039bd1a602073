// SPDX-License-Identifier: GPL-2.0-only
/*
 * window COMMAND [ARGUMENT...]: runs the command between the marks, so that what the machine does
 * meanwhile is one window of a plugin. Ends as the command does.
 */
#include <spawn.h>
#include <stdio.h>
#include <string.h>
#include <sys/wait.h>

#include "mark.h"

extern char **environ;

int main(int argc, char **argv)
{
	int err, status;
	pid_t pid;

	if (argc < 2) {
		fprintf(stderr, "usage: window COMMAND [ARGUMENT...]\n");
		return 2;
	}
	MARK_BEGIN();
	err = posix_spawnp(&pid, argv[1], NULL, NULL, argv + 1, environ);
	if (!err && waitpid(pid, &status, 0) != pid)
		status = -1;
	MARK_END();
	if (err)
		fprintf(stderr, "window: cannot run '%s': %s\n", argv[1], strerror(err));
	return err || !WIFEXITED(status) ? 127 : WEXITSTATUS(status);
}
