/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * All threads are asked to stop, then waited for, so that they stop at the same time; and again,
 * until none is found that is not held: who is held makes no new ones.
 *
 * A thread may stop on its way to a signal before it stops for us. It is held all the same, and
 * gets the signal when it goes on. A job-control stop (SIGSTOP) stays one.
 *
 * A system call that has been interrupted begins again when the thread goes on. A few say EINTR
 * instead, as they do after SIGSTOP and SIGCONT. Those that wait without a limit are told to begin
 * again, too. What has a limit would wait for all of it again, so that is left.
 */
#include "process/stop.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "target/process_maps.h"

#define PATIENCE 500000000ull /* ns */
#define NAP	 20000l

#define USER_CODE      0x33
#define ERESTARTNOHAND 514 /* the kernel's: again, unless a handler runs */

uint64_t ki_now(void)
{
	struct timespec ts;

	clock_gettime(CLOCK_MONOTONIC, &ts);
	return (uint64_t)ts.tv_sec * 1000000000u + (uint64_t)ts.tv_nsec;
}

static bool is_known(const struct ki_stop *s, pid_t tid)
{
	for (size_t i = 0; i < s->threads.n; i++)
		if (s->threads.v[i].tid == tid)
			return true;
	return false;
}

/* The letter of its state; 0: there is none. */
static char state_of(pid_t pid, pid_t tid)
{
	char path[64], line[512], *paren, state = 0;
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/task/%d/stat", pid, tid);
	f = fopen(path, "re");
	if (!f)
		return 0;
	if (fgets(line, sizeof(line), f) && (paren = strrchr(line, ')')) && paren[1])
		state = paren[2];
	fclose(f);
	return state;
}

/* Ended, but not reaped: the first thread may end before others. */
static bool is_dead(pid_t pid, pid_t tid)
{
	return strchr("ZXx", state_of(pid, tid)) != NULL;
}

static int seize_failed(const struct ki_stop *s, pid_t tid, int error, struct ki_err *err)
{
	char tracer[32];

	if (error == ESRCH || is_dead(s->pid, tid))
		return 0;
	if (!ki_process_status(tid, "TracerPid", tracer, sizeof(tracer)) && strcmp(tracer, "0"))
		return ki_err_reason(err, KI_R_PROCESS_TRACED, 0, "process %d (process %s)", s->pid,
				     tracer);
	if (error == EPERM)
		return ki_err_reason(err, KI_R_PROCESS_PERMISSION, 0, "process %d", s->pid);
	return ki_err_set(err, -error, 0, "process %d: ptrace: %s", s->pid, strerror(error));
}

/* Who traces it: a number, 0: nobody. */
static pid_t tracer_of(pid_t tid)
{
	char tracer[32];

	return ki_process_status(tid, "TracerPid", tracer, sizeof(tracer))
		       ? 0
		       : (pid_t)strtol(tracer, NULL, 10);
}

static int try_seize(pid_t tid)
{
	return ptrace(PTRACE_SEIZE, tid, NULL, PTRACE_O_TRACESYSGOOD) ? errno : 0;
}

static int seize(struct ki_stop *s, pid_t tid, struct ki_err *err)
{
	struct ki_thread t = {.tid = tid};
	int error;

	if (ki_vec_reserve(&s->threads, 1))
		return ki_err_set(err, -ENOMEM, 0, "out of memory");
	error = try_seize(tid);
	/* Another one's tracer that has gone meanwhile is no matter of permission. And one that
	   did not stop the last time in time could not be let go: it is ours if it can be asked. */
	if (error == EPERM && !tracer_of(tid))
		error = try_seize(tid);
	if (error && (error != EPERM || tracer_of(tid) != getpid()))
		return seize_failed(s, tid, error, err);
	if (ptrace(PTRACE_INTERRUPT, tid, NULL, NULL) && error)
		return seize_failed(s, tid, error, err);
	s->threads.v[s->threads.n++] = t;
	return 0;
}

/* Ask those that are not held yet, up to `most` of all. */
static int seize_all(struct ki_stop *s, size_t most, struct ki_err *err)
{
	struct dirent *d;
	char path[40];
	int ret = 0;
	DIR *dir;

	snprintf(path, sizeof(path), "/proc/%d/task", s->pid);
	dir = opendir(path);
	while (!ret && dir && s->threads.n < most && (d = readdir(dir))) {
		pid_t tid = (pid_t)strtol(d->d_name, NULL, 10);

		if (tid > 0 && !is_known(s, tid))
			ret = seize(s, tid, err);
	}
	if (dir)
		closedir(dir);
	return ret;
}

