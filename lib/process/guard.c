/* SPDX-License-Identifier: LGPL-2.1-only OR BSD-2-Clause */
/*
 * The guard. It is made before anything is done, does everything that changes the process, and
 * undoes it when its creator asks for it or is no more. So nobody who kills the tool, or presses
 * Ctrl-C, meets a thread of the process in the middle of a system call of ours, or leaves a byte in
 * its text: the guard is in a session of its own, and has nothing of the terminal.
 */
#include <errno.h>
#include <poll.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "process/guard.h"
#include "process/stop.h"

#define TRIES	 200 /* each with a nap of 1 ms */
#define PATIENCE 20000

static void nap(void)
{
	const struct timespec ts = {.tv_nsec = 1000000};

	nanosleep(&ts, NULL);
}

static void note(struct ki_guarded *g, const struct ki_stop *s)
{
	if (s->held > g->cost.held_ns)
		g->cost.held_ns = s->held;
}

/* Leave only what is needed, whatever the caller has open. */
static void close_others(struct ki_guarded *g, int *sock)
{
	int null = open("/dev/null", O_RDWR);

	for (int fd = 0; fd < 3; fd++)
		dup2(null, fd);
	g->mem = fcntl(g->mem, F_DUPFD_CLOEXEC, 100);
	*sock = fcntl(*sock, F_DUPFD_CLOEXEC, 101);
	dup2(g->mem, 3);
	dup2(*sock, 4);
	g->mem = 3;
	*sock = 4;
	close_range(5, ~0u, 0);
}

/* Has he gone who wants it? Then nothing needs to be put in that would be taken out at once. */
static bool is_alone(const struct ki_guarded *g)
{
	struct pollfd p = {.fd = g->sock, .events = POLLIN};

	return poll(&p, 1, 0) > 0 && (p.revents & (POLLHUP | POLLERR));
}

/* Counters of each thread need the word at its FS base to be that address. */
static bool are_told(const struct ki_guarded *g, const struct ki_stop *s)
{
	for (size_t i = 0; g->linked->blocks && i < s->threads.n; i++) {
		const uint64_t base = s->threads.v[i].regs.fs_base;
		uint64_t word;

		if (!base || ki_process_peek(g->mem, base, &word, sizeof(word)) || word != base)
			return false;
	}
	return true;
}

/* The threads are stopped. */
static int write_held(struct ki_guarded *g, struct ki_stop *s, const struct ki_linked *x,
		      struct ki_err *err)
{
	uint32_t moved = 0;
	int ret = ki_text_check(x, g->mem, &g->part, err);

	if (!ret && !are_told(g, s))
		ret = ki_err_set(err, -ENOTUNIQ, 0, "threads that are not told apart");
	if (!ret)
		ret = ki_threads_clear(x, s, &moved, err);
	if (!ret && is_alone(g))
		ret = ki_err_set(err, -EPIPE, 0, "who wanted it has gone");
	if (!ret)
		ret = ki_text_write(x, g->mem, &g->part, err);
	for (size_t i = 0; ret && i < s->threads.n; i++)
		s->threads.v[i].changed = false;
	g->cost.moved += ret ? 0 : moved;
	return ret;
}

/* One attempt; -EAGAIN: somebody has to go on first. */
static int write_part(struct ki_guarded *g, struct ki_err *err)
{
	struct ki_linked x;
	struct ki_stop s;
	int ret = ki_part_of(&x, g->linked, &g->part);

	if (ret)
		ki_err_set(err, ret, 0, "out of memory");
	else
		ret = ki_stop_threads(&s, g->pid, SIZE_MAX, err);
	if (!ret) {
		g->cost.threads = (uint32_t)s.threads.n;
		ret = write_held(g, &s, &x, err);
		ki_stop_release(&s);
		note(g, &s);
	}
	ki_vec_free(&x.forbidden);
	return ret;
}

/* Another one's guard, too, traces for moments only. */
static bool is_passing(int ret, const struct ki_err *err)
{
	return ret == -EAGAIN ||
	       (ret && (err->reason == KI_R_PROCESS_BUSY || err->reason == KI_R_PROCESS_TRACED));
}

static int repeat(struct ki_guarded *g, int (*step)(struct ki_guarded *, struct ki_err *),
		  struct ki_err *err)
{
	int ret = step(g, err);

	for (int i = 0; i < TRIES && is_passing(ret, err); i++) {
		nap();
		ki_err_clear(err);
		ret = step(g, err);
	}
	if (ret == -EAGAIN)
		return ki_err_reason(err, KI_R_PROCESS_STUCK, 0, "process %d", g->pid);
	return ret;
}

static int write_text(struct ki_guarded *g, struct ki_err *err)
{
	/* Before anybody is held for it. */
	int ret = ki_text_check(g->linked, g->mem, NULL, err);

	for (int boards = 0; !ret && boards < 2; boards++) {
		g->part = (struct ki_part){.boards = boards};
		for (bool first = true; !ret && ki_part_next(g->linked, &g->part); first = false) {
			if (!first)
				nap(); /* the process's turn */
			ret = repeat(g, write_part, err);
		}
	}
	return ret;
}

