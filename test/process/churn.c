// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program to be measured that changes all the time: for each line of its input, "WHAT N", it does
 * something N times, and prints what came of it:
 *
 *	threads		eight threads are born, work and die
 *	crowd		a hundred threads work at the same time, while signals come whose handler
 *			works too, and forks: how many calls of step() that were
 *	forks		a child works, and ends with what came of it
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

static unsigned long crowd(void)
{
	const struct itimerval often = {{0, 500}, {0, 500}}, never = {{0, 0}, {0, 0}};
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

static unsigned long once(const char *what)
{
	if (!strcmp(what, "seal") || !strcmp(what, "hide"))
		return shut(*what == 's');
	if (!strcmp(what, "threads"))
		return threads();
	if (!strcmp(what, "crowd"))
		return crowd();
	if (!strcmp(what, "forks"))
		return forks();
	if (!strcmp(what, "spawns"))
		return spawns();
	if (!strcmp(what, "library"))
		return turn_library(0);
	if (!strcmp(what, "keep"))
		return turn_library(1);
	if (!strcmp(what, "close"))
		return turn_library(0);
	return work();
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
		unsigned long sum = 0;

		line[len] = 0;
		if (sscanf(line, "%19s %ld", what, &n) != 2)
			return 1;
		if (!strcmp(what, "become"))
			become(n);
		if (!strcmp(what, "strict"))
			prctl(PR_SET_SECCOMP, SECCOMP_MODE_STRICT);
		if (!strcmp(what, "filter"))
			filter();
		for (long i = 0; i < n; i++)
			sum += once(what);
		answer(sum);
	}
	syscall(SYS_exit, 0);
}
