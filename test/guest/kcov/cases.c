// SPDX-License-Identifier: GPL-2.0-only
/*
 * Whose trace what is recorded in. The blocks of getppid and read are recorded while this runs, and
 * of functions that only interrupts run (kcov.sh).
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "client.h"

static bool repeats(void)
{
	struct client c;
	struct path p;
	uint64_t n;
	bool good;

	client_open(&c, WORDS);
	client_enable(&c);
	call_path(&c, CALL_READ, &p);
	call_make(CALL_READ, 100);
	good = client_has(&c, &p, 100);
	client_disable(&c); /* which goes through the table of files, too */
	n = client_count(&c);
	call_make(CALL_READ, 10);
	good &= client_count(&c) == n;
	client_close(&c);
	return good;
}

static bool fills(void)
{
	struct client c;
	struct path p;
	bool good;

	client_open(&c, 512);
	client_enable(&c);
	call_path(&c, CALL_READ, &p);
	call_make(CALL_READ, 1000);
	good = client_count(&c) == 511;
	for (size_t i = 0; i < 511; i++)
		good &= c.area[1 + i] == p.v[i % p.n];
	client_disable(&c);
	client_close(&c);
	return good;
}

/* The count is the client's to write. */
static bool survives_any_count(void)
{
	static const uint64_t counts[] = {511, 512, 513, 1ull << 32, 1ull << 60, 1ull << 63, -2ull};
	struct client c;
	bool good = true;

	client_open(&c, 512);
	client_enable(&c);
	for (size_t i = 0; i < sizeof(counts) / sizeof(*counts); i++) {
		__atomic_store_n(c.area, counts[i], __ATOMIC_RELAXED);
		call_make(CALL_GETPPID, 1);
		good &= client_count(&c) == counts[i];
	}
	client_disable(&c);
	client_close(&c);
	return good;
}

/* ---- tasks ---- */

#define ROUNDS 2000

struct worker {
	enum call what;
	pthread_barrier_t *together;
	bool moving, good;
};

static void *work(void *arg)
{
	struct worker *w = arg;
	struct client c;
	struct path p;

	client_open(&c, WORDS);
	client_enable(&c);
	call_path(&c, w->what, &p);
	pthread_barrier_wait(w->together);
	for (unsigned int i = 0; i < ROUNDS; i++) {
		call_make(w->what, 1);
		if (w->moving && i % 20 == 0)
			move_to(i / 20 % 2);
		else if (i % 50 == 0)
			sched_yield();
	}
	w->good = client_has(&c, &p, ROUNDS);
	client_disable(&c);
	client_close(&c);
	return NULL;
}

/* More threads than CPUs, so that they are switched, too. */
static bool work_all(bool moving)
{
	struct worker w[4];
	pthread_barrier_t together;
	pthread_t t[4];
	bool good = true;

	pthread_barrier_init(&together, NULL, 4);
	for (int i = 0; i < 4; i++) {
		w[i] = (struct worker){.what = i % 2 ? CALL_READ : CALL_GETPPID,
				       .together = &together,
				       .moving = moving};
		if (pthread_create(&t[i], NULL, work, &w[i]))
			die("pthread_create");
	}
	for (int i = 0; i < 4; i++) {
		pthread_join(t[i], NULL);
		good &= w[i].good;
	}
	return good;
}

static bool has_its_own(void)
{
	return work_all(false);
}

static bool follows(void)
{
	return work_all(true);
}

static int status_of(pid_t pid)
{
	int status;

	if (pid < 0 || waitpid(pid, &status, 0) != pid)
		die("fork and waitpid");
	return status;
}

static bool is_not_inherited(void)
{
	struct client c;
	struct path p;
	pid_t pid;
	bool good;

	client_open(&c, WORDS);
	client_enable(&c);
	call_path(&c, CALL_GETPPID, &p);
	pid = fork();
	if (!pid) {
		call_make(CALL_GETPPID, 100);
		_exit(ioctl(c.fd, KCOV_DISABLE, 0) == -1 && errno == EINVAL ? 0 : 1);
	}
	good = status_of(pid) == 0 && client_has(&c, &p, 0);
	client_disable(&c);
	client_close(&c);
	return good;
}

