// SPDX-License-Identifier: GPL-2.0-only
/*
 * work KIND ...: what studies measure, or have measured. Static, so that a process is little more
 * than what the kernel does for it.
 *
 *	run FILE TRIALS COMMAND...	the command, so many times; its time from fork to wait
 *	forks FILE TRIALS N		N forks of a child that ends at once: the mean time of
 *					one up to its end, and the least time of the system call
 *					alone
 *	pulsar ROUNDS N MILLISECONDS	ROUNDS times N forks, a pause, and then their ends
 *
 * Times are ticks of rdtsc, one trial a line of FILE. Under QEMU's -icount shift=0 a tick is an
 * instruction of the guest, whoever executed it.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define TRIALS_MAX 10000

static double ticks[TRIALS_MAX], least[TRIALS_MAX];

/* Not the library's: it would run handlers, and take locks, in the child. */
static pid_t fork_once(void)
{
	pid_t pid = (pid_t)syscall(SYS_fork);

	if (!pid)
		_exit(0);
	return pid;
}

static int ended_well(pid_t pid)
{
	int status;

	return pid > 0 && waitpid(pid, &status, 0) == pid && !status;
}

static int run_command(char **argv)
{
	pid_t pid = (pid_t)syscall(SYS_fork);

	if (!pid) {
		execv(argv[0], argv);
		_exit(127);
	}
	return ended_well(pid);
}

static int write_ticks(const char *path, int n)
{
	FILE *f = fopen(path, "ae");

	for (int i = 0; f && i < n; i++)
		fprintf(f, "%.1f %.1f\n", ticks[i], least[i]);
	return !f || fclose(f) ? 1 : 0;
}

static int do_run(int argc, char **argv)
{
	int trials = atoi(argv[1]);

	(void)argc;
	for (int i = 0; i < trials && i < TRIALS_MAX; i++) {
		uint64_t start = __rdtsc();

		if (!run_command(argv + 2))
			return 1;
		ticks[i] = least[i] = (double)(__rdtsc() - start);
	}
	return write_ticks(argv[0], trials);
}

static int do_forks(int argc, char **argv)
{
	int trials = atoi(argv[1]), n = atoi(argv[2]);

	(void)argc;
	for (int i = 0; i < trials && i < TRIALS_MAX; i++) {
		uint64_t start = __rdtsc(), began, call, fastest = UINT64_MAX;

		for (int k = 0; k < n; k++) {
			pid_t pid;

			began = __rdtsc();
			pid = fork_once();
			call = __rdtsc() - began;
			fastest = call < fastest ? call : fastest;
			if (!ended_well(pid))
				return 1;
		}
		ticks[i] = (double)(__rdtsc() - start) / n;
		least[i] = (double)fastest;
	}
	return write_ticks(argv[0], trials);
}

static int do_pulsar(int argc, char **argv)
{
	int rounds = atoi(argv[0]), n = atoi(argv[1]);
	long ms = atol(argv[2]);
	struct timespec pause = {ms / 1000, ms % 1000 * 1000000};

	(void)argc;
	for (int r = 0; r < rounds; r++) {
		for (int k = 0; k < n; k++)
			if (fork_once() < 0)
				return 1;
		nanosleep(&pause, NULL);
		for (int k = 0; k < n; k++)
			if (wait(NULL) < 0)
				return 1;
	}
	return 0;
}

static const struct kind {
	const char *name;
	int least; /* arguments */
	int (*run)(int argc, char **argv);
} kinds[] = {
	{"run", 3, do_run},
	{"forks", 3, do_forks},
	{"pulsar", 3, do_pulsar},
};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc > 1 && i < sizeof(kinds) / sizeof(*kinds); i++)
		if (!strcmp(argv[1], kinds[i].name) && argc - 2 >= kinds[i].least)
			return kinds[i].run(argc - 2, argv + 2);
	fprintf(stderr, "usage: work run FILE TRIALS COMMAND... | forks FILE TRIALS N | "
			"pulsar ROUNDS N MILLISECONDS\n");
	return 2;
}
