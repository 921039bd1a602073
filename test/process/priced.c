// SPDX-License-Identifier: GPL-2.0-only
/*
 * priced METRIC [PREDICATE]: what a measurement of a function of a process is said to cost, and
 * what it does: a child calls the function between two stops, single-stepped with the measurement
 * and without. Prints both, in instructions of all calls.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/wait.h>
#include <unistd.h>

#include "kerninst/cost.h"
#include "kerninst/metric.h"
#include "metric/measure.h"

#define CALLS	 50
#define NOINLINE __attribute__((noinline, noclone))

static NOINLINE unsigned long hit(unsigned long n)
{
	/* As long as a jump: by the driver, too, none of it is a breakpoint's. */
	__asm__ volatile("addq $0x12345678, %0" : "+r"(n));
	n += n >> 7;
	__asm__ volatile("" : "+r"(n));
	n ^= n << 9; /* its return is in no window of its entry */
	__asm__ volatile("" : "+r"(n));
	return n * 3 + 1;
}

static NOINLINE void calls(void)
{
	for (unsigned long i = 0; i < CALLS; i++)
		hit(i);
}

/* The first calls are others: rows are taken, pages come. */
static void serve(int from)
{
	char byte;

	while (read(from, &byte, 1) == 1) {
		calls();
		raise(SIGSTOP);
		calls();
		raise(SIGSTOP);
	}
	_exit(0);
}

static int fail(const char *what, const struct ki_err *err)
{
	fprintf(stderr, "priced: %s: %s\n", what, err->msg);
	exit(1);
}

static void await_stop(pid_t pid)
{
	char path[40], state[64] = "";
	FILE *f;

	snprintf(path, sizeof(path), "/proc/%d/stat", pid);
	while (!strstr(state, ") T ")) {
		usleep(1000);
		f = fopen(path, "re");
		if (!f || !fgets(state, sizeof(state), f))
			exit(1);
		fclose(f);
	}
}

/* Steps from this stop to the next one, and on. */
static unsigned long steps(pid_t pid)
{
	unsigned long n = 0;
	int status;

	if (ptrace(PTRACE_SEIZE, pid, NULL, NULL) || ptrace(PTRACE_INTERRUPT, pid, NULL, NULL) ||
	    waitpid(pid, &status, 0) != pid)
		exit(1);
	kill(pid, SIGCONT);
	for (;; n++) {
		if (ptrace(PTRACE_SINGLESTEP, pid, NULL, NULL) || waitpid(pid, &status, 0) != pid ||
		    !WIFSTOPPED(status))
			exit(1);
		if (WSTOPSIG(status) == SIGSTOP)
			break;
	}
	ptrace(PTRACE_DETACH, pid, NULL, NULL);
	return n;
}

static unsigned long steps_of_calls(pid_t pid, int to, const struct ki_measure *m, double *spent)
{
	unsigned long n;
	double before = 0;

	if (write(to, "", 1) != 1)
		exit(1);
	await_stop(pid);
	for (uint32_t i = 0; m && i < ki_measure_parts(m); i++)
		before += ki_measure_spent(m, i);
	n = steps(pid);
	for (uint32_t i = 0; m && i < ki_measure_parts(m); i++)
		*spent += ki_measure_spent(m, i);
	*spent -= before;
	return n;
}

static struct ki_measure *measure(struct ki_target *t, struct ki_function *fn,
				  const struct ki_spans *spans, const char *metric,
				  struct ki_predicate *when)
{
	const struct ki_point entry = {.kind = KI_POINT_ENTRY};
	struct ki_measure *m;
	struct ki_err err = {0};
	uint32_t curve;

	if (ki_measure_new(t, &m, &err))
		fail(metric, &err);
	ki_measure_meter(m);
	if (ki_measure_add(m, ki_metric_find(metric),
			   &(struct ki_measured_at){fn, spans, &entry, 0, when}, &curve, &err) ||
	    ki_measure_start(m, &err))
		fail(metric, &err);
	return m;
}

int main(int argc, char **argv)
{
	struct ki_predicate *when = NULL;
	struct ki_function *fn = NULL;
	struct ki_spans spans;
	struct ki_err err = {0};
	struct ki_target *t;
	struct ki_measure *m;
	unsigned long without, with;
	double spent = 0;
	int to[2];
	pid_t pid;

	if (argc < 2 || pipe(to))
		return 2;
	pid = fork();
	if (!pid) {
		close(to[1]);
		serve(to[0]);
	}
	if (argc > 2 && ki_predicate_new(argv[2], &when, &err))
		fail(argv[2], &err);
	without = steps_of_calls(pid, to[1], NULL, &spent);
	spent = 0;
	if (ki_target_new_process(pid, &t, &err) ||
	    ki_function_analyze(t, ki_target_symbol_named(t, NULL, "hit", NULL), &fn, &err) ||
	    ki_spans_find(fn, &spans, &err))
		fail("hit", &err);
	m = measure(t, fn, &spans, argv[1], when);
	with = steps_of_calls(pid, to[1], m, &spent);
	ki_measure_free(m);
	ki_predicate_free(when);
	ki_spans_free(&spans);
	ki_function_free(fn);
	ki_target_free(t);
	kill(pid, SIGKILL);
	printf("said %.0f\nstepped %lu\n", spent, with - without);
	return 0;
}