/* The parent has the file and its mapping, children only enable it, and end. */
static bool serves_children(void)
{
	struct client c;
	struct path p;
	bool good = true;

	client_open(&c, WORDS);
	client_enable(&c);
	call_path(&c, CALL_READ, &p);
	client_disable(&c);
	for (unsigned int i = 1; i <= 20; i++) {
		pid_t pid = fork();

		if (!pid) {
			client_enable(&c);
			call_make(CALL_READ, i);
			_exit(0);
		}
		good &= status_of(pid) == 0 && client_has(&c, &p, i);
	}
	client_close(&c);
	return good;
}

static bool outlives_exec(void)
{
	struct client c;
	struct path p;
	pid_t pid;
	bool good;

	client_open(&c, WORDS);
	client_enable(&c);
	call_path(&c, CALL_GETPPID, &p);
	client_disable(&c);
	pid = fork();
	if (!pid) {
		client_enable(&c);
		execl("/proc/self/exe", "kcov", "calls", NULL);
		_exit(127);
	}
	good = status_of(pid) == 0 && client_has(&c, &p, 7);
	client_close(&c);
	return good;
}

/* An enabled thread whose file is closed and unmapped goes on, and has no other. */
static void *close_early(void *arg)
{
	struct client c, other;
	bool *good = arg;

	client_open(&c, WORDS);
	client_open(&other, WORDS);
	client_enable(&c);
	client_close(&c);
	call_make(CALL_READ, 1000);
	*good = ioctl(other.fd, KCOV_ENABLE, KCOV_TRACE_PC) == -1 && errno == EBUSY;
	client_close(&other);
	return NULL;
}

static bool outlives_its_file(void)
{
	pthread_t t;
	bool good = false;

	if (pthread_create(&t, NULL, close_early, &good))
		die("pthread_create");
	pthread_join(t, NULL);
	return good;
}

/* A mapping outlives its file and its area. */
static bool leaves_its_mapping(void)
{
	struct client c;
	struct path p;
	uint64_t n;
	bool good;

	client_open(&c, WORDS);
	client_enable(&c);
	call_path(&c, CALL_READ, &p);
	call_make(CALL_READ, 3);
	good = client_has(&c, &p, 3);
	client_disable(&c);
	n = client_count(&c);
	close(c.fd);
	call_make(CALL_READ, 3);
	usleep(200000); /* the driver's area goes after a grace period */
	__atomic_store_n(&c.area[1000], n, __ATOMIC_RELAXED);
	good &= client_count(&c) == n && c.area[1] == p.v[0] && c.area[1000] == n;
	munmap(c.area, c.words * sizeof(*c.area));
	return good;
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* In user mode only interrupts bring the kernel in: dozens of ticks. */
static bool leaves_interrupts_out(void)
{
	double end = now() + 0.3;
	struct client c;
	struct path none = {.n = 1};
	bool good;

	client_open(&c, WORDS);
	client_enable(&c);
	while (now() < end)
		;
	good = client_has(&c, &none, 0);
	client_disable(&c);
	client_close(&c);
	return good;
}

const struct test_case test_cases[] = {
	{"the same call leaves the same addresses, and none when it is disabled", repeats},
	{"a full area stays as it is", fills},
	{"any count is survived", survives_any_count},
	{"tasks at once have each its own", has_its_own},
	{"a task that changes CPUs has all of its own", follows},
	{"a child does not inherit it", is_not_inherited},
	{"children enable their parent's file in turn", serves_children},
	{"it outlives exec", outlives_exec},
	{"it outlives its file, until its thread ends", outlives_its_file},
	{"a mapping outlives its file", leaves_its_mapping},
	{"interrupts leave nothing", leaves_interrupts_out},
};
const size_t test_cases_count = sizeof(test_cases) / sizeof(*test_cases);
