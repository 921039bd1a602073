// SPDX-License-Identifier: GPL-2.0-only
/*
 * Who keeps layouts. What is put into the kernel is its session's, so somebody must hold one: a
 * process that sleeps, with a name of its own. It is found by that name among the driver's
 * sessions, so there is no file that could say something else.
 */
#include "evolve.h"

#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#define UNDO_WAIT 300 /* times 50 ms until who was told to end is gone */

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
	prctl(PR_SET_NAME, EVOLVE_NAME);
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

/* The session behind number `after` of one who stays. */
static bool next_keeper(int fd, uint64_t after, struct ki_session_row *r)
{
	do {
		*r = (struct ki_session_row){.size = sizeof(*r), .session = after};
		if (ioctl(fd, KI_IOC_SESSION, r))
			return false;
		after = r->session;
	} while (strncmp(r->comm, EVOLVE_NAME, sizeof(r->comm)) || r->flags & KI_SESSION_EVICTED);
	return true;
}

static void print_functions(struct ki_target *t, const struct ki_session_row *r)
{
	struct ki_session_window w = {.size = sizeof(w), .session = r->session};

	while (!ioctl(ki_target_fd(t), KI_IOC_SESSION_WINDOW, &w)) {
		const struct ki_symbol *s = ki_target_symbol_at(t, w.addr);
		uint64_t next = w.addr + 1;

		if (s)
			printf("  %s%s%s\n", s->module, *s->module ? ":" : "", s->name);
		w = (struct ki_session_window){
			.size = sizeof(w), .session = r->session, .addr = next};
	}
}

int evolve_list(void)
{
	struct ki_session_row r = {0};
	struct ki_err err = {0};
	struct ki_target *t;
	int n = 0;

	if (ki_target_open_live(&t, &err))
		return cli_fail(&err);
	for (; next_keeper(ki_target_fd(t), r.session, &r); n++) {
		printf("process %" PRIu32 ", for %.0f s, %" PRIu64 " bytes:\n", r.pid,
		       (double)r.age / 1e9, (uint64_t)r.heap);
		print_functions(t, &r);
	}
	if (!n)
		puts("nothing is laid out");
	ki_target_close(t);
	return CLI_OK;
}

static bool gone(int fd, uint64_t session)
{
	struct ki_session_row r = {.size = sizeof(r), .session = session - 1};

	return ioctl(fd, KI_IOC_SESSION, &r) || r.session != session;
}

int evolve_undo(void)
{
	struct ki_session_row r = {0};
	struct ki_err err = {0};
	struct ki_target *t;
	int n = 0, ret = CLI_OK;

	if (ki_target_open_live(&t, &err))
		return cli_fail(&err);
	for (; next_keeper(ki_target_fd(t), r.session, &r); n++) {
		if (kill((pid_t)r.pid, SIGTERM) && errno != ESRCH)
			ret = cli_error("process %" PRIu32 ": %s: ask its user, or kerninst evict",
					r.pid, strerror(errno));
		for (int i = 0; !ret && i < UNDO_WAIT && !gone(ki_target_fd(t), r.session); i++)
			usleep(50000);
		if (!ret && !gone(ki_target_fd(t), r.session))
			ret = cli_error("process %" PRIu32 " does not end: kerninst evict %" PRIu64,
					r.pid, (uint64_t)r.session);
	}
	if (!ret && !n)
		puts("nothing is laid out");
	ki_target_close(t);
	return ret;
}
