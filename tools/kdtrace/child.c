// SPDX-License-Identifier: GPL-2.0-only
#include "child.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <wordexp.h>

#include "kerninst/process.h"

static void become(const char *command, int wait)
{
	char byte, *text;
	wordexp_t words;

	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	if (read(wait, &byte, 1) != 1)
		_exit(0); /* it is not wanted any more */
	/* It is this process, not a child of it: $target is its number. And it becomes the command
	   itself, unless that needs a shell: probes in it are put in at its first instruction. */
	if (!wordexp(command, &words, WRDE_NOCMD) && words.we_wordc)
		execvp(words.we_wordv[0], words.we_wordv);
	if (asprintf(&text, "exec %s", command) >= 0)
		execl("/bin/sh", "sh", "-c", text, (char *)NULL);
	_exit(127);
}

/* 0, or -errno of a file that the command names by its path, and that cannot be executed. */
static int check_file(const char *command)
{
	wordexp_t words = {0};
	const bool has = !wordexp(command, &words, WRDE_NOCMD) && words.we_wordc;
	int ret = 0;

	if (has && strchr(words.we_wordv[0], '/') && access(words.we_wordv[0], X_OK))
		ret = -errno;
	if (has)
		wordfree(&words);
	return ret;
}

int child_prepare(struct child *c, const char *command)
{
	int ends[2], ret = check_file(command);

	if (ret)
		return ret;
	if (pipe2(ends, O_CLOEXEC))
		return -errno;
	c->pid = fork();
	if (!c->pid) {
		close(ends[1]);
		become(command, ends[0]);
	}
	close(ends[0]);
	c->go = ends[1];
	if (c->pid > 0)
		return 0;
	c->pid = 0;
	close(ends[1]);
	return -errno;
}

static void go(struct child *c)
{
	if (write(c->go, "", 1) != 1)
		c->ended = true;
	close(c->go);
	c->go = -1;
}

int child_reach(struct child *c, bool to_main, struct ki_err *err)
{
	int ret = ki_process_launch_new(c->pid, &c->launch, err);

	if (ret)
		return ret;
	go(c);
	return to_main ? ki_process_reach_main(c->launch, err)
		       : ki_process_reach_entry(c->launch, err);
}

void child_start(struct child *c)
{
	if (c->launch)
		ki_process_run(c->launch);
	else if (c->pid && !c->grabbed)
		go(c);
}

void child_grab(struct child *c, pid_t pid)
{
	const int fd = (int)syscall(SYS_pidfd_open, pid, 0);

	if (fd > 0)
		*c = (struct child){.pid = pid, .grabbed = fd};
}

static bool grabbed_has_ended(const struct child *c)
{
	struct pollfd fd = {.fd = c->grabbed, .events = POLLIN};

	return poll(&fd, 1, 0) > 0;
}

bool child_has_ended(struct child *c)
{
	if (c->grabbed)
		return c->ended = grabbed_has_ended(c);
	if (c->pid && !c->ended && waitpid(c->pid, &c->status, WNOHANG) == c->pid)
		c->ended = true;
	return c->pid && c->ended;
}

void child_abandon(struct child *c)
{
	ki_process_launch_free(c->launch);
	c->launch = NULL;
	if (c->grabbed)
		close(c->grabbed);
	if (c->grabbed || !c->pid || c->ended)
		return;
	if (c->go < 0)
		kill(c->pid, SIGKILL);
	else
		close(c->go);
	waitpid(c->pid, NULL, 0);
}
