/* SPDX-License-Identifier: GPL-2.0-only */
/* Processes that wait in a call, and readings of their stacks. */
#ifndef STACKS_FIXTURE_H
#define STACKS_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/sem.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kerninst/thread_stacks.h"

#define FAILED 99

#define BODY static __attribute__((noipa)) int

struct shared {
	uint32_t word;
	int pipe[2], listener, epoll, sem;
	struct sockaddr_un name;
	volatile uint32_t phase;
};

static struct shared *m; /* of the test and the process */

static inline void nap_ms(long ms)
{
	const struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000};

	nanosleep(&ts, NULL);
}

static inline int set_up(void **state)
{
	struct epoll_event in = {.events = EPOLLIN};
	static int number;

	(void)state;
	m = mmap(NULL, sizeof(*m), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	assert_true(m != MAP_FAILED);
	assert_int_equal(pipe(m->pipe), 0);
	m->listener = socket(AF_UNIX, SOCK_STREAM, 0);
	m->name.sun_family = AF_UNIX;
	snprintf(m->name.sun_path + 1, sizeof(m->name.sun_path) - 1, "ki-stacks-%d-%d", getpid(),
		 number++);
	assert_int_equal(bind(m->listener, (struct sockaddr *)&m->name, sizeof(m->name)), 0);
	assert_int_equal(listen(m->listener, 1), 0);
	m->epoll = epoll_create1(0);
	assert_int_equal(epoll_ctl(m->epoll, EPOLL_CTL_ADD, m->pipe[0], &in), 0);
	m->sem = semget(IPC_PRIVATE, 1, 0600);
	assert_true(m->sem >= 0);
	return 0;
}

static inline int tear_down(void **state)
{
	(void)state;
	semctl(m->sem, 0, IPC_RMID);
	close(m->pipe[0]);
	close(m->pipe[1]);
	close(m->listener);
	close(m->epoll);
	munmap(m, sizeof(*m));
	return 0;
}

static inline void give_byte(void)
{
	assert_int_equal(write(m->pipe[1], "x", 1), 1);
}

static inline int left(void)
{
	int n;

	assert_int_equal(ioctl(m->pipe[0], FIONREAD, &n), 0);
	return n;
}

/* What has been told is not always read. */
static inline void drain(void)
{
	char c;

	while (left())
		assert_int_equal(read(m->pipe[0], &c, 1), 1);
}

BODY waits_read(void)
{
	char c = 0;

	return read(m->pipe[0], &c, 1) == 1 && c == 'x' ? 0 : FAILED;
}

struct reading {
	struct ki_target *t;
	struct ki_stack_reader *r;
	struct ki_thread_stacks all;
	struct ki_err err;
};

static inline pid_t begin(int (*body)(void))
{
	const pid_t pid = fork();

	if (!pid) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(body());
	}
	assert_true(pid > 0);
	return pid;
}

static inline int ended(pid_t pid)
{
	int status;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

static inline void look(struct reading *k, pid_t pid)
{
	*k = (struct reading){0};
	assert_int_equal(ki_target_new_process(pid, &k->t, &k->err), 0);
	assert_int_equal(ki_stack_reader_new(k->t, &k->r, &k->err), 0);
}

static inline int again(struct reading *k)
{
	ki_thread_stacks_free(&k->all);
	ki_err_clear(&k->err);
	return ki_stack_reader_read(k->r, &k->all, &k->err);
}

static inline void leave(struct reading *k)
{
	ki_thread_stacks_free(&k->all);
	ki_stack_reader_free(k->r);
	ki_target_free(k->t);
}

/* The call of a function, in any thread, or NULL. */
static inline const struct ki_stack_frame *call_of(const struct reading *k, const char *name)
{
	for (size_t t = 0; t < k->all.n; t++)
		for (size_t i = 0; i < k->all.v[t].n; i++) {
			const struct ki_stack_frame *f = &k->all.v[t].v[i];
			const struct ki_symbol *sym = ki_stack_frame_symbol(k->t, f);

			if (sym && !strcmp(sym->name, name))
				return f;
		}
	return NULL;
}

static inline void is_in(struct reading *k, const char *name, int64_t call)
{
	assert_int_equal(again(k), 0);
	assert_int_equal(k->all.n, 1);
	assert_false(k->all.v[0].stuck);
	assert_true(k->all.v[0].whole);
	assert_int_equal(k->all.v[0].call, call);
	assert_non_null(call_of(k, name));
}

/* Wait until it has begun to wait: that is what its state says. */
static inline void until_asleep(pid_t pid)
{
	char path[40], line[512] = "";

	snprintf(path, sizeof(path), "/proc/%d/syscall", pid);
	for (int i = 0; i < 5000; i++) {
		FILE *f = fopen(path, "re");

		if (f && fgets(line, sizeof(line), f) && line[0] >= '0' && line[0] <= '9') {
			fclose(f);
			return;
		}
		if (f)
			fclose(f);
		nap_ms(1);
	}
	fail_msg("process %d does not wait", pid);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, set_up, tear_down)

#endif
