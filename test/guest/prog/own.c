// SPDX-License-Identifier: GPL-2.0-only
/*
 * own [--move] FILE TEXT: write TEXT to FILE, and print what the kernel has booked for this thread
 * around the write: nanoseconds that it took (CLOCK_MONOTONIC), for how many of them the thread ran
 * (CLOCK_THREAD_CPUTIME_ID), and its switches (getrusage); how often it was moved; its number, and
 * the time stamp counter before and after the write. With --move another thread puts it on another
 * CPU each millisecond.
 *
 * own --read FILE BYTES: read so many bytes of FILE into memory that has not been touched, and
 * print the page faults of this thread (getrusage) around it.
 */
#include <fcntl.h>
#include <pthread.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
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

static long switches(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_nvcsw + u.ru_nivcsw;
}

static long faults(void)
{
	struct rusage u;

	getrusage(RUSAGE_THREAD, &u);
	return u.ru_minflt + u.ru_majflt;
}

static int do_read(const char *file, size_t len)
{
	void *p = mmap(NULL, len, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	int fd = open(file, O_RDONLY);
	long before;

	if (fd < 0 || p == MAP_FAILED || madvise(p, len, MADV_NOHUGEPAGE))
		return 1;
	before = faults();
	if (read(fd, p, len) != (ssize_t)len)
		return 1;
	printf("%ld\n", faults() - before);
	return 0;
}

static int do_write(const char *file, const char *text, int moving)
{
	unsigned long long from, to;
	long long wall, own;
	pthread_t mover;
	int fd = open(file, O_WRONLY);
	long gone;

	writer = (pid_t)syscall(SYS_gettid);
	if (fd < 0 || (moving && pthread_create(&mover, NULL, move, NULL)))
		return 1;
	gone = switches();
	wall = read_clock(CLOCK_MONOTONIC);
	own = read_clock(CLOCK_THREAD_CPUTIME_ID);
	from = __builtin_ia32_rdtsc();
	if (write(fd, text, strlen(text)) < 0) {
		perror(file);
		return 1;
	}
	to = __builtin_ia32_rdtsc();
	own = read_clock(CLOCK_THREAD_CPUTIME_ID) - own;
	wall = read_clock(CLOCK_MONOTONIC) - wall;
	gone = switches() - gone;
	done = 1;
	if (moving)
		pthread_join(mover, NULL);
	printf("%lld %lld %ld %lu %d %llu %llu\n", wall, own, gone, moves, writer, from, to);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "--read"))
		return do_read(argv[2], strtoul(argv[3], NULL, 0));
	if (argc == 4 && !strcmp(argv[1], "--move"))
		return do_write(argv[2], argv[3], 1);
	if (argc == 3)
		return do_write(argv[1], argv[2], 0);
	fprintf(stderr, "usage: own [--move] FILE TEXT | --read FILE BYTES\n");
	return 2;
}
