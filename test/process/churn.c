// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program to be measured that changes all the time: for each line of its input, "WHAT N", it does
 * something N times, and prints what came of it:
 *
 *	threads		eight threads are born, work and die
 *	crowd		a hundred threads work at the same time, while signals come whose handler
 *			works too, and forks: how many calls of step() that were
 *	throng		the same, but signals come seldom: for a slow machine
 *	forks		a child works, and ends with what came of it
 *	twins		a child works 1000 times, and its parent does meanwhile; how many calls of
 *			step() that were
 *	strays		two threads are there whose FS base is an address where 0 stands
 *	beside		they work N * 1000 times each, and so do we meanwhile; calls
 *	stand		eight threads work N * 1000 times each at once; calls
 *	spawns		a child of vfork works, and becomes this program again, which works too
 *	library		the library LIBRARY is mapped, its function turn() called, and unmapped
 *	keep		the same, but it stays mapped; close: until then
 *	strict		from here on: no system call but read, write and exit
 *	filter		from here on: no system call but some; the others kill it
 *	seal		from here on: the text of step() stays mapped as it is (mseal; where there
 *			is none it says 0)
 *	hide		from here on: that text can be executed, and not be read
 *	become		it becomes this program again N times, one after the other; no line comes of
 *			it
 *
 * Each work is 100 calls of step(). usage: churn LIBRARY, or churn LIBRARY become N
 */
#include <dlfcn.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#define NOINLINE __attribute__((noinline, noclone))
#define THREADS	 8

static const char *library;

NOINLINE unsigned long step(unsigned long n)
{
	volatile unsigned long kept = n * 5;

	kept += 7ul * (n % 3 == 0);
	return kept + (n % 7 < 3);
}

static unsigned long work(void)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < 100; i++)
		sum += step(i);
	return sum;
}

static void *worker(void *sum)
{
	*(unsigned long *)sum = work();
	return NULL;
}

static unsigned long threads(void)
{
	unsigned long sums[THREADS] = {0}, sum = 0;
	pthread_t ids[THREADS];

	for (int i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, worker, &sums[i]);
	for (int i = 0; i < THREADS; i++) {
		pthread_join(ids[i], NULL);
		sum += sums[i];
	}
	return sum;
}

#define CROWD 100

static unsigned long made; /* calls of step() */
static pthread_barrier_t all_there;

/* Every eighth one has a child that works. */
static void on_alarm(int sig)
{
	static unsigned long alarms;
	unsigned long n = __atomic_add_fetch(&alarms, 1, __ATOMIC_RELAXED), calls = 100;

	if (n % 8 == 0) {
		pid_t pid = (pid_t)syscall(SYS_fork);

		if (!pid) {
			work();
			syscall(SYS_exit_group, 0);
		}
		calls += waitpid(pid, NULL, 0) == pid ? 100 : 0;
	}
	work();
	__atomic_add_fetch(&made, calls, __ATOMIC_RELAXED);
	(void)sig;
}

static void *one_of_crowd(void *unused)
{
	pthread_barrier_wait(&all_there);
	for (int i = 0; i < 200; i++)
		work();
	__atomic_add_fetch(&made, 200 * 100, __ATOMIC_RELAXED);
	return unused;
}

static unsigned long crowd_of(long us)
{
	const struct itimerval often = {{0, us}, {0, us}}, never = {{0, 0}, {0, 0}};
	const struct sigaction act = {.sa_handler = on_alarm, .sa_flags = SA_RESTART};
	pthread_t ids[CROWD];

	made = 0;
	sigaction(SIGALRM, &act, NULL);
	pthread_barrier_init(&all_there, NULL, CROWD);
	setitimer(ITIMER_REAL, &often, NULL);
	for (int i = 0; i < CROWD; i++)
		if (pthread_create(&ids[i], NULL, one_of_crowd, NULL))
			abort();
	for (int i = 0; i < CROWD; i++)
		pthread_join(ids[i], NULL);
	setitimer(ITIMER_REAL, &never, NULL);
	return made;
}

static unsigned long crowd(void)
{
	return crowd_of(500);
}

static unsigned long throng(void)
{
	return crowd_of(50000);
}

/* How it has ended: 1 if its work came out right. */
static unsigned long ended(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 34;
}

static unsigned long forks(void)
{
	const unsigned long want = work();
	pid_t pid = fork();

	if (!pid)
		_exit(work() == want ? 34 : 1);
	return ended(pid);
}

static unsigned long work_long(long n)
{
	for (long i = 0; i < 1000 * n; i++)
		work();
	return 100000ul * (unsigned long)n;
}

