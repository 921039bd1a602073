// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program to be changed while it runs: forks. It prints "ready", and does what each line says:
 *
 *	work	calls step() 1000 times
 *	fork	four children do that, and a child of each
 *	keep	a child is made, that waits
 *	go	it does that, and ends
 *	trap	a breakpoint of its own
 *
 * and says what came of it: the sum, or how many ended well; and how many SIGTRAPs it has had.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define TIMES 1000
#define RIGHT (3ul * TIMES * (TIMES - 1) / 2 + TIMES / 2)

static volatile sig_atomic_t traps;

static void on_trap(int sig)
{
	(void)sig;
	traps++;
}

static __attribute__((noinline, noclone)) unsigned long step(unsigned long n)
{
	unsigned long sum = n * 3;

	if (n & 1)
		sum++;
	__asm__ volatile("" : "+r"(sum));
	return sum;
}

static unsigned long work(void)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < TIMES; i++)
		sum += step(i);
	return sum;
}

static int await(pid_t pid)
{
	int status = -1;

	waitpid(pid, &status, 0);
	return status;
}

static void child(void)
{
	pid_t pid = fork();

	if (!pid)
		_exit(work() != RIGHT);
	_exit(work() != RIGHT || await(pid) != 0 || traps);
}

static unsigned long fork_some(void)
{
	unsigned long well = 0;
	pid_t pids[4];

	for (int i = 0; i < 4; i++) {
		pids[i] = fork();
		if (!pids[i])
			child();
	}
	for (int i = 0; i < 4; i++)
		well += await(pids[i]) == 0;
	return well;
}

static pid_t kept;
static int pipe_to[2];

static unsigned long keep(void)
{
	char byte;

	if (pipe(pipe_to))
		return 0;
	kept = fork();
	if (!kept)
		_exit(read(pipe_to[0], &byte, 1) != 1 || work() != RIGHT || traps);
	return (unsigned long)kept;
}

static unsigned long go(void)
{
	return write(pipe_to[1], "", 1) == 1 && await(kept) == 0;
}

static unsigned long trap(void)
{
	__asm__ volatile("int3");
	return 0;
}

static const struct {
	const char *name;
	unsigned long (*run)(void);
} orders[] = {
	{"work\n", work}, {"fork\n", fork_some}, {"keep\n", keep}, {"go\n", go}, {"trap\n", trap},
};

int main(void)
{
	char line[32];

	signal(SIGTRAP, on_trap);
	setlinebuf(stdout);
	puts("ready");
	while (fgets(line, sizeof(line), stdin))
		for (size_t i = 0; i < sizeof(orders) / sizeof(*orders); i++)
			if (!strcmp(orders[i].name, line)) {
				unsigned long said = orders[i].run();

				printf("%lu %d\n", said, (int)traps);
			}
	return 0;
}
