// SPDX-License-Identifier: GPL-2.0-only
/*
 * kcov MODE, a client of KCOV:
 *
 *	cases	    what belongs to whom; errors: what is answered
 *	comparisons what belongs to whom, of these; compared: calls with known values, and records
 *	calls	    7 times getppid, and nothing else: what `cases` executes
 *	hold, hold-comparisons
 *		    is enabled, says so and its process number, and makes calls until it is killed
 *	open	    has an open file until it is killed
 *	pinned	    is enabled, without a file, until it is killed
 *	order	    prints what some system calls leave between the marks of the witness
 *	cost N [on|comparisons]
 *		    ticks of N reads of a byte of /dev/zero, and records that one leaves
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <x86intrin.h>

#include "client.h"
#include "prog/mark.h"

void say(const char *name, bool good)
{
	printf("%sok %s\n", good ? "" : "not ", name);
	fflush(stdout);
}

/* Each in a process of its own: what threads share changes the way that read takes. */
static int run_each(const struct test_case *cases, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		int status;
		pid_t pid = fork();

		if (!pid) {
			bool good = cases[i].run();

			_exit(fflush(stdout) || !good); /* what it has said, too */
		}
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			die("fork and waitpid");
		say(cases[i].name, !status);
	}
	return 0;
}

static int run_cases(void)
{
	return run_each(test_cases, test_cases_count);
}

static int run_comparisons(void)
{
	return run_each(test_comparisons, test_comparisons_count);
}

static int run_errors(void)
{
	errors_all();
	return 0;
}

__attribute__((noreturn)) static int run_calls(void)
{
	call_make(CALL_GETPPID, 7);
	_exit(0);
}

static void announce(void)
{
	printf("%d\n", getpid());
	fflush(stdout);
}

/* Its count, again and again, for who looks at the end of its output. */
__attribute__((noreturn)) static int hold(unsigned long what)
{
	struct client c;

	client_open(&c, WORDS);
	if (ioctl(c.fd, KCOV_ENABLE, what))
		die("KCOV_ENABLE");
	announce();
	for (;;) {
		client_empty(&c);
		call_make(CALL_READ, 100);
		printf("%llu\n", (unsigned long long)client_count(&c));
		fflush(stdout);
		usleep(10000);
	}
}

__attribute__((noreturn)) static int run_hold(void)
{
	hold(KCOV_TRACE_PC);
}

__attribute__((noreturn)) static int run_hold_comparisons(void)
{
	hold(KCOV_TRACE_CMP);
}

__attribute__((noreturn)) static int run_open(void)
{
	if (open(KCOV_FILE, O_RDWR) < 0)
		die(KCOV_FILE);
	announce();
	for (;;)
		pause();
}

__attribute__((noreturn)) static int run_pinned(void)
{
	struct client c;

	client_open(&c, WORDS);
	client_enable(&c);
	client_close(&c);
	announce();
	for (;;)
		call_make(CALL_GETPPID, 100), usleep(1000);
}

/* Files are opened, looked at, read and closed, some of which are not there. */
static void touch(const char *path)
{
	static char buf[256];
	struct stat st;
	long fd = sys4(SYS_openat, AT_FDCWD, (long)path, O_RDONLY, 0);

	sys4(SYS_fstat, fd, (long)&st, 0, 0);
	sys4(SYS_read, fd, (long)buf, sizeof(buf), 0);
	sys4(SYS_lseek, fd, 0, SEEK_SET, 0);
	sys4(SYS_read, fd, (long)buf, 1, 0);
	sys4(SYS_getppid, 0, 0, 0, 0);
	sys4(SYS_close, fd, 0, 0, 0);
}

static void touch_all(void)
{
	static const char *const paths[] = {"/dev/zero", "/proc/self/stat", "/proc/none/../x",
					    "/etc/passwd", "/dev/null"};

	for (size_t i = 0; i < sizeof(paths) / sizeof(*paths); i++)
		touch(paths[i]);
}

static int run_order(void)
{
	struct client c;
	uint64_t n;

	touch_all(); /* what is done once is done */
	client_open(&c, WORDS);
	memset(c.area, 0, WORDS * sizeof(*c.area));
	client_enable(&c);
	MARK_BEGIN();
	client_empty(&c);
	touch_all();
	MARK_END();
	n = client_count(&c);
	client_disable(&c);
	for (uint64_t i = 0; i < n; i++)
		printf("0x%llx\n", (unsigned long long)c.area[1 + i]);
	return n == WORDS - 1; /* full: not all of it */
}

/* on: NULL, or what is traced. */
static int run_cost(unsigned int n, const char *on)
{
	uint64_t best = UINT64_MAX, left = 0;
	struct client c;
	char byte;
	int fd = open("/dev/zero", O_RDONLY);

	client_open(&c, WORDS);
	if (ioctl(c.fd, KCOV_ENABLE,
		  on && !strcmp(on, "comparisons") ? KCOV_TRACE_CMP : KCOV_TRACE_PC))
		die("KCOV_ENABLE");
	client_empty(&c);
	sys4(SYS_read, fd, (long)&byte, 1, 0);
	left = client_count(&c);
	if (!on)
		client_disable(&c);
	for (int run = 0; run < 9; run++) {
		uint64_t from = __rdtsc();

		for (unsigned int i = 0; i < n; i++) {
			client_empty(&c);
			sys4(SYS_read, fd, (long)&byte, 1, 0);
		}
		from = __rdtsc() - from;
		best = from < best ? from : best;
	}
	printf("%.2f %llu\n", (double)best / n, (unsigned long long)left);
	return 0;
}

int main(int argc, char **argv)
{
	static const struct {
		const char *name;
		int (*run)(void);
	} modes[] = {
		{"cases", run_cases},
		{"errors", run_errors},
		{"calls", run_calls},
		{"hold", run_hold},
		{"open", run_open},
		{"pinned", run_pinned},
		{"order", run_order},
		{"comparisons", run_comparisons},
		{"compared", comparisons_print},
		{"hold-comparisons", run_hold_comparisons},
	};

	if (argc > 2 && !strcmp(argv[1], "cost"))
		return run_cost((unsigned int)strtoul(argv[2], NULL, 10), argv[3]);
	for (size_t i = 0; argc == 2 && i < sizeof(modes) / sizeof(*modes); i++)
		if (!strcmp(argv[1], modes[i].name))
			return modes[i].run();
	fputs("usage: kcov cases|errors|comparisons|compared|calls|hold|hold-comparisons|open|"
	      "pinned|order|cost N [on|comparisons]\n",
	      stderr);
	return 2;
}
