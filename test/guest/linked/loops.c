// SPDX-License-Identifier: GPL-2.0-only
/*
 * loops: what system calls take, in time stamp counter ticks for each turn: instructions of the
 * guest under -icount. Prints "NAME TICKS" for each loop; the median of several rounds.
 *
 *	loops [ROUNDS]
 */
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#define ROUNDS_MAX 64

static int zero, pair[2]; /* the device; the two ends of a connection */

static void do_read(void)
{
	char c;

	if (read(zero, &c, 1) != 1)
		abort();
}

static void do_open(void)
{
	close(open("/dev/null", O_RDONLY));
}

static void do_fork(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(0);
	waitpid(pid, NULL, 0);
}

/* There and back, both ends in one process: no switch, so the count is the same each time. */
static void do_tcp(void)
{
	char c = 0;

	for (int i = 0; i < 2; i++)
		if (write(pair[i], &c, 1) != 1 || read(pair[!i], &c, 1) != 1)
			abort();
}

static void do_mkdir(void)
{
	if (mkdir("/dev/shm/kerninst-loops", 0700) || rmdir("/dev/shm/kerninst-loops"))
		abort();
}

static void connect_pair(void)
{
	struct sockaddr_in at = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t len = sizeof(at);
	int listener = socket(AF_INET, SOCK_STREAM, 0);

	pair[0] = socket(AF_INET, SOCK_STREAM, 0);
	if (bind(listener, (struct sockaddr *)&at, len) || listen(listener, 1) ||
	    getsockname(listener, (struct sockaddr *)&at, &len) ||
	    connect(pair[0], (struct sockaddr *)&at, len)) {
		perror("loops: tcp");
		exit(1);
	}
	pair[1] = accept(listener, NULL, NULL);
}

static int by_size(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static double median(void (*loop)(void), int turns, int rounds)
{
	uint64_t took[ROUNDS_MAX];

	for (int r = 0; r < rounds; r++) {
		uint64_t begin = __rdtsc();

		for (int i = 0; i < turns; i++)
			loop();
		took[r] = __rdtsc() - begin;
	}
	qsort(took, (size_t)rounds, sizeof(*took), by_size);
	return (double)took[rounds / 2] / turns;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		void (*loop)(void);
		int turns;
	} loops[] = {{"read", do_read, 2000},
		     {"open+close", do_open, 500},
		     {"fork+wait", do_fork, 30},
		     {"tcp", do_tcp, 200},
		     {"mkdir+rmdir", do_mkdir, 300}};
	int rounds = argc > 1 ? atoi(argv[1]) : 5;

	if (rounds < 1 || rounds > ROUNDS_MAX)
		return 2;
	zero = open("/dev/zero", O_RDONLY);
	connect_pair();
	for (size_t i = 0; i < sizeof(loops) / sizeof(*loops); i++) {
		median(loops[i].loop, loops[i].turns, 1); /* once for the caches of the kernel */
		printf("%s %.1f\n", loops[i].name, median(loops[i].loop, loops[i].turns, rounds));
	}
	return 0;
}