/* Both begin when both are there. */
static unsigned long twins(void)
{
	static int *there;
	pid_t pid;

	if (!there)
		there = mmap(NULL, 4096, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	*there = 0;
	pid = fork();
	__atomic_add_fetch(there, 1, __ATOMIC_RELAXED);
	while (__atomic_load_n(there, __ATOMIC_RELAXED) < 2)
		;
	work_long(1);
	if (!pid)
		_exit(34);
	return ended(pid) ? 200000 : 0;
}

#define STRAYS 2

static long strays_have[STRAYS]; /* so much to do; -1: it has done all; 0: it is not there */

/* The C library does not know it: it calls nothing that may want to know its thread. */
static int stray_thread(void *own)
{
	for (;;) {
		const long n = __atomic_load_n((long *)own, __ATOMIC_ACQUIRE);

		if (n <= 0) {
			sched_yield();
			continue;
		}
		work_long(n);
		__atomic_store_n((long *)own, -1, __ATOMIC_RELEASE);
	}
	return 0;
}

static unsigned long strays(void)
{
	static char stacks[STRAYS][65536] __attribute__((aligned(64))), storage[4096];
	const int as_thread = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD;
	unsigned long n = 0;

	for (int i = 0; i < STRAYS; i++) {
		strays_have[i] = -1;
		n += clone(stray_thread, stacks[i + 1], as_thread | CLONE_SETTLS, &strays_have[i],
			   NULL, storage + 2048) > 0;
	}
	return n;
}

static unsigned long beside(long n)
{
	unsigned long calls;

	for (int i = 0; i < STRAYS; i++)
		__atomic_store_n(&strays_have[i], n, __ATOMIC_RELEASE);
	calls = work_long(n);
	for (int i = 0; i < STRAYS; i++)
		while (__atomic_load_n(&strays_have[i], __ATOMIC_ACQUIRE) > 0)
			usleep(1000);
	return (STRAYS + 1) * calls;
}

static void *one_of_stand(void *n)
{
	pthread_barrier_wait(&all_there);
	work_long(*(long *)n);
	return NULL;
}

static unsigned long stand(long n)
{
	pthread_t ids[THREADS];

	pthread_barrier_init(&all_there, NULL, THREADS);
	for (int i = 0; i < THREADS; i++)
		pthread_create(&ids[i], NULL, one_of_stand, &n);
	for (int i = 0; i < THREADS; i++)
		pthread_join(ids[i], NULL);
	return THREADS * 100000ul * (unsigned long)n;
}

static unsigned long spawns(void)
{
	pid_t pid = vfork();

	if (!pid) {
		work();
		execl("/proc/self/exe", "churn", library, "become", "0", NULL);
		_exit(1);
	}
	return ended(pid);
}

static void *kept;

static unsigned long turn_library(int keep)
{
	void *lib = kept ? kept : dlopen(library, RTLD_NOW | RTLD_LOCAL);
	unsigned long (*turn)(unsigned long) =
		lib ? (unsigned long (*)(unsigned long))(uintptr_t)dlsym(lib, "turn") : NULL;
	unsigned long sum = 0;

	for (unsigned long i = 0; turn && i < 100; i++)
		sum += turn(i);
	if (lib && !keep)
		dlclose(lib);
	kept = keep ? lib : NULL;
	return sum;
}

static void filter(void)
{
	static const unsigned int allowed[] = {SYS_read,	   SYS_write,	   SYS_exit_group,
					       SYS_exit,	   SYS_newfstatat, SYS_rt_sigreturn,
					       SYS_restart_syscall};
	struct sock_filter code[16] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr))};
	const unsigned char n = sizeof(allowed) / sizeof(*allowed);
	struct sock_fprog prog = {n + 3, code};

	for (unsigned char i = 0; i < n; i++)
		code[1 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i],
							   (unsigned char)(n - i), 0);
	code[1 + n] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS);
	code[2 + n] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) ||
	    prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog))
		abort();
}

#ifndef SYS_mseal
#define SYS_mseal 462
#endif

static unsigned long shut(int seal)
{
	char *page = (char *)((uintptr_t)step & ~4095ul);

	if (seal ? syscall(SYS_mseal, page, 4096, 0) : mprotect(page, 4096, PROT_EXEC))
		return 0;
	return work();
}

static unsigned long seal(void)
{
	return shut(1);
}

static unsigned long hide(void)
{
	return shut(0);
}

static unsigned long pass_library(void)
{
	return turn_library(0);
}

static unsigned long keep_library(void)
{
	return turn_library(1);
}

static const struct {
	const char *name;
	unsigned long (*once)(void);
	unsigned long (*times)(long n);
} works[] = {
	{"threads", threads, NULL},   {"crowd", crowd, NULL},
	{"throng", throng, NULL},     {"forks", forks, NULL},
	{"twins", twins, NULL},	      {"strays", strays, NULL},
	{"beside", NULL, beside},     {"stand", NULL, stand},
	{"spawns", spawns, NULL},     {"library", pass_library, NULL},
	{"keep", keep_library, NULL}, {"close", pass_library, NULL},
	{"seal", seal, NULL},	      {"hide", hide, NULL},
};

static unsigned long all_of(const char *what, long n)
{
	unsigned long (*once)(void) = work, sum = 0;

	for (size_t i = 0; i < sizeof(works) / sizeof(*works); i++) {
		if (strcmp(what, works[i].name))
			continue;
		if (works[i].times)
			return works[i].times(n);
		once = works[i].once;
	}
	for (long i = 0; i < n; i++)
		sum += once();
	return sum;
}

static void become(long n)
{
	char left[24];

	snprintf(left, sizeof(left), "%ld", n - 1);
	work();
	execl("/proc/self/exe", "churn", library, "become", left, NULL);
	abort();
}

/* Nothing but these two calls: it may be all that it is allowed. */
static void answer(unsigned long sum)
{
	char text[24];
	int n = snprintf(text, sizeof(text), "%lu\n", sum);

	if (write(1, text, (size_t)n) != n)
		syscall(SYS_exit, 1);
}

int main(int argc, char **argv)
{
	char line[64], what[20];
	ssize_t len;
	long n;

	library = argc > 1 ? argv[1] : "";
	if (argc > 3 && atol(argv[3]) > 0)
		become(atol(argv[3]));
	if (argc > 3)
		return work() ? 34 : 1;
	if (write(1, "ready\n", 6) != 6)
		return 1;
	while ((len = read(0, line, sizeof(line) - 1)) > 0) {
		line[len] = 0;
		if (sscanf(line, "%19s %ld", what, &n) != 2)
			return 1;
		if (!strcmp(what, "become"))
			become(n);
		if (!strcmp(what, "strict"))
			prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		if (!strcmp(what, "filter"))
			filter();
		answer(all_of(what, n));
	}
	syscall(strays_have[0] ? SYS_exit_group : SYS_exit, 0);
}
