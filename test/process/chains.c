// SPDX-License-Identifier: GPL-2.0-only
/*
 * Threads that wait, each in a chain of calls of its own: in system calls, in handlers of signals,
 * on another stack, through the C library, deep down. The first says "ready" when all wait, and
 * ends with its input.
 */
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#define FUNCTION __attribute__((noipa)) int

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t never = PTHREAD_COND_INITIALIZER;
static sem_t waits;

FUNCTION sleeper(int n)
{
	const struct timespec ts = {.tv_sec = 1000};

	sem_post(&waits);
	return nanosleep(&ts, NULL) + n;
}

/* So much of the stack that %rsp alone does not find the caller. */
FUNCTION wide(int n)
{
	volatile char room[4000];

	memset((char *)room, n, sizeof(room));
	return sleeper(n) + room[n];
}

FUNCTION changing(int n)
{
	char *room = __builtin_alloca((size_t)n * 100 + 7);

	memset(room, n, (size_t)n * 100);
	return wide(n) + room[n];
}

FUNCTION polls(int n)
{
	sem_post(&waits);
	return poll(NULL, 0, 1000000) + n;
}

FUNCTION conditional(int n)
{
	pthread_mutex_lock(&lock);
	sem_post(&waits);
	pthread_cond_wait(&never, &lock);
	return n;
}

FUNCTION deep(int n)
{
	int below = n ? deep(n - 1) : sleeper(n);

	__asm__ volatile("" : "+r"(below)); /* so it is no loop */
	return below + 1;
}

static int order(const void *a, const void *b)
{
	return sleeper(*(const int *)a - *(const int *)b) + 1;
}

FUNCTION sorts(int n)
{
	int v[] = {3, 1, n};

	qsort(v, 3, sizeof(*v), order);
	return v[0];
}

static void handler(int sig)
{
	changing(sig);
}

FUNCTION spins(int n)
{
	raise(n);
	return n + 1;
}

/* The instruction that faults is its first: what comes before it is another function's. */
__attribute__((noipa, naked)) static void faults(int *at)
{
	__asm__("movl $1, (%rdi)\n\tret");
	(void)at;
}

FUNCTION interrupted(int n)
{
	return spins(SIGUSR1) + n;
}

FUNCTION elsewhere(int n)
{
	const stack_t other = {.ss_sp = malloc(65536), .ss_size = 65536};

	sigaltstack(&other, NULL);
	return spins(SIGUSR2) + n;
}

FUNCTION faulting(int n)
{
	faults(NULL);
	return n;
}

static int (*const first[])(int) = {changing, polls,	   conditional, deep,
				    sorts,    interrupted, elsewhere,	faulting};

static void *run(void *arg)
{
	const size_t i = (size_t)arg;

	return (void *)(intptr_t)first[i](i == 3 ? 100 : (int)i + 2);
}

FUNCTION reads(int n)
{
	char c;

	puts("ready");
	fflush(stdout);
	return read(0, &c, 1) > 0 ? n : 0;
}

FUNCTION outer(int n)
{
	return reads(n) + 1;
}

int main(void)
{
	const struct sigaction own = {.sa_handler = handler},
			       other = {.sa_handler = handler, .sa_flags = SA_ONSTACK};
	const size_t n = sizeof(first) / sizeof(*first);

	sem_init(&waits, 0, 0);
	sigaction(SIGUSR1, &own, NULL);
	sigaction(SIGSEGV, &own, NULL);
	sigaction(SIGUSR2, &other, NULL);
	for (size_t i = 0; i < n; i++) {
		pthread_t t;

		pthread_create(&t, NULL, run, (void *)i);
	}
	for (size_t i = 0; i < n; i++)
		sem_wait(&waits);
	usleep(20000); /* they have said so just before */
	outer(1);
	_exit(0);
}
