// SPDX-License-Identifier: GPL-2.0-only
/*
 * A program to be measured, one of whose instructions is interrupted by a signal. For each line of
 * its input it does something, and prints what came of it:
 *
 *	load		load() is called; what it returns
 *	linger		the same, but what it loads may not be read at first: the handler of the
 *			signal prints "handler", and whether load() has been interrupted elsewhere
 *			than in its own code; with the next line it goes back
 *	aside		the same with the handler on a stack of its own
 *	watch		from here on another process is its debugger; what load() returns
 *	alone		no more
 */
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <ucontext.h>
#include <unistd.h>

#define PAGE   4096ul
#define FAR    1024 /* words: the instruction is long enough for a jump */
#define LENGTH 64   /* load() has no more bytes */

static unsigned *words;

__attribute__((noinline, noclone)) unsigned load(const unsigned *p)
{
	return p[FAR] * 3;
}

static void read_line(char *line, int n)
{
	if (!fgets(line, n, stdin))
		exit(0);
	line[strcspn(line, "\n")] = 0;
}

static void handler(int sig, siginfo_t *info, void *context)
{
	const ucontext_t *c = context;
	const uintptr_t ip = c->uc_mcontext.gregs[REG_RIP];
	char line[64];

	(void)sig;
	(void)info;
	printf("handler %d\n", ip - (uintptr_t)load >= LENGTH);
	read_line(line, sizeof(line));
	mprotect(words, 2 * PAGE, PROT_READ | PROT_WRITE);
}

static void handle(int flags)
{
	const struct sigaction how = {.sa_sigaction = handler, .sa_flags = SA_SIGINFO | flags};

	sigaction(SIGSEGV, &how, NULL);
	mprotect(words, 2 * PAGE, PROT_NONE);
}

/* Its debugger does nothing: no more than to have it. */
static pid_t watch(void)
{
	const pid_t parent = getpid();
	int fds[2];
	char c = 1;
	pid_t pid;

	if (pipe(fds) || (pid = fork()) < 0)
		exit(1);
	if (!pid) {
		c = ptrace(PTRACE_SEIZE, parent, 0, 0) == 0;
		if (write(fds[1], &c, 1) != 1)
			exit(1);
		pause();
	}
	if (read(fds[0], &c, 1) != 1 || !c)
		exit(1);
	return pid;
}

int main(void)
{
	pid_t debugger = 0;
	const stack_t other = {.ss_sp = malloc(16 * PAGE), .ss_size = 16 * PAGE};
	char line[64];

	setlinebuf(stdout);
	words = mmap(NULL, 2 * PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
	words[FAR] = 7;
	sigaltstack(&other, NULL);
	puts("ready");
	for (;;) {
		read_line(line, sizeof(line));
		if (!strcmp(line, "linger"))
			handle(0);
		if (!strcmp(line, "aside"))
			handle(SA_ONSTACK);
		if (!strcmp(line, "watch"))
			debugger = watch();
		if (!strcmp(line, "alone")) {
			kill(debugger, SIGKILL);
			waitpid(debugger, NULL, 0);
		}
		printf("%u\n", load(words));
	}
}
