/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * A program at its entry: after the kernel and the loader have mapped it and its libraries, before
 * it executes an instruction of its own.
 *
 * The caller's child becomes the program, traced by the caller. At the end of execve there is only
 * the program and its loader; so the loader runs, up to a breakpoint at the program's entry, which
 * the kernel names in the auxiliary vector (AT_ENTRY), and then, if that is asked for, up to one at
 * main(). There the original byte comes back, and the
 * process gets a SIGSTOP in place of the breakpoint's SIGTRAP, which it never sees. It stays
 * stopped when the caller traces it no more, and whoever installs something finds it as any other
 * stopped process. Another process watches the caller: it lets the program run when the caller says
 * so, and kills it when the caller has ended. So there is no moment at which the caller can be
 * killed and leaves a process behind that stays stopped.
 */
#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/pidfd.h>
#include <sys/ptrace.h>
#include <sys/user.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kerninst/process.h"
#include "process/launch_main.h"

#define INT3	  0xcc
#define EXEC_STOP (SIGTRAP | PTRACE_EVENT_EXEC << 8)

struct ki_process_launch {
	pid_t pid;
	uint64_t entry; /* where it is to stop */
	uint8_t byte;	/* that stood there */
	bool to_main;	/* from the program's entry it goes on to main() */
	bool started;
	int pidfd;     /* its number may be another's when it has been waited for */
	pid_t watcher; /* the process that watches us; 0: there is none */
	int watch;     /* a byte here ends that one */
	struct ki_err *err;
};

static int failed(const struct ki_process_launch *l, const char *what)
{
	int code = errno ? -errno : -EIO;

	return ki_err_set(l->err, code, l->entry, "process %d: %s: %s", l->pid, what,
			  strerror(-code));
}

/* ---- the one that watches ---- */

/* Wait for a byte: the process may run. Without one the caller has ended, and so does the process.
 */
static _Noreturn void watch(int pidfd, int from)
{
	char byte;
	ssize_t n;

	do
		n = read(from, &byte, 1);
	while (n < 0 && errno == EINTR);
	pidfd_send_signal(pidfd, n == 1 ? SIGCONT : SIGKILL, NULL, 0);
	_exit(0);
}

static int watch_begin(struct ki_process_launch *l)
{
	int ends[2];

	l->pidfd = pidfd_open(l->pid, 0);
	if (l->pidfd < 0 || pipe2(ends, O_CLOEXEC))
		return failed(l, "watching it");
	l->watcher = fork();
	if (!l->watcher) {
		close(ends[1]);
		watch(l->pidfd, ends[0]);
	}
	close(ends[0]);
	l->watch = ends[1];
	if (l->watcher > 0)
		return 0;
	l->watcher = 0;
	close(l->watch);
	return failed(l, "watching it");
}

static void watch_end(struct ki_process_launch *l)
{
	if (!l->watcher)
		return;
	/* It has ended itself: then there is nothing left to do. */
	if (write(l->watch, "", 1) < 0)
		errno = 0;
	close(l->watch);
	while (waitpid(l->watcher, NULL, 0) < 0 && errno == EINTR)
		;
	l->watcher = 0;
}

/* ---- the program ---- */

int ki_process_launch_new(pid_t pid, struct ki_process_launch **out, struct ki_err *err)
{
	struct ki_process_launch *l = calloc(1, sizeof(*l));
	int ret;

	*out = l;
	if (!l)
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	*l = (struct ki_process_launch){.pid = pid, .pidfd = -1, .err = err};
	ret = watch_begin(l);
	if (!ret && ptrace(PTRACE_SEIZE, pid, NULL, PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL))
		ret = failed(l, "ptrace");
	return ret;
}

static int read_entry(struct ki_process_launch *l)
{
	char path[40];
	uint64_t row[2] = {AT_NULL + 1};
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/auxv", l->pid);
	f = fopen(path, "re");
	if (!f)
		return failed(l, path);
	while (!l->entry && row[0] != AT_NULL && fread(row, sizeof(row), 1, f) == 1)
		if (row[0] == AT_ENTRY)
			l->entry = row[1];
	fclose(f);
	errno = ENOEXEC;
	return l->entry ? 0 : failed(l, "its entry");
}

