// SPDX-License-Identifier: GPL-2.0-only
/*
 * own [--move] FILE TEXT: write TEXT to FILE, and print how many nanoseconds the write took, and
 * for how many of them this thread ran: CLOCK_MONOTONIC and CLOCK_THREAD_CPUTIME_ID around it.
 * With --move another thread puts it on another CPU each millisecond, and the number of times that
 * it did so is printed, too.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

static volatile int done;
static pid_t writer;
static unsigned long moves;

static long long read_clock(clockid_t id)
{
	struct timespec ts;

	clock_gettime(id, &ts);
	return ts.tv_sec * 1000000000ll + ts.tv_nsec;
}

static void *move(void *unused)
{
	long cpus = sysconf(_SC_NPROCESSORS_ONLN);

	while (!done) {
		cpu_set_t set;

		CPU_ZERO(&set);
		CPU_SET((int)(moves % (unsigned long)cpus), &set);
		if (!sched_setaffinity(writer, sizeof(set), &set))
			moves++;
		usleep(1000);
	}
	return unused;
}

int main(int argc, char **argv)
{
	int moving = argc > 1 && !strcmp(argv[1], "--move"), fd;
	long long wall, own;
	pthread_t mover;

	if (argc != 3 + moving) {
		fprintf(stderr, "usage: own [--move] FILE TEXT\n");
		return 2;
	}
	argv += moving;
	writer = (pid_t)syscall(SYS_gettid);
	fd = open(argv[1], O_WRONLY);
	if (fd < 0 || (moving && pthread_create(&mover, NULL, move, NULL)))
		return 1;
	wall = read_clock(CLOCK_MONOTONIC);
	own = read_clock(CLOCK_THREAD_CPUTIME_ID);
	if (write(fd, argv[2], strlen(argv[2])) < 0) {
		perror(argv[1]);
		return 1;
	}
	own = read_clock(CLOCK_THREAD_CPUTIME_ID) - own;
	wall = read_clock(CLOCK_MONOTONIC) - wall;
	done = 1;
	if (moving)
		pthread_join(mover, NULL);
	printf("%lld %lld %lu\n", wall, own, moves);
	return 0;
}
