// SPDX-License-Identifier: GPL-2.0-only
/*
 * later: a program to which things come while it runs. It does what its arguments say, one after
 * the other:
 *
 *	load	maps the library LIBRARY, and keeps it
 *	calls	calls its function turn() 1,000 times
 *	unload	unmaps it
 *	go	comes by its own probe later:go 100 times, with the numbers from 0 on, and calls
 *		step() each time
 *	fork	a child does what is left, and then the parent
 *	become	is this program again, and does what is left
 *	read	does what the lines of its input say, and says "did WHAT" of each; end: no more
 *
 * usage: later LIBRARY WHAT...
 */
#include <dlfcn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "note.h"

static const char *library;
static void *loaded;

/* Of the library, which has another one: turn() of each is its own. */
unsigned long step(unsigned long n);
__attribute__((noinline, noclone)) unsigned long step(unsigned long n)
{
	volatile unsigned long kept = n;

	return kept + 1;
}

static __attribute__((noinline, noclone)) unsigned long go(void)
{
	unsigned long sum = 0;

	for (unsigned long i = 0; i < 100; i++) {
		__asm__ volatile(NOTE_OF("later", "go", "0", "8@%[i]") : : [i] "r"(i));
		sum += step(i);
	}
	return sum;
}

static unsigned long calls(void)
{
	unsigned long (*turn)(unsigned long) =
		(unsigned long (*)(unsigned long))(uintptr_t)dlsym(loaded, "turn");
	unsigned long sum = 0;

	for (unsigned long i = 0; turn && i < 1000; i++)
		sum += turn(i);
	return sum;
}

/* It says who it is: the input's reader may ask for it by its number. */
static void fork_here(void)
{
	pid_t pid = fork();

	if (!pid) {
		printf("child %d\n", getpid());
		return;
	}
	waitpid(pid, NULL, 0);
}

static void become(char **left)
{
	char *args[64] = {"later", (char *)library};

	for (int i = 0; left[i] && i < 60; i++)
		args[i + 2] = left[i];
	execv("/proc/self/exe", args);
	abort();
}

/* A byte at a time: what is behind the line may be another process's to read. */
static char *next_line(char *line, size_t size)
{
	size_t n = 0;

	while (n + 1 < size && read(0, line + n, 1) == 1 && line[n] != '\n')
		n++;
	line[n] = 0;
	return n ? line : NULL;
}

static void act(const char *what, char **left);

static void read_all(void)
{
	char line[64], *again[] = {"read", NULL};

	while (next_line(line, sizeof(line)) && strcmp(line, "end") != 0) {
		act(line, again);
		printf("did %s\n", line);
	}
}

static void act(const char *what, char **left)
{
	if (!strcmp(what, "load"))
		loaded = dlopen(library, RTLD_NOW | RTLD_LOCAL);
	else if (!strcmp(what, "calls") && loaded)
		calls();
	else if (!strcmp(what, "unload") && loaded)
		dlclose(loaded);
	else if (!strcmp(what, "go"))
		go();
	else if (!strcmp(what, "fork"))
		fork_here();
	else if (!strcmp(what, "become"))
		become(left);
	else if (!strcmp(what, "read"))
		read_all();
	else
		abort();
}

int main(int argc, char **argv)
{
	setvbuf(stdout, NULL, _IONBF, 0);
	library = argc > 1 ? argv[1] : "";
	for (int i = 2; i < argc; i++)
		act(argv[i], argv + i + 1);
	return 0;
}
