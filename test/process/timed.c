// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program that knows what it does: for each line of its input it does something, and prints what
 * it knows of it, each time measured by itself, in nanoseconds.
 *
 *	nap THREADS TIMES US	each thread sleeps so often for so long: for how long in all
 *	deep DEPTH TIMES	recursion: for how long in all, of the outermost calls
 *	tail TIMES		calls that end in a jump to another function: the sum of its results
 *	pick TIMES		calls with different arguments: how many of them are above 500, how
 *				many results are odd
 *	busy TIMES US		calls that take so much CPU time each, and sleep as long: how much
 *				it was, in all
 *	leave TIMES		calls that are left by longjmp: how many
 *	fork TIMES US		a child is forked inside of twice(), and sleeps: for how long in all
 *	ways THREADS TIMES	calls that take each of eight ways, the k-th k + 1 times as often,
 *				in each thread; then of walk(), which loops: the sum of its results
 *	wide THREADS		until SIGUSR1 comes calls of a function whose end is far from its
 *				beginning, in each thread: the sum of its results
 *	long US			one call that lasts so long, in a thread of its own; does not wait
 */
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define THREADS	 64

static long times, micros;

static uint64_t read_ns(clockid_t clock)
{
	struct timespec ts;

	clock_gettime(clock, &ts);
	return (uint64_t)ts.tv_sec * 1000000000 + (uint64_t)ts.tv_nsec;
}

static uint64_t now_ns(void)
{
	return read_ns(CLOCK_MONOTONIC);
}

/* Something stands between the call and the return. */
NOINLINE void nap(long us)
{
	const struct timespec ts = {us / 1000000, us % 1000000 * 1000};

	nanosleep(&ts, NULL);
	__asm__ volatile("" ::: "memory");
}

static void *sleeper(void *arg)
{
	uint64_t *sum = arg;

	for (long i = 0; i < times; i++) {
		uint64_t begun = now_ns();

		nap(micros);
		*sum += now_ns() - begun;
	}
	return NULL;
}

NOINLINE long deep(long n)
{
	long below = 0;

	if (n > 1)
		below = deep(n - 1);
	else
		nap(micros);
	__asm__ volatile("" : "+r"(below));
	return below + 1;
}

static void do_deep(long depth)
{
	uint64_t begun = now_ns();

	micros = 20000;
	for (long i = 0; i < times; i++)
		if (deep(depth) != depth)
			abort();
	printf("%lu\n", now_ns() - begun);
}

NOINLINE long last(long n)
{
	__asm__ volatile("" : "+r"(n));
	return n * 3 + 1;
}

/* Returns by itself, and by a jump. */
NOINLINE long tail(long n)
{
	if (n % 3 == 0)
		return n * 0x123456789;
	__asm__ volatile("" : "+r"(n));
	return last(n + 1);
}

static void do_tail(void)
{
	long sum = 0;

	for (long i = 0; i < times; i++)
		sum += tail(i);
	printf("%ld\n", sum);
}

/* Seven arguments: one comes on the stack. */
NOINLINE long pick(long n, int m, long a, long b, long c, long d, long seventh)
{
	__asm__ volatile("" : "+r"(n), "+r"(m), "+r"(seventh));
	return n * 5 / 2 + m + a + b + c + d + seventh;
}

static void do_pick(void)
{
	long above = 0, odd = 0, negative = 0, seven = 0;

	for (long i = 0; i < times; i++) {
		long n = i * 37 % 1000, result;
		int m = (int)(i % 5) - 2;

		result = pick(n, m, 0, 0, 0, 0, i % 7);
		above += n > 500;
		negative += m < 0;
		seven += i % 7 == 6;
		odd += result & 1;
	}
	printf("%ld %ld %ld %ld\n", above, negative, seven, odd);
}

NOINLINE void busy(long us)
{
	const uint64_t until = read_ns(CLOCK_THREAD_CPUTIME_ID) + (uint64_t)us * 1000;

	while (read_ns(CLOCK_THREAD_CPUTIME_ID) < until)
		;
	nap(us);
	__asm__ volatile("" ::: "memory");
}

static void do_busy(void)
{
	const uint64_t begun = read_ns(CLOCK_THREAD_CPUTIME_ID);

	for (long i = 0; i < times; i++)
		busy(micros);
	printf("%lu\n", read_ns(CLOCK_THREAD_CPUTIME_ID) - begun);
}

static jmp_buf back;

NOINLINE void leave(long n)
{
	if (n >= 0)
		longjmp(back, 1);
	times += n * 0x1234567;
}

static void do_leave(void)
{
	volatile long n = 0;

	setjmp(back);
	if (n++ < times)
		leave(n);
	printf("%ld\n", times);
}

