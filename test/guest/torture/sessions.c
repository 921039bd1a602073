// SPDX-License-Identifier: GPL-2.0-only
/*
 * Random sessions: several processes put chunks into the same windows, and take them out, while
 * they are used; now and then one is killed.
 *
 * The functions are those that only we call, so counts are known. Before, alone, it is learnt
 * how often each window runs in one round of calls. Later whoever measures holds a lock that all
 * calls need: what its counters say then is its own calls, exactly, while the others go on
 * changing the same windows. The lock belongs to the process, and goes with it.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "torture/torture.h"

#define PROCESSES 4
#define WINDOWS	  256
#define ROUNDS	  20
#define CALLS	  "call 30"
#define LEAST	  8 /* sessions must end, however long it takes */

static const char *const functions[] = {
	"read_zero",	"ki_mate_work", "ki_mate_leap", "ki_mate_spin",
	"ki_mate_op_0", "mate_write",	"do_calls",
};

#define FUNCTIONS (sizeof(functions) / sizeof(*functions))

/* Of all processes. */
static struct shared {
	uint64_t each[WINDOWS]; /* runs in one round */
	uint32_t chunks;
	unsigned long measured, wrong, refused, changes, kills, ended;
} * shared;

static int lock_fd;

static void one_round(int zero, int mate)
{
	char byte;

	for (int i = 0; i < 40; i++)
		if (read(zero, &byte, 1) != 1)
			die("read", NULL);
	if (write(mate, CALLS, strlen(CALLS)) < 0)
		die("write", NULL);
}

static void add_all(struct crew *c)
{
	const struct ki_symbol *v[2 * FUNCTIONS], *sym;
	size_t n = 0;

	for (size_t i = 0; i < FUNCTIONS; i++)
		for (sym = NULL; (sym = ki_target_symbol_named(c->t, NULL, functions[i], sym));)
			if (n < 2 * FUNCTIONS && (!*sym->module || !strcmp(sym->module, "ki_mate")))
				v[n++] = sym;
	if (!crew_add(c, v, n, crew_windows, NULL, NULL))
		die("too many windows", NULL);
}

/* The calls of `rounds` rounds, and how often each counter was hit. */
static void measure(const struct crew *c, int rounds, uint64_t *runs)
{
	int zero = open("/dev/zero", O_RDONLY), mate = open("/proc/ki_mate", O_RDWR);

	if (zero < 0 || mate < 0)
		die("open", NULL);
	while (flock(lock_fd, LOCK_EX) && errno == EINTR)
		;
	for (uint32_t i = 0; i < c->used; i++)
		runs[i] = crew_hits(c, i);
	for (int i = 0; i < rounds; i++)
		one_round(zero, mate);
	for (uint32_t i = 0; i < c->used; i++)
		runs[i] = crew_hits(c, i) - runs[i];
	flock(lock_fd, LOCK_UN);
	close(zero);
	close(mate);
}

static void learn(void)
{
	uint64_t twice[WINDOWS];
	struct crew c;

	crew_open(&c, WINDOWS);
	add_all(&c);
	crew_apply(&c);
	measure(&c, 1, shared->each);
	measure(&c, 2, twice);
	for (uint32_t i = 0; i < c.used; i++)
		if (twice[i] != 2 * shared->each[i])
			die("counts differ when nobody else is there", NULL);
	shared->chunks = c.used;
	crew_remove(&c);
	crew_close(&c);
}

/* Those that are at rest have counted nothing. */
static void check(const uint64_t *runs, int rounds, const bool *rest)
{
	for (uint32_t i = 0; i < shared->chunks; i++) {
		uint64_t want = rest[i] ? 0 : shared->each[i] * rounds;

		__atomic_fetch_add(&shared->measured, 1, __ATOMIC_RELAXED);
		if (runs[i] == want)
			continue;
		__atomic_fetch_add(&shared->wrong, 1, __ATOMIC_RELAXED);
		fprintf(stderr, "torture: chunk %u ran %llu times, not %llu\n", i,
			(unsigned long long)runs[i], (unsigned long long)want);
	}
}

/* Some of the chunks are taken out, or put in again, while the others stay. */
static void change_some(struct crew *c, uint64_t *seed, bool *rest)
{
	struct ki_err err = {0};

	for (uint32_t i = 0; i < shared->chunks; i++) {
		if (rng(seed) % 3)
			continue;
		rest[i] = !rest[i];
		ki_plan_pause(c->plan, i, rest[i]);
	}
	if (ki_plan_update(c->plan, c->t, &err))
		die("settle", &err);
	__atomic_fetch_add(&shared->changes, 1, __ATOMIC_RELAXED);
}

/*
 * In, some out, some of these in again, all out, in again; the last time they are left to the end
 * of the session.
 */
static void one_session(uint64_t *seed)
{
	uint64_t runs[WINDOWS];
	struct crew c;

	crew_open(&c, WINDOWS);
	add_all(&c);
	for (int i = rng(seed) % 6; i >= 0; i--) {
		bool rest[WINDOWS] = {0};

		for (uint32_t k = 0; k < shared->chunks; k++)
			ki_plan_pause(c.plan, k, false);
		crew_apply(&c);
		if (crew_refused(&c, NULL) || c.used != shared->chunks)
			__atomic_fetch_add(&shared->refused, 1, __ATOMIC_RELAXED);
		for (int k = rng(seed) % 3; k >= 0; k--) {
			int rounds = 1 + rng(seed) % ROUNDS;

			measure(&c, rounds, runs);
			check(runs, rounds, rest);
			if (k)
				change_some(&c, seed, rest);
		}
		if (i)
			crew_remove(&c);
	}
	crew_close(&c);
	__atomic_fetch_add(&shared->ended, 1, __ATOMIC_RELAXED);
}

static pid_t start(uint64_t seed)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	lock_fd = open("/tmp/torture.lock", O_RDWR);
	if (lock_fd < 0)
		die("lock", NULL);
	for (;;)
		one_session(&seed);
}

static int report(int died)
{
	printf("sessions: %lu ended, %lu killed, %lu counts compared, %lu wrong, %lu with refusals, %lu times some out or in, %d died\n",
	       shared->ended, shared->kills, shared->measured, shared->wrong, shared->refused,
	       shared->changes, died);
	return !shared->changes || shared->wrong || shared->refused || died || !shared->measured ||
	       !shared->kills;
}

int sessions(uint64_t seed, double seconds)
{
	double end = now() + seconds;
	unsigned int pause = 3000; /* ms, at most */
	pid_t pids[PROCESSES];
	int died = 0, i, status;

	shared = mmap(NULL, sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	lock_fd = open("/tmp/torture.lock", O_RDWR | O_CREAT, 0600);
	if (shared == MAP_FAILED || lock_fd < 0)
		die("sessions", NULL);
	learn();
	for (i = 0; i < PROCESSES; i++)
		pids[i] = start(rng(&seed));
	while (now() < end || shared->ended < LEAST) {
		sleep_ms(rng(&seed) % pause);
		if (now() > end && pause < 100000)
			pause *= 2; /* a session may take long here: let some end */
		i = rng(&seed) % PROCESSES;
		kill(pids[i], SIGKILL);
		waitpid(pids[i], &status, 0);
		died += !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
		shared->kills++;
		pids[i] = start(rng(&seed));
	}
	for (i = 0; i < PROCESSES; i++) {
		kill(pids[i], SIGKILL);
		waitpid(pids[i], &status, 0);
		died += !WIFSIGNALED(status) || WTERMSIG(status) != SIGKILL;
	}
	return report(died);
}