/* The short springboards are gone already if these are none. */
static int restore_part(struct ki_guarded *g, struct ki_err *err)
{
	struct ki_stop s;
	int ret = ki_stop_threads(&s, g->pid, SIZE_MAX, err);

	if (ret)
		return ret;
	if (!ki_guard_is_same(g))
		ret = -ESRCH;
	if (!ret && !g->part.boards)
		ret = ki_threads_clear_bounces(g->linked, &s, err);
	if (!ret)
		ki_text_restore(g->linked, g->mem, &g->part, g->releasing);
	ki_stop_release(&s);
	note(g, &s);
	return ret;
}

static int restore_parts(struct ki_guarded *g, bool boards, struct ki_err *err)
{
	int ret = 0;

	g->part = (struct ki_part){.boards = boards};
	for (bool first = true; !ret && ki_part_next(g->linked, &g->part);) {
		if (g->releasing && !ki_part_releases(g->linked, &g->part))
			continue;
		if (!first)
			nap();
		first = false;
		ret = g->releasing ? repeat(g, restore_part, err) : restore_part(g, err);
	}
	return ret;
}

static int restore_text(struct ki_guarded *g, struct ki_err *err)
{
	int ret = restore_parts(g, true, err);

	return ret ? ret : restore_parts(g, false, err);
}

int ki_guard_release(struct ki_guarded *g, struct ki_err *err)
{
	uint8_t *released = g->linked->released;
	int ret;

	g->releasing = true;
	ret = restore_text(g, err);
	g->releasing = false;
	for (size_t i = 0; !ret && i < g->linked->edits.n; i++)
		if (released[i] == KI_TO_RELEASE)
			released[i] = KI_RELEASED;
	if (ret != -ESRCH)
		return ret;
	ki_err_clear(err);
	return 0;
}

/* Text first, then, when nobody is in a patch any more, the mappings. */
static int give_back(struct ki_guarded *g, struct ki_err *err)
{
	struct ki_stop s;
	int ret = restore_text(g, err);

	if (!ret)
		ret = ki_stop_threads(&s, g->pid, SIZE_MAX, err);
	g->cost.left = ret && ret != -ESRCH;
	if (ret)
		return ret;
	if (!ki_guard_is_same(g))
		ret = -ESRCH;
	else
		g->cost.left = ki_arenas_in_use(g->linked, &s) || !ki_arenas_unmap(g, &s);
	ki_stop_release(&s);
	note(g, &s);
	return ret ? ret : (g->cost.left ? -EAGAIN : 0);
}

/*
 * A process that has gone needs nothing. One that cannot be stopped now (the machine has much to
 * do, a thread is in vfork) can be later: its text is not left as it is while there is hope. Of
 * memory that somebody is in less is lost if it stays.
 */
static int insist(struct ki_guarded *g, int (*step)(struct ki_guarded *, struct ki_err *),
		  struct ki_err *err)
{
	int ret = step(g, err);

	for (int i = 0; i < PATIENCE && ret && ret != -ESRCH; i++) {
		if (ret == -EAGAIN && i > TRIES)
			break;
		nap();
		ki_err_clear(err);
		ret = step(g, err);
	}
	if (ret != -ESRCH && ret != -EAGAIN)
		return ret;
	ki_err_clear(err);
	return 0;
}

int ki_guard_restore(struct ki_guarded *g, struct ki_err *err)
{
	return insist(g, give_back, err);
}

int ki_guard_restore_text(struct ki_guarded *g, struct ki_err *err)
{
	return insist(g, restore_text, err);
}

static int install(struct ki_guarded *g, struct ki_err *err)
{
	struct ki_err second = {0};
	int ret;

	if (!g->linked->arenas.n)
		return 0;
	ret = repeat(g, ki_arenas_map, err);
	if (ret)
		return ret;
	ret = ki_arenas_fill(g, err);
	if (!ret)
		ret = write_text(g, err);
	if (!ret)
		ret = ki_arenas_open(g, err);
	if (ret)
		ki_guard_restore(g, &second);
	return ret;
}

static void answer(struct ki_guarded *g, int sock, int ret, const struct ki_err *err)
{
	const struct ki_reply reply = {.ret = ret, .file = g->file, .err = *err, .cost = g->cost};

	send(sock, &reply, sizeof(reply), MSG_NOSIGNAL);
}

void ki_guard_run(struct ki_guarded *g, int sock)
{
	struct ki_err err = {0};
	sigset_t all;
	ssize_t n;
	char byte;
	int ret;

	setsid();
	prctl(PR_SET_NAME, "kerninst-guard");
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	close_others(g, &sock);
	g->sock = sock;
	ret = install(g, &err);
	answer(g, sock, ret, &err);
	if (ret)
		_exit(0);
	while ((n = recv(sock, &byte, 1, 0)) < 0 ? errno == EINTR : n && byte == KI_GUARD_RELEASE) {
		if (n < 0)
			continue;
		ret = ki_guard_release(g, &err);
		answer(g, sock, ret, &err);
		ki_err_clear(&err);
	}
	if (g->linked->arenas.n)
		ret = ki_guard_restore(g, &err);
	answer(g, sock, ret, &err);
	_exit(0);
}
