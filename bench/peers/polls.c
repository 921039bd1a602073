// SPDX-License-Identifier: GPL-2.0-only
/*
 * polls RATE SECONDS: the load of bench/record.sh. It reaches __fdget RATE times a second, or as
 * often as it can: each poll of n descriptors calls it n times, so that a hit is less work than a
 * system call. Prints how often that was in so many seconds (it may need longer than asked for),
 * and nanoseconds of this thread's time for each.
 */
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define MOST  500  /* of one call */
#define BURST 0.01 /* seconds */

static struct pollfd fds[MOST];

static double now(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

/* Until so many have been reached, or the time is over. */
static long burst(long n, double end)
{
	long done = 0;

	while (done < n && now(CLOCK_MONOTONIC) < end) {
		long k = n - done < MOST ? n - done : MOST;

		if (poll(fds, (nfds_t)k, 0) < 0)
			exit(1);
		done += k;
	}
	return done;
}

/* Nothing, if that is over. */
static void wait_until(double time)
{
	const struct timespec t = {(time_t)time, (long)((time - (double)(time_t)time) * 1e9)};

	clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &t, NULL);
}

int main(int argc, char **argv)
{
	double rate = argc == 3 ? atof(argv[1]) : 0, seconds = argc == 3 ? atof(argv[2]) : 0;
	int fd = open("/dev/null", O_RDONLY);
	double start, end, own;
	long n = 0, tick = 0;

	if (rate <= 0 || seconds <= 0 || fd < 0) {
		fprintf(stderr, "usage: polls RATE SECONDS\n");
		return 2;
	}
	for (int i = 0; i < MOST; i++)
		fds[i] = (struct pollfd){.fd = fd, .events = POLLIN};
	own = now(CLOCK_THREAD_CPUTIME_ID);
	start = now(CLOCK_MONOTONIC);
	end = start + seconds;
	while (now(CLOCK_MONOTONIC) < end) {
		tick++;
		n += burst((long)((double)tick * BURST * rate) - n, end);
		wait_until(start + (double)tick * BURST);
	}
	end = now(CLOCK_MONOTONIC);
	own = now(CLOCK_THREAD_CPUTIME_ID) - own;
	printf("%ld %.4f %.1f\n", n, end - start, own * 1e9 / (double)n);
	return 0;
}
