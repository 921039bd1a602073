// SPDX-License-Identifier: GPL-2.0-only
/*
 * hammer SECONDS [THREADS]: background load, a mixture that keeps many kernel functions busy and
 * tasks switching: files, pipes, memory, signals, timers, processes. Each thread starts at
 * another place of the mixture. Prints the number of rounds; exits 1 if a call failed that
 * cannot.
 */
#include <errno.h>
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define THREADS_MAX 64

static atomic_bool over;
static atomic_ulong rounds;
static atomic_uint failed;

static bool hit_files(void)
{
	char buf[256];
	struct stat st;
	int fd = open("/proc/self/stat", O_RDONLY);
	bool good = fd >= 0 && read(fd, buf, sizeof(buf)) > 0 && !fstat(fd, &st);

	close(fd);
	return good && !stat("/", &st) && access("/nonexistent", F_OK) && errno == ENOENT;
}

static bool hit_pipe(void)
{
	char byte = 'x';
	int p[2];
	bool good = !pipe(p) && write(p[1], &byte, 1) == 1 && read(p[0], &byte, 1) == 1;

	close(p[0]);
	close(p[1]);
	return good && byte == 'x';
}

static bool hit_memory(void)
{
	size_t i, len = 16 * 4096;
	char *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return false;
	for (i = 0; i < len; i += 4096)
		p[i] = i >> 12;
	return !mprotect(p, len, PROT_READ) && p[4096] == 1 && !munmap(p, len);
}

static bool hit_signal(void)
{
	return !syscall(SYS_tgkill, getpid(), syscall(SYS_gettid), SIGUSR1);
}

static bool hit_sleep(void)
{
	struct timespec ts = {0, 20000};

	sched_yield();
	return !nanosleep(&ts, NULL) || errno == EINTR;
}

/* Raw: the C library's fork would take locks that other threads may hold. */
static bool hit_fork(void)
{
	long pid = syscall(SYS_fork);

	if (!pid)
		syscall(SYS_exit_group, 0);
	while (pid > 0 && waitpid(pid, NULL, 0) < 0)
		if (errno != EINTR)
			return false;
	return pid > 0;
}

static void *worker(void *arg)
{
	static bool (*const mix[])(void) = {
		hit_files, hit_pipe, hit_memory, hit_signal, hit_sleep, hit_fork,
	};
	const size_t n = sizeof(mix) / sizeof(*mix);
	size_t i = (size_t)arg;

	while (!over) {
		if (!mix[i++ % n]())
			failed++;
		rounds++;
	}
	return NULL;
}

static void on_signal(int sig)
{
	(void)sig;
}

int main(int argc, char **argv)
{
	struct timespec left = {argc > 1 ? strtoul(argv[1], NULL, 0) : 0, 0};
	unsigned long i, n = argc > 2 ? strtoul(argv[2], NULL, 0) : 2;
	struct sigaction sa = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
	pthread_t threads[THREADS_MAX];

	if (!left.tv_sec || !n || n > THREADS_MAX) {
		fprintf(stderr, "usage: hammer SECONDS [THREADS]\n");
		return 2;
	}
	sigaction(SIGUSR1, &sa, NULL);
	for (i = 0; i < n; i++)
		if (pthread_create(&threads[i], NULL, worker, (void *)i))
			abort();
	while (nanosleep(&left, &left) && errno == EINTR)
		;
	over = true;
	for (i = 0; i < n; i++)
		pthread_join(threads[i], NULL);
	printf("hammer: %lu rounds, %u failed\n", rounds, failed);
	return failed ? 1 : 0;
}