/* Through /proc/PID/mem, which writes to text too. */
static int exchange(const struct ki_process_launch *l, uint8_t now, uint8_t *was)
{
	char path[40];
	int fd, ret = 0;

	snprintf(path, sizeof(path), "/proc/%d/mem", l->pid);
	fd = open(path, O_RDWR | O_CLOEXEC);
	if (fd < 0 || (was && pread(fd, was, 1, (off_t)l->entry) != 1) ||
	    pwrite(fd, &now, 1, (off_t)l->entry) != 1)
		ret = failed(l, "writing to its entry");
	if (fd >= 0)
		close(fd);
	return ret;
}

/* execve has been done: the loader is next. */
static int enter_loader(struct ki_process_launch *l)
{
	int ret;

	l->entry = 0;
	ret = read_entry(l);
	return ret ? ret : exchange(l, INT3, &l->byte);
}

static bool is_at_entry(const struct ki_process_launch *l)
{
	struct user_regs_struct regs;

	return l->entry && !ptrace(PTRACE_GETREGS, l->pid, NULL, &regs) && regs.rip == l->entry + 1;
}

/* The breakpoint has been executed: it is as before. */
static int take_back(const struct ki_process_launch *l)
{
	struct user_regs_struct regs;
	int ret = exchange(l, l->byte, NULL);

	if (ret)
		return ret;
	errno = 0;
	if (ptrace(PTRACE_GETREGS, l->pid, NULL, &regs))
		return failed(l, "its registers");
	regs.rip = l->entry;
	return ptrace(PTRACE_SETREGS, l->pid, NULL, &regs) ? failed(l, "its registers") : 0;
}

/* *goes: there is a main(), where it will stop. */
static int go_to_main(struct ki_process_launch *l, bool *goes)
{
	const uint64_t at = l->to_main ? ki_launch_main(l->pid, l->entry) : 0;

	*goes = at;
	if (!at)
		return 0;
	l->to_main = false;
	l->entry = at;
	return exchange(l, INT3, &l->byte);
}

static int stay(const struct ki_process_launch *l)
{
	siginfo_t info;

	errno = 0;
	if (ptrace(PTRACE_DETACH, l->pid, NULL, (void *)(intptr_t)SIGSTOP) ||
	    waitid(P_PID, (id_t)l->pid, &info, WSTOPPED | WEXITED | WNOWAIT))
		return failed(l, "stopping it at its entry");
	return 0;
}

/* One stop; true: it was the last, at the entry or with an error. */
static bool pass_stop(struct ki_process_launch *l, int status, int *ret)
{
	int signal = status >> 16 ? 0 : WSTOPSIG(status);

	*ret = 0;
	if (status >> 8 == EXEC_STOP) {
		*ret = enter_loader(l);
	} else if (signal == SIGTRAP && is_at_entry(l)) {
		bool goes = false;

		signal = 0;
		*ret = take_back(l);
		if (!*ret)
			*ret = go_to_main(l, &goes);
		if (!*ret && !goes)
			*ret = stay(l);
		if (*ret || !goes)
			return true;
	}
	if (!*ret && ptrace(PTRACE_CONT, l->pid, NULL, (void *)(intptr_t)signal))
		*ret = failed(l, "ptrace");
	return *ret != 0;
}

int ki_process_reach_entry(struct ki_process_launch *l, struct ki_err *err)
{
	siginfo_t info;
	int status, ret;

	l->err = err;
	do {
		/* How it ended is for the caller to see. */
		if (waitid(P_PID, (id_t)l->pid, &info, WSTOPPED | WEXITED | WNOWAIT))
			return failed(l, "waiting for its entry");
		if (info.si_code == CLD_EXITED || info.si_code == CLD_KILLED ||
		    info.si_code == CLD_DUMPED)
			return ki_err_set(err, -ECHILD, 0,
					  "process %d ended before its first instruction", l->pid);
		if (waitpid(l->pid, &status, __WALL) != l->pid)
			return failed(l, "waiting for its entry");
	} while (!pass_stop(l, status, &ret));
	return ret;
}

int ki_process_reach_main(struct ki_process_launch *l, struct ki_err *err)
{
	l->to_main = true;
	return ki_process_reach_entry(l, err);
}

void ki_process_run(struct ki_process_launch *l)
{
	l->started = true;
	watch_end(l);
	/* Once more: whoever watches may have been killed. */
	pidfd_send_signal(l->pidfd, SIGCONT, NULL, 0);
}

void ki_process_launch_free(struct ki_process_launch *l)
{
	if (!l)
		return;
	if (!l->started && l->pidfd >= 0)
		pidfd_send_signal(l->pidfd, SIGKILL, NULL, 0);
	watch_end(l);
	if (l->pidfd >= 0)
		close(l->pidfd);
	free(l);
}
