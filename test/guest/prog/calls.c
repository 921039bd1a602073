// SPDX-License-Identifier: GPL-2.0-only
/*
 * calls KIND N [THREADS [CPU]]: exactly N system calls (pairs, triples) of one kind, between the
 * marks; thread number i on CPU + i from before the begin mark on.
 *
 *	getppid		getppid (shells ask it once, when they begin)
 *	getsid		getsid(0), which nobody else asks
 *	open		openat("/dev/null") + close
 *	read		read of 1 byte of /dev/zero
 *	fork		fork + exit in the child + wait4
 *	mkdir		mkdir + rmdir of a directory of the thread's in the current one
 *	tcp		a byte there and a byte back through a TCP connection of this process (one
 *			thread)
 *
 * Threads share the N between them. They exist before the begin mark and are still there at the
 * end mark; between the two they wait for each other by looking at memory, not by futexes. So
 * every counter in the kernel on the way of the call must say N, unless others use it too; and on
 * isolated CPUs there are no others.
 *
 * Exits 0 if every call did what it should.
 */
#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "mark.h"

#define THREADS_MAX 64

static int zero_fd, tcp[2], first_cpu = -1;
static atomic_uint ready, done, failed;
static atomic_bool go, leave;

static bool do_getppid(void)
{
	return sys4(SYS_getppid, 0, 0, 0, 0) >= 0;
}

static bool do_getsid(void)
{
	return sys4(SYS_getsid, 0, 0, 0, 0) >= 0;
}

static bool do_open(void)
{
	long fd = sys4(SYS_openat, AT_FDCWD, (long)"/dev/null", O_RDONLY, 0);

	return fd >= 0 && !sys4(SYS_close, fd, 0, 0, 0);
}

static bool do_read(void)
{
	char byte;

	return sys4(SYS_read, zero_fd, (long)&byte, 1, 0) == 1;
}

static bool do_fork(void)
{
	long pid = sys4(SYS_fork, 0, 0, 0, 0);

	if (!pid)
		sys4(SYS_exit_group, 0, 0, 0, 0);
	return pid > 0 && sys4(SYS_wait4, pid, 0, 0, 0) == pid;
}

static bool do_mkdir(void)
{
	char name[] = "calls-0000000";
	long tid = sys4(SYS_gettid, 0, 0, 0, 0);

	for (size_t i = sizeof(name) - 2; tid; tid /= 10)
		name[i--] = (char)('0' + tid % 10);
	return !sys4(SYS_mkdir, (long)name, 0700, 0, 0) && !sys4(SYS_rmdir, (long)name, 0, 0, 0);
}

static bool connect_self(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int one = 1, listener = socket(AF_INET, SOCK_STREAM, 0);

	tcp[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&at, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&at, &len) ||
	    connect(tcp[0], (struct sockaddr *)&at, len))
		return false;
	tcp[1] = accept(listener, NULL, NULL);
	for (int i = 0; i < 2; i++)
		setsockopt(tcp[i], IPPROTO_TCP, TCP_NODELAY, &one, sizeof(one));
	return tcp[1] >= 0;
}

static bool do_tcp(void)
{
	char byte = 1;

	for (int i = 0; i < 2; i++)
		if (sys4(SYS_write, tcp[i], (long)&byte, 1, 0) != 1 ||
		    sys4(SYS_read, tcp[!i], (long)&byte, 1, 0) != 1)
			return false;
	return true;
}

static const struct kind {
	const char *name;
	bool (*call)(void);
} kinds[] = {
	{"getppid", do_getppid}, {"getsid", do_getsid}, {"open", do_open}, {"read", do_read},
	{"fork", do_fork},	 {"mkdir", do_mkdir},	{"tcp", do_tcp},
};

struct work {
	const struct kind *kind;
	unsigned int number;
	unsigned long n;
	pthread_t thread;
};

static void work_do(const struct work *w)
{
	bool (*call)(void) = w->kind->call;
	unsigned long i;

	for (i = 0; i < w->n; i++)
		if (!call())
			failed++;
}

/* Its stack's pages and the exit are the only other things that a thread does there. */
static void stay_on_cpu(const struct work *w)
{
	cpu_set_t set;

	if (first_cpu < 0)
		return;
	CPU_ZERO(&set);
	CPU_SET(first_cpu + (int)w->number, &set);
	if (sched_setaffinity(0, sizeof(set), &set))
		abort();
}

static void *worker(void *arg)
{
	stay_on_cpu(arg);
	ready++;
	while (!go)
		__builtin_ia32_pause();
	work_do(arg);
	done++;
	while (!leave)
		__builtin_ia32_pause();
	return NULL;
}

static const struct kind *kind_named(const char *name)
{
	size_t i;

	for (i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(kinds[i].name, name))
			return &kinds[i];
	return NULL;
}

/* The marks: the first work is done by this thread itself. */
static void run(const struct work *w, unsigned int nthreads)
{
	stay_on_cpu(w);
	while (ready < nthreads - 1)
		__builtin_ia32_pause();
	MARK_BEGIN();
	go = true;
	work_do(&w[0]);
	while (done < nthreads - 1)
		__builtin_ia32_pause();
	MARK_END();
	leave = true;
}

int main(int argc, char **argv)
{
	static struct work work[THREADS_MAX];
	const struct kind *kind = argc > 2 ? kind_named(argv[1]) : NULL;
	unsigned long n = argc > 2 ? strtoul(argv[2], NULL, 0) : 0;
	unsigned int i, nthreads = argc > 3 ? strtoul(argv[3], NULL, 0) : 1;

	if (!kind || !nthreads || nthreads > THREADS_MAX) {
		fprintf(stderr, "usage: calls getppid|getsid|open|read|fork N [THREADS [CPU]]\n");
		return 2;
	}
	if (argc > 4)
		first_cpu = atoi(argv[4]);
	zero_fd = open("/dev/zero", O_RDONLY);
	if (kind->call == do_tcp && !connect_self()) {
		perror("calls: no TCP connection");
		return 1;
	}
	for (i = 0; i < nthreads; i++) {
		work[i].kind = kind;
		work[i].number = i;
		work[i].n = n / nthreads + (i < n % nthreads);
		if (i && pthread_create(&work[i].thread, NULL, worker, &work[i]))
			abort();
	}
	run(work, nthreads);
	for (i = 1; i < nthreads; i++)
		pthread_join(work[i].thread, NULL);
	if (failed)
		fprintf(stderr, "calls: %u of %lu failed\n", failed, n);
	return failed ? 1 : 0;
}
