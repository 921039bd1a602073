// SPDX-License-Identifier: GPL-2.0-only
/* MODULE_GOING: of a module that is being loaded (going.c). */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "reasons/reasons.h"

/* Where its text begins, while it is being loaded; 0: it is not. */
static uint64_t loading_at(void)
{
	char line[256], state[16];
	FILE *f = fopen("/proc/modules", "r");
	uint64_t at = 0;
	ull addr;

	while (f && !at && fgets(line, sizeof(line), f))
		if (sscanf(line, "ki_going %*s %*s %*s %15s %llx", state, &addr) == 2 &&
		    !strcmp(state, "Loading"))
			at = addr;
	if (f)
		fclose(f);
	return at;
}

static pid_t load(void)
{
	pid_t pid;

	fflush(stdout);
	pid = fork();
	if (!pid) {
		int fd = open(getenv("KI_GOING"), O_RDONLY);

		_exit(syscall(SYS_finit_module, fd, "", 0) ? 1 : 0);
	}
	return pid;
}

static void ask_going(struct answer *a)
{
	const struct timespec pause = {.tv_nsec = 10000000};
	struct ki_window *w;
	struct request r;
	uint64_t at = 0;
	int status = -1;
	pid_t pid;

	request_begin(&r);
	w = request_window(&r, world_function("ki_reasons", "ki_r_plain"), 0, 1, KI_BOARD_TRAP);
	pid = load();

	for (int i = 0; i < 1000 && !(at = loading_at()); i++)
		nanosleep(&pause, NULL);
	w->addr = at;
	request_ask(&r, a);
	request_end(&r);
	if (!at || !loading_at())
		die("ki_going", "it was not being loaded meanwhile");
	waitpid(pid, &status, 0);
	if (status || syscall(SYS_delete_module, "ki_going", 0))
		die("ki_going", strerror(errno));
}
ASKED(MODULE_GOING, ask_going)