static void forget(struct ki_stop *s, struct ki_thread *t)
{
	*t = s->threads.v[--s->threads.n];
}

/* Does it wait without a limit, in a call that says EINTR where others begin again? */
static bool waits_on(const struct user_regs_struct *r)
{
	if (r->cs != USER_CODE || (int64_t)r->rax != -EINTR)
		return false;
	switch ((int64_t)r->orig_rax) {
	case SYS_epoll_wait:
	case SYS_epoll_pwait:
		return (int32_t)r->r10 < 0;
	case SYS_semop:
		return true;
	case SYS_semtimedop:
	case SYS_epoll_pwait2:
		return !r->r10;
	case SYS_rt_sigtimedwait:
		return !r->rdx;
	default:
		return false;
	}
}

static void begin_again(struct ki_thread *t)
{
	const uint64_t again = (uint64_t)-ERESTARTNOHAND;

	if (waits_on(&t->regs) &&
	    !ptrace(PTRACE_POKEUSER, t->tid, offsetof(struct user, regs.rax), (void *)again))
		t->regs.rax = again;
}

/* One look: 1: it is stopped, or has ended and is forgotten. */
static int look(struct ki_stop *s, struct ki_thread *t)
{
	int status;
	pid_t got = waitpid(t->tid, &status, __WALL | WNOHANG);

	if (!got || (got < 0 && errno == EINTR))
		return 0;
	if (got < 0 || !WIFSTOPPED(status)) {
		forget(s, t);
		return 1;
	}
	t->stopped = true;
	if (status >> 16 == 0)
		t->signal = WSTOPSIG(status);
	if (ptrace(PTRACE_GETREGS, t->tid, NULL, &t->regs))
		forget(s, t);
	else
		begin_again(t);
	return 1;
}

/* A busy machine is no reason to call it stuck. */
static bool is_stuck(const struct ki_stop *s, const struct ki_thread *t)
{
	const uint64_t since = ki_now() - s->begun;

	return since > s->patience &&
	       (since > s->patience_ready || state_of(s->pid, t->tid) != 'R');
}

static int wait_all(struct ki_stop *s, struct ki_err *err)
{
	const struct timespec nap = {.tv_nsec = NAP};
	size_t i = 0;

	for (unsigned int tries = 0; i < s->threads.n;) {
		if (s->threads.v[i].stopped) {
			i++;
			continue;
		}
		if (look(s, &s->threads.v[i]))
			continue;
		if (is_stuck(s, &s->threads.v[i]))
			return ki_err_reason(err, KI_R_PROCESS_STUCK, 0, "process %d, thread %d",
					     s->pid, s->threads.v[i].tid);
		if (tries++ < 100)
			sched_yield();
		else
			nanosleep(&nap, NULL);
	}
	return 0;
}

/* A thread that has not stopped cannot be let go: the end of the guard does that. */
void ki_stop_release(struct ki_stop *s)
{
	for (size_t i = 0; i < s->threads.n; i++) {
		struct ki_thread *t = &s->threads.v[i];

		if (t->changed)
			ptrace(PTRACE_SETREGS, t->tid, NULL, &t->regs);
		ptrace(PTRACE_DETACH, t->tid, NULL, (void *)(intptr_t)t->signal);
	}
	s->held = ki_now() - s->begun;
	ki_vec_free(&s->threads);
}

int ki_stop_threads(struct ki_stop *s, pid_t pid, size_t most, struct ki_err *err)
{
	size_t before;
	int ret;

	*s = (struct ki_stop){.pid = pid, .patience = PATIENCE, .begun = ki_now()};
	do {
		before = s->threads.n;
		ret = seize_all(s, most, err);
		if (!ret)
			ret = wait_all(s, err);
	} while (!ret && s->threads.n > before && s->threads.n < most);
	if (!ret && !s->threads.n)
		ret = ki_err_set(err, -ESRCH, 0, "process %d has ended", pid);
	if (ret)
		ki_stop_release(s);
	return ret;
}

int ki_stop_thread(struct ki_stop *s, pid_t tid, struct ki_err *err)
{
	int ret;

	s->begun = ki_now();
	ret = seize(s, tid, err);
	if (!ret)
		ret = wait_all(s, err);
	if (ret)
		ki_stop_release(s);
	return ret;
}