/* Two return from it where one has entered. */
NOINLINE pid_t twice(void)
{
	pid_t pid = fork();

	__asm__ volatile("" : "+r"(pid));
	return pid;
}

static void do_fork(void)
{
	uint64_t sum = 0;
	int ends[2];
	pid_t pid;

	if (pipe(ends))
		abort();
	pid = twice();
	if (!pid) {
		sleeper(&sum);
		_exit(write(ends[1], &sum, sizeof(sum)) != sizeof(sum));
	}
	if (read(ends[0], &sum, sizeof(sum)) != sizeof(sum))
		abort();
	waitpid(pid, NULL, 0);
	close(ends[0]);
	close(ends[1]);
	printf("%lu\n", sum);
}

static void *lasting(void *unused)
{
	nap(micros);
	return unused;
}

static void do_long(void)
{
	pthread_t id;

	pthread_create(&id, NULL, lasting, NULL);
	pthread_detach(id);
	nap(1000);
	printf("begun\n");
}

#define MARK(n) __asm__ volatile("" : "+r"(n)::"memory")

NOINLINE long ways(long n)
{
	long sum = n;

	if (n & 1) {
		sum *= 3;
		MARK(sum);
	}
	if (n & 2) {
		sum += 0x12345;
		MARK(sum);
	}
	if (n & 4) {
		sum ^= 0x54321;
		MARK(sum);
	}
	return sum;
}

/* A loop, with ways through it and out of it. */
NOINLINE long walk(long n)
{
	long sum = 0;

	for (long i = n % 13; i > 0; i--) {
		MARK(sum);
		if (sum % 5 == 3) {
			sum += i;
			MARK(sum);
			continue;
		}
		if (sum > 60)
			return sum;
		sum += 2 * i;
		MARK(sum);
	}
	MARK(sum);
	return sum;
}

static void *wayfarer(void *arg)
{
	uint64_t *sum = arg;

	for (long i = 0; i < times; i++) {
		for (long way = 0; way < 8; way++)
			for (long k = 0; k <= way; k++)
				*sum += (uint64_t)ways(way);
		*sum += (uint64_t)walk(i);
	}
	return NULL;
}

/* Between entry and return, in order of address, are many returns that nobody comes to. A leaf that
   has nothing on its stack. */
NOINLINE long wide(long n)
{
	__asm__ volatile("cmp $-1, %0\n"
			 "jne 2f\n"
			 ".rept 2000\n"
			 "test %0, %0\n"
			 "je 1f\n"
			 "ret\n"
			 "1:\n"
			 ".endr\n"
			 "2:"
			 : "+r"(n)::"cc");
	return n * 3;
}

static volatile sig_atomic_t stopped;

static void stop(int sig)
{
	(void)sig;
	stopped = 1;
}

static void *widely(void *arg)
{
	uint64_t *sum = arg;

	while (!stopped)
		for (long i = 0; i < 100; i++)
			*sum += (uint64_t)wide(i);
	return NULL;
}

/* Each of so many threads; 0: only this one. */
static void in_threads(void *(*what)(void *), long threads)
{
	uint64_t sums[THREADS] = {0}, sum = 0;
	pthread_t ids[THREADS];

	if (!threads)
		what(&sum);
	for (long i = 0; i < threads; i++)
		pthread_create(&ids[i], NULL, what, &sums[i]);
	for (long i = 0; i < threads; i++) {
		pthread_join(ids[i], NULL);
		sum += sums[i];
	}
	printf("%lu\n", sum);
}

static void obey(const char *what, long a, long b, long c)
{
	times = b;
	micros = c;
	if (!strcmp(what, "nap")) {
		in_threads(sleeper, a < THREADS ? a : THREADS);
	} else if (!strcmp(what, "ways")) {
		in_threads(wayfarer, a < THREADS ? a : THREADS);
	} else if (!strcmp(what, "wide")) {
		signal(SIGUSR1, stop);
		stopped = 0;
		in_threads(widely, a < THREADS ? a : THREADS);
	} else if (!strcmp(what, "deep")) {
		do_deep(a);
	} else if (!strcmp(what, "long")) {
		micros = a;
		do_long();
	} else {
		times = a;
		micros = b;
		if (!strcmp(what, "tail"))
			do_tail();
		else if (!strcmp(what, "pick"))
			do_pick();
		else if (!strcmp(what, "busy"))
			do_busy();
		else if (!strcmp(what, "leave"))
			do_leave();
		else
			do_fork();
	}
}

int main(void)
{
	char line[100], what[20];

	puts("ready");
	fflush(stdout);
	while (fgets(line, sizeof(line), stdin)) {
		long n[3] = {0};

		if (sscanf(line, "%19s %ld %ld %ld", what, &n[0], &n[1], &n[2]) < 2)
			return 1;
		obey(what, n[0], n[1], n[2]);
		fflush(stdout);
	}
	return 0;
}
