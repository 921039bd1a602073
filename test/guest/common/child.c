// SPDX-License-Identifier: GPL-2.0-only
#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include "common/common.h"

static int ready[2];

pid_t child_begin(void (*be)(void))
{
	char byte;
	pid_t pid;

	if (pipe(ready))
		die("pipe", "none can be made");
	pid = fork();
	if (!pid) {
		be();
		_exit(1);
	}
	close(ready[1]);
	if (read(ready[0], &byte, 1) != 1)
		die("the process to kill", "it has not begun");
	close(ready[0]);
	return pid;
}

void child_ready(void)
{
	if (write(ready[1], "!", 1) != 1)
		_exit(1);
	for (;;)
		pause();
}

bool child_kill(pid_t pid)
{
	int status = 0;

	kill(pid, SIGKILL);
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}
