// SPDX-License-Identifier: GPL-2.0-only
/*
 * cputime: what a command and all its children take of the processors, in nanoseconds: under
 * -icount instructions. The clock goes on while they wait for the host's files, this does not.
 *
 *	cputime COMMAND [ARGUMENT...]	prints "COMMAND NANOSECONDS"
 */
#include <libgen.h>
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

static long long nanoseconds(const struct timeval *t)
{
	return t->tv_sec * 1000000000ll + t->tv_usec * 1000ll;
}

int main(int argc, char **argv)
{
	struct rusage used;
	int status = 0;
	pid_t pid;

	if (argc < 2)
		return 2;
	pid = fork();
	if (!pid) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	waitpid(pid, &status, 0);
	getrusage(RUSAGE_CHILDREN, &used);
	printf("%s %lld\n", basename(argv[1]),
	       nanoseconds(&used.ru_utime) + nanoseconds(&used.ru_stime));
	return status != 0;
}
