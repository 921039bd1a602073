// SPDX-License-Identifier: GPL-2.0-only
/*
 * The command's process exists before anything is installed, and becomes the command when
 * everything is. What it and we do between these moments is counted too, so it is little: it
 * waits for a signal and not on a pipe, because a read that begins before the counting and ends
 * in it would be an exit without an entry; and whether exec failed is told through memory.
 */
#include "command.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cli.h"
#include "kerninst/own.h"
#include "kerninst/process.h"
#include "util/clock.h"

#define GO SIGUSR1

/* The signals that are blocked but for wait_prepare. */
static sigset_t mask_before;

/* What would be written to a terminal, or read from it, is nothing. */
static void leave_terminal(void)
{
	int nothing = open("/dev/null", O_RDWR | O_CLOEXEC);

	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		if (isatty(fd))
			dup2(nothing, fd);
}

/* In the child: wait to be told, then become the command. It does not outlive its parent. */
static void become(pid_t parent, volatile int *no_exec, char **argv, bool quiet)
{
	sigset_t go;

	if (quiet)
		leave_terminal();
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (getppid() != parent)
		_exit(CLI_NO_COMMAND);
	sigemptyset(&go);
	sigaddset(&go, GO);
	while (sigwaitinfo(&go, NULL) != GO)
		;
	prctl(PR_SET_PDEATHSIG, 0);
	sigprocmask(SIG_SETMASK, &mask_before, NULL);
	execvp(argv[0], argv);
	*no_exec = errno;
	_exit(CLI_NO_COMMAND);
}

static bool given;

bool command_given(void)
{
	return given;
}

int command_cut(int argc, char **argv, char ***command)
{
	for (int i = 1; i < argc; i++) {
		if (strcmp(argv[i], "--"))
			continue;
		given = i + 1 < argc;
		if (given)
			*command = argv + i + 1;
		argv[i] = NULL;
		return i;
	}
	return argc;
}

int command_prepare(struct command *c, char **argv, bool quiet)
{
	pid_t parent = getpid();
	sigset_t go, old;
	int error;

	*c = (struct command){.argv = argv};
	c->no_exec = mmap(NULL, sizeof(*c->no_exec), PROT_READ | PROT_WRITE,
			  MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (c->no_exec == MAP_FAILED)
		return -errno;
	sigemptyset(&go);
	sigaddset(&go, GO);
	sigprocmask(SIG_BLOCK, &go, &old);
	fflush(NULL);
	c->pid = fork();
	error = errno;
	if (c->pid == 0)
		become(parent, c->no_exec, argv, quiet);
	sigprocmask(SIG_SETMASK, &old, NULL);
	if (c->pid > 0) {
		error = -ki_own_take(c->pid);
		if (!error)
			return 0;
	}
	command_abandon(c);
	c->pid = 0;
	return -error;
}

static void reap(struct command *c, int options)
{
	if (c->pid && !c->ended && waitpid(c->pid, &c->status, options) == c->pid)
		c->ended = true;
}

int command_reach_entry(struct command *c, struct ki_err *err)
{
	int ret = ki_process_launch_new(c->pid, &c->launch, err);

	if (ret)
		return ret;
	kill(c->pid, GO);
	ret = ki_process_reach_entry(c->launch, err);
	reap(c, WNOHANG);
	return ret;
}

void command_start(struct command *c)
{
	c->started = true;
	if (c->launch)
		ki_process_run(c->launch);
	else
		kill(c->pid, GO);
}

int command_failed(const struct command *c)
{
	return c->pid && c->ended ? *c->no_exec : 0;
}

void command_abandon(struct command *c)
{
	ki_process_launch_free(c->launch);
	c->launch = NULL;
	if (!c->pid || c->started)
		return;
	kill(c->pid, SIGKILL);
	reap(c, 0);
}

int command_exit_status(const struct command *c)
{
	if (command_failed(c))
		return CLI_NO_COMMAND;
	if (!c->ended)
		return 128 + c->stopped_by;
	if (WIFSIGNALED(c->status))
		return 128 + WTERMSIG(c->status);
	return WEXITSTATUS(c->status);
}

static sigset_t stop_signals(void)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, SIGINT);
	sigaddset(&set, SIGTERM);
	return set;
}

static void ignore_nothing(int sig)
{
	(void)sig;
}

void wait_prepare(void)
{
	sigset_t set = stop_signals();
	struct sigaction sa = {.sa_handler = ignore_nothing};

	sigaddset(&set, SIGCHLD);
	sigaction(SIGCHLD, &sa, NULL);
	sigprocmask(SIG_BLOCK, &set, &mask_before);
}

bool wait_is_interrupted(void)
{
	sigset_t set;

	sigpending(&set);
	return sigismember(&set, SIGINT) == 1 || sigismember(&set, SIGTERM) == 1;
}

/*
 * A second signal finds no obstacle: the driver cleans up when we are gone. One that comes
 * together with the first is the same one: timeout(1) sends it to the process and to its group.
 */
static void let_next_one_kill(void)
{
	const struct timespec together = {.tv_nsec = 100000000};
	sigset_t set = stop_signals();

	while (sigtimedwait(&set, NULL, &together) > 0)
		;
	signal(SIGINT, SIG_DFL);
	signal(SIGTERM, SIG_DFL);
	sigprocmask(SIG_UNBLOCK, &set, NULL);
}

int wait_descriptor(int also)
{
	sigset_t set, other;
	int fd;

	sigemptyset(&other);
	if (also)
		sigaddset(&other, also);
	sigprocmask(SIG_BLOCK, &other, NULL);
	set = stop_signals();
	sigaddset(&set, SIGCHLD);
	if (also)
		sigaddset(&set, also);
	fd = signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK);
	return fd < 0 ? -errno : fd;
}

bool wait_take(int sig)
{
	const struct timespec none = {0};
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, sig);
	return sigtimedwait(&set, NULL, &none) == sig;
}

double wait_now(void)
{
	return ki_now();
}

struct timespec wait_left(double deadline)
{
	double left = deadline - wait_now();
	time_t seconds = left > 0 ? (time_t)left : 0;

	return (struct timespec){seconds, left > 0 ? (long)((left - (double)seconds) * 1e9) : 0};
}

static int next_signal(double deadline, siginfo_t *info)
{
	const struct timespec left = wait_left(deadline);
	sigset_t set = stop_signals();

	sigaddset(&set, SIGCHLD);
	return deadline < 0 ? sigwaitinfo(&set, info) : sigtimedwait(&set, info, &left);
}

enum event wait_event(struct command *c, double deadline)
{
	siginfo_t info;

	for (;;) {
		int sig = next_signal(deadline, &info);

		if (sig == SIGINT || sig == SIGTERM) {
			c->stopped_by = sig;
			if (c->pid && !c->ended && info.si_code != SI_KERNEL)
				kill(c->pid, sig);
			let_next_one_kill();
			return EVENT_SIGNAL;
		}
		reap(c, WNOHANG);
		if (c->ended)
			return EVENT_ENDED;
		if (sig < 0 && errno == EAGAIN)
			return EVENT_TIME;
	}
}
