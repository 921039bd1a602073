// SPDX-License-Identifier: GPL-2.0-only
/* A process of its own that keeps layouts, which is called so that others find it. */
#include "evolve.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <unistd.h>

static int to_parent = -1;

int evolve_leave(void)
{
	int ends[2], status = CLI_ERROR;
	pid_t pid;

	if (pipe2(ends, O_CLOEXEC))
		return cli_error("no pipe: %s", strerror(errno));
	fflush(NULL);
	pid = fork();
	if (pid < 0)
		return cli_error("no process that could stay: %s", strerror(errno));
	if (pid) {
		close(ends[1]);
		if (read(ends[0], &status, sizeof(status)) != sizeof(status))
			status = CLI_ERROR;
		_exit(status);
	}
	close(ends[0]);
	to_parent = ends[1];
	setsid();
	prctl(PR_SET_NAME, KI_EVOLVE_NAME);
	return CLI_OK;
}

void evolve_tell(int status)
{
	if (to_parent < 0)
		return;
	fflush(NULL);
	if (write(to_parent, &status, sizeof(status)) != sizeof(status))
		cli_warn("nobody waits for what became of it");
	close(to_parent);
	to_parent = -1;
}

void evolve_stay(const struct run_look *l)
{
	int null = open("/dev/null", O_RDWR | O_CLOEXEC);
	const struct timespec pause = {.tv_nsec = (long)(RUN_LOOK * 1e9)}, hour = {.tv_sec = 3600};
	sigset_t set;

	for (int fd = 0; null >= 0 && fd < 3; fd++)
		dup2(null, fd);
	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	sigprocmask(SIG_BLOCK, &set, NULL);
	while (sigtimedwait(&set, NULL, l ? &pause : &hour) < 0 && (!l || !l->look(l->arg)))
		;
}
